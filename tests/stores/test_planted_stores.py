"""
`check_store` finds the faults that authors of stores make, each in a store that is sound otherwise.
"""

from itertools import count

import attrs
import pytest

from assistant_events.errors import ConflictError, FencedError, OwnerError, PrunedError, StoreError
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.stores.contract import utc_now
from assistant_events.testing.stores import check_store
from assistant_events.values import JsonObject


def altered(method, change, base=MemoryStore):
    """
    Return a store with another method: *change* takes the sound one, the store, and the arguments.
    """

    def changed(self, *args, **options):
        return change(lambda *a, **o: getattr(base, method)(self, *a, **o), self, *args, **options)

    return type("Altered", (base,), {method: changed})


def lenient(method, kind, when=lambda *_, **__: True, result=None):
    """
    Return a store with a method that does nothing where it has to refuse, for some arguments.
    """

    def change(call, store, *args, **options):
        try:
            return call(*args, **options)
        except kind:
            if when(*args, **options):
                return result
            raise

    return altered(method, change)


def handing_in_nothing(*_, unfinished=None, **__):
    return unfinished == ()


class RemembersForks(MemoryStore):
    """
    A store that knows the source of each fork.
    """

    def __init__(self):
        super().__init__()
        self.sources = {}

    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        self.sources[new_session_id] = session_id
        return place

    def forks(self, session_id):
        return [self._log(name) for name, source in self.sources.items() if source == session_id]


class ReadsForksFromTheirSource(RemembersForks):
    def append(self, session_id, events, **options):
        records = super().append(session_id, events, **options)
        for fork in self.forks(session_id):
            fork.records += [attrs.evolve(record, session_id=fork.records[0].session_id) for record in records]
        return records


class PrunesForks(RemembersForks):
    def prune(self, session_id, through_seq):
        super().prune(session_id, through_seq)
        for fork in self.forks(session_id):
            fork.records, fork.pruned = fork.records[through_seq - fork.pruned :], through_seq


class DeletesTheSource(RemembersForks):
    def delete(self, session_id):
        super().delete(session_id)
        if session_id in self.sources:
            super().delete(self.sources[session_id])


class SharesSnapshots(RemembersForks):
    def snapshot(self, session_id, transcript):
        super().snapshot(session_id, transcript)
        if session_id in self.sources:
            self._log(self.sources[session_id]).snapshot = transcript


def losing_snapshots(call, store, session_id, new_session_id, *, at=None):
    place = call(session_id, new_session_id, at=at)
    if not store._log(new_session_id).pruned:
        store._log(new_session_id).snapshot = None
    return place


def settling_the_source(call, store, session_id, new_session_id, *, at=None):
    place = call(session_id, new_session_id, at=at)
    store._log(session_id).unfinished = ()
    return place


def listing_forks_as_whole(call, store, **page):
    return tuple([attrs.evolve(i, pruned_to=i.pruned_to * (i.session_id == "s")) for i in call(**page)])


def pruned(**changes):
    def change(call, store, session_id, through_seq):
        call(session_id, through_seq)
        for name, value in changes.items():
            setattr(store._log(session_id), name, value)

    return altered("prune", change)


def unclaiming(call, store, session_id, through_seq):
    call(session_id, through_seq)
    store._claims.pop(session_id, None)


def in_pages(call, store, session_id, after=0, *, limit=None):
    return call(session_id, after, limit=limit and min(limit, 500))


def with_a_page_twice(call, store, session_id, after=0, *, limit=None):
    records = list(call(session_id, after, limit=limit))
    return iter(records[:1000] + records[999:-1] if len(records) > 1000 else records)


class KeepsTheDictOfTheApp(MemoryStore):
    def append(self, session_id, events, *, meta=None, **options):
        records = super().append(session_id, events, meta=meta, **options)
        given = vars(self).setdefault("given", {})
        given.update({(session_id, record.seq): meta or {} for record in records})
        return records

    def read(self, session_id, after=0, *, limit=None):
        for record in super().read(session_id, after, limit=limit):
            yield attrs.evolve(record, meta=JsonObject(self.given[session_id, record.seq]))


