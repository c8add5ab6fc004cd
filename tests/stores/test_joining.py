"""
Deltas that continue one another are joined, and only those.
"""

import pytest

from assistant_events.events import MediaDelta, MediaEnded, ReasoningDelta, TextDelta, ToolInputDelta, ToolProgress
from assistant_events.stores.checkpoints import join_deltas, rest_of


def text(offset, delta, message_id="a1"):
    return TextDelta(message_id=message_id, offset=offset, delta=delta)


def write(call_id, offset, delta):
    return ToolInputDelta(message_id="a1", call_id=call_id, offset=offset, delta=delta)


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        ([], []),
        ([text(0, "a")], [text(0, "a")]),
        ([text(3, "a"), text(4, "bc"), text(6, "d")], [text(3, "abcd")]),
        ([text(0, "a"), text(1, "b"), text(3, "d")], [text(0, "ab"), text(3, "d")]),
        ([text(0, "a"), text(0, "a")], [text(0, "a"), text(0, "a")]),
        ([text(0, "a"), text(1, "b", "a2")], [text(0, "a"), text(1, "b", "a2")]),
        ([write("c1", 0, "{"), write("c1", 1, "}")], [write("c1", 0, "{}")]),
        ([write("c1", 0, "{"), write("c2", 1, "}")], [write("c1", 0, "{"), write("c2", 1, "}")]),
        (
            [text(0, "a"), ReasoningDelta(message_id="a1", offset=1, delta="b")],
            [text(0, "a"), ReasoningDelta(message_id="a1", offset=1, delta="b")],
        ),
        (
            [MediaDelta(message_id="a1", offset=at, delta=bytes([at])) for at in range(3)],
            [MediaDelta(message_id="a1", offset=0, delta=b"\x00\x01\x02")],
        ),
        (
            [ToolProgress(message_id="a1", call_id="c1", output=str(at)) for at in range(3)],
            [ToolProgress(message_id="a1", call_id="c1", output="2")],
        ),
        (
            [ToolProgress(message_id=name, call_id="call-1", output=name) for name in ("a1", "a2")],
            [ToolProgress(message_id=name, call_id="call-1", output=name) for name in ("a1", "a2")],
        ),
    ],
    ids=range(12),
)
def test_joined_deltas(given, joined):
    """
    They are of one class, message and call, and each begins where the one before it ends.
    """
    assert joined == join_deltas(given)
    assert [type(event) for event in joined] == [type(event) for event in join_deltas(given)]


def test_the_rest_of_media():
    """
    Media that come whole, without a delta, are in their end alone.
    """
    ended = MediaEnded(message_id="a1", media_type="image/png", data=b"png")

    assert [None, b"ng", None] == [rest and rest.delta for rest in (rest_of(ended, start) for start in (0, 1, 3))]
