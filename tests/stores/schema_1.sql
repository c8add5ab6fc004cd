-- A store as the first version of the schema kept it: one row for each event, media inside, no snapshots, no index.
-- Session "chat" ends with a call that waits; "picture" holds one medium twice; "empty" has no records.

CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
);
CREATE TABLE records (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    meta BLOB,
    body BLOB NOT NULL
);

INSERT INTO sessions (number, id, seq, created, updated) VALUES
    (1, 'chat', 5, 1767225600000000, 1767225602000000),
    (3, 'picture', 2, 1767225600000000, 1767225600000000),
    (4, 'empty', 0, 1767225600000000, 1767225600000000);

INSERT INTO records (place, at, meta, body) VALUES
    ((1 << 32) + 1, 1767225600000000, CAST('{"user":"ann"}' AS BLOB),
     CAST('{"type":"prompt.submitted","v":1,"message_id":"u1","content":[{"type":"text","text":"hi"}]}' AS BLOB)),
    ((1 << 32) + 2, 1767225601000000, NULL,
     CAST('{"type":"step.started","v":1,"message_id":"m1","origin":{"provider":"acme","dialect":"acme-chat"}}' AS BLOB)),
    ((1 << 32) + 3, 1767225601000000, NULL,
     CAST('{"type":"tool.called","v":1,"message_id":"m1","call_id":"c1","name":"look","input":{}}' AS BLOB)),
    ((1 << 32) + 4, 1767225601000000, NULL,
     CAST('{"type":"step.ended","v":1,"message_id":"m1","finish":"tool-calls"}' AS BLOB)),
    ((1 << 32) + 5, 1767225602000000, NULL,
     CAST('{"type":"later.event","v":2,"message_id":"m1","x":[1]}' AS BLOB)),
    ((3 << 32) + 1, 1767225600000000, NULL,
     CAST('{"type":"media.ended","v":1,"message_id":"m1","media_type":"a/b","data":"' || replace(hex(zeroblob(200)), '00', 'QUJD') || '"}' AS BLOB)),
    ((3 << 32) + 2, 1767225600000000, NULL,
     CAST('{"type":"media.ended","v":1,"message_id":"m2","media_type":"a/b","data":"' || replace(hex(zeroblob(200)), '00', 'QUJD') || '"}' AS BLOB));

PRAGMA application_id = 1098073462;
PRAGMA user_version = 1;