def folding_case(name):
    return name.strip().casefold() if isinstance(name, str) else name


class SnapshotsByFoldedIds(MemoryStore):
    def snapshot(self, session_id, transcript):
        super().snapshot(session_id, transcript)
        vars(self).setdefault("snapshots", {})[folding_case(session_id)] = transcript

    def load_snapshot(self, session_id):
        found = super().load_snapshot(session_id)
        return found and self.snapshots.get(folding_case(session_id), found)


def deleting_like(call, store, session_id):
    call(session_id)
    for name in [each for each in store._logs if folding_case(each) == session_id]:
        call(name)


def deleting_all_checkpoints(call, store, session_id):
    call(session_id)
    for log in store._logs.values():
        log.checkpoints = {}


def deleting_what_has_records(call, store, session_id):
    if session_id in store._open():
        call(session_id)


def deleting_claims_of_the_worker(call, store, session_id):
    claim = store._claims.get(session_id)
    call(session_id)
    for other in store._claims.values():
        other.held = other.held and (claim is None or other.worker != claim.worker)


class RemembersWhatItDeleted(MemoryStore):
    def __init__(self):
        super().__init__()
        self.gone = {}

    def delete(self, session_id):
        log = self._log(session_id)
        super().delete(session_id)
        if log.seq:
            self.gone.setdefault(session_id, log)


class KeepsWherePruned(RemembersWhatItDeleted):
    def delete(self, session_id):
        log = self._log(session_id)
        super().delete(session_id)
        if log.pruned:
            self.gone[session_id] = log

    def read(self, session_id, after=0, *, limit=None):
        if session_id in self.gone and 0 <= after < self.gone[session_id].pruned and self.seq(session_id):
            raise PrunedError(session_id, after, self.gone[session_id].pruned)
        return super().read(session_id, after, limit=limit)


class KeepsWhenCreated(RemembersWhatItDeleted):
    def sessions(self, **page):
        found = super().sessions(**page)
        return tuple([attrs.evolve(i, created=self.gone.get(i.session_id, i).created) for i in found])


class KeepsThePlaceOfDeleted(RemembersWhatItDeleted):
    def unfinished(self):
        left = super().unfinished()
        return dict(sorted(left.items(), key=lambda item: item[0] not in self.gone))


def forgetting_what_is_refused(kind, **changes):
    def change(call, store, session_id, events, **options):
        try:
            return call(session_id, events, **options)
        except kind:
            for name, value in changes.items():
                setattr(store._log(session_id), name, value() if callable(value) else value)
            raise

    return altered("append", change)


def of_the_same_worker(call, store, session_id, events, *, token=None, **options):
    last, made = store._claims.get(session_id), vars(store).get("made", {})
    if token is not True and token in made and last is not None and last.held and made[token] == last.worker:
        token = last.token
    return call(session_id, events, token=token, **options)


class TakesTokensOfTheWorker(altered("append", of_the_same_worker)):
    def claim(self, session_id, worker, **options):
        claim = super().claim(session_id, worker, **options)
        vars(self).setdefault("made", {})[claim.token] = worker
        return claim


def claiming_without_a_sign(call, store, session_id, worker, **options):
    before = store._beats.get(worker)
    claim = call(session_id, worker, **options)
    store._beats[worker] = before or store._beats[worker]
    return claim


def beating_alike(call, store, worker):
    call(worker)
    for other in [each for each in store._beats if each.casefold() == worker.casefold()]:
        store._beats[other] = store._beats[worker]


def beating_who_is_known(call, store, worker):
    if worker and isinstance(worker, str) and worker not in store._beats:
        raise StoreError(f"unknown worker {worker!r}")
    call(worker)


def claiming_alike(call, store, session_id, worker, **options):
    last = store._claims.get(session_id)
    alike = last is not None and folding_case(last.worker) == folding_case(worker)
    return call(session_id, worker, **{**options, "dead_after_s": 0} if alike else options)


@pytest.mark.parametrize(
    ("sentence", "broken"),
    [
        ("6, .*seq of at most 1400 records", altered("read", in_pages)),
        ("6, .*seq of at most None records", altered("read", with_a_page_twice)),
        ("1, .*a batch whose iterator fails", lenient("append", RuntimeError, result=())),
        ("2, .*seq of many sessions", altered("seqs", lambda call, _, ids: dict.fromkeys(call([*ids][:-1]), 0))),
        ("2, .*has no len", altered("seqs", lambda call, _, ids: call([*ids][: len(ids)]))),
        ("3, .*an empty batch that expects", lenient("append", ConflictError, lambda _, events, **__: not events, ())),
        ("5, .*meta of the records", KeepsTheDictOfTheApp),
        ("5, .*a time without a zone", lenient("append", ValueError, lambda *_, at=None, **__: at is not None, ())),
        ("6, .*a negative cursor", lenient("read", ValueError, lambda _, after=0, **__: after < 0, ())),
        ("6, .*a negative limit", lenient("read", ValueError, lambda *_, limit=None: limit is not None, ())),
        ("sessions are independent: .*snapshot of session 'a'", SnapshotsByFoldedIds),
        ("sessions are independent: .*a claim by 'A', of a session of 'a'", altered("claim", claiming_alike)),
        ("sessions are independent: .*seq of sessions after 'a' was deleted", altered("delete", deleting_like)),
        (
            "19, .*checkpoints of another session than the deleted one",
            altered("delete", deleting_all_checkpoints),
        ),
        ("8, .*a snapshot beyond the end", lenient("snapshot", StoreError, lambda name, t: name == "s" and t.seq > 20)),
        ("8, .*an empty snapshot", lenient("snapshot", StoreError, lambda _, transcript: not transcript.seq)),
        ("8, .*a snapshot of an unknown session", lenient("snapshot", StoreError, lambda name, _: name == "unknown")),
        ("9, .*pruning beyond the snapshot", lenient("prune", StoreError, lambda _, through: through == 9)),
        ("9, .*pruning an unknown session", lenient("prune", StoreError, lambda name, _: name == "unknown")),
        (
            "9, .*seq of a log pruned to its end",
            altered("seqs", lambda _, store, ids: {each: len(store._log(each).records) for each in ids}),
        ),
        ("10, .*a fork to itself", lenient("fork", ConflictError, lambda one, other, **_: one == other)),
        ("10, .*a fork of an unknown", lenient("fork", StoreError, lambda one, *_, **__: one == "unknown")),
        ("10, .*a fork beyond the end", lenient("fork", StoreError, lambda *_, at=None: at is not None and at > 20)),
        ("10, .*records of a fork after its source has another one", ReadsForksFromTheirSource),
        ("10, .*'whole': records up to seq 3 are pruned", PrunesForks),
        ("10, .*records of a session after a fork is pruned, and one is deleted", DeletesTheSource),
        ("10, .*seq and snapshot of a session beside its forks", SharesSnapshots),
        ("10, .*snapshot of the fork 'whole'", altered("fork", losing_snapshots)),
        ("10, .*unfinished work of a session after it was forked", altered("fork", settling_the_source)),
        ("10, .*seq and pruned_to of a fork", altered("sessions", listing_forks_as_whole)),
        ("11, .*'s': records up to seq 1", KeepsWherePruned),
        ("11, .*pruned_to and created of a session that was pruned, and created again", KeepsWhenCreated),
        ("11, .*in the order of their creation, one created again", KeepsThePlaceOfDeleted),
        ("11, .*times of a pruned session", forgetting_what_is_refused(ConflictError, updated=utc_now)),
        (
            "13, .*unfinished without expected_seq",
            lenient("append", ValueError, lambda *_, unfinished=None, **__: unfinished == (), ()),
        ),
        ("17, .*seq and unfinished work after the token of", forgetting_what_is_refused(FencedError, unfinished=())),
        ("13, .*after its log was pruned", pruned(unfinished=())),
        ("16, .*it was created with another owner", pruned(owner=None)),
        (
            "16, .*an empty batch for 's' of another",
            lenient("append", OwnerError, lambda _, events, **__: not events, ()),
        ),
        ("16, .*a negative limit", lenient("sessions", ValueError, lambda limit=None, **_: limit == -1, ())),
        ("17, .*token 2 is not that of the current claim", altered("prune", unclaiming)),
        ("17, .*with the token of an older claim of the same worker", TakesTokensOfTheWorker),
        ("17, .*session 't'", altered("delete", deleting_claims_of_the_worker)),
        ("17, .*session 'new' is claimed", altered("delete", deleting_what_has_records)),
        ("17, .*a negative dead_after_s", lenient("claim", ValueError, lambda *_, dead_after_s=15: dead_after_s < 0)),
        ("17, .*worker ''", lenient("beat", ValueError)),
        ("18, .*that beat, claim, .* got \\['claiming', 'silent'\\]", altered("claim", claiming_without_a_sign)),
        ("18, .*that beat, claim, .* got \\[\\]", altered("beat", beating_alike)),
        ("18, .*unknown worker 'new'", altered("beat", beating_who_is_known)),
        ("19, .*after a batch that was refused", forgetting_what_is_refused(FencedError, checkpoints=dict)),
        ("19, .*of an unknown session", lenient("checkpoint", StoreError, lambda name, *_, **__: name == "unknown")),
        ("19, .*after a pruned record", lenient("checkpoint", PrunedError)),
        ("19, .*of an unclaimed session", lenient("checkpoint", FencedError, lambda name, *_, **__: name == "new")),
    ],
)
def test_a_fault_is_named(sentence, broken):
    """
    The sentence names the promise, and what was tried.
    """
    with pytest.raises(AssertionError, match=rf"^{sentence}"):
        check_store(broken)


class Caching(SqliteStore):
    """
    A store that answers again what it has answered before, until it writes itself.
    """

    def cached(self, name, call):
        held = vars(self).setdefault("held", {})
        if name not in held:
            held[name] = call()
        return held[name]

    def append(self, session_id, events, **options):
        written = super().append(session_id, events, **options)
        if written:
            vars(self).pop("held", None)
        return written


class CachesSeqs(Caching):
    def seqs(self, session_ids):
        return self.cached("seqs", lambda: super(CachesSeqs, self).seqs(session_ids))


class CachesSessions(Caching):
    def sessions(self, **page):
        return self.cached("sessions", lambda: super(CachesSessions, self).sessions(**page))


class CachesUnfinished(Caching):
    def unfinished(self):
        return self.cached("unfinished", lambda: super(CachesUnfinished, self).unfinished())


class CachesCheckpoints(Caching):
    def load_checkpoints(self, session_id):
        return self.cached("checkpoints", lambda: super(CachesCheckpoints, self).load_checkpoints(session_id))


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (CachesSeqs, "seq after a batch of the other store"),
        (CachesSessions, "sessions after a batch of the other store"),
        (CachesUnfinished, "unfinished work after a batch of the other store"),
        (CachesCheckpoints, "checkpoints of the other store"),
    ],
)
def test_what_another_store_has_changed(broken, what, tmp_path, monkeypatch):
    """
    What a store keeps in memory is outdated when a second store on its storage writes.
    """
    monkeypatch.setattr("assistant_events.testing.stores._PROMISES", {})
    names = count()

    with pytest.raises(AssertionError, match=f"^stores on one storage are one: {what}"):
        check_store(lambda: broken(tmp_path / f"{next(names)}.db"), again=lambda store: broken(store.path))
