"""
How a provider cuts a text into deltas means nothing: recorded streams, with the borders between deltas elsewhere.
"""

import copy
import json
import os
from functools import partial, reduce
from itertools import pairwise
from random import Random

import pytest

from assistant_events import fold
from assistant_events.adapters import JsonLines, load_dialect
from tests.each import check_each

from .bodies import STREAMS, events_of, stream_of
from .recordings import ENDS, answers

TEXTS = {"text", "thinking", "partial_json", "delta", "content", "reasoning_content", "reasoning", "arguments", "input"}
"""Fields with the text of a delta, in all wires."""

VARYING = {"id", "event_id", "item_id", "responseId", "createTime", "obfuscation", "p"}
"""Texts that differ from frame to frame."""


def leaves(document, path=()):
    """
    Yield path and value of what has no items in a document: indexes, texts and marks, but for those that vary.
    """
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*path, key))
        elif key not in VARYING and (
            "ndex" in str(key) or not isinstance(value, int | float) or isinstance(value, bool)
        ):
            yield (*path, key), value


def text_between(one, other):
    """
    Return the path of the text in which alone two frames differ; `None` when they differ in more, or in nothing.
    """
    ours, theirs = (dict(leaves(frame)) for frame in (one, other))
    differing = [path for path in ours if theirs.get(path) != ours[path]]
    if ours.keys() != theirs.keys() or len(differing) != 1 or differing[0][-1] not in TEXTS:
        return None
    texts = ours[differing[0]], theirs[differing[0]]
    return differing[0] if all(isinstance(text, str) and text for text in texts) else None


def recut(frames, random):
    """
    Return the frames with other borders between the texts of neighbours that are alike.
    """
    made = copy.deepcopy(frames)
    for one, other in pairwise(made):
        path = text_between(one, other)
        if path is not None:
            *above, key = path
            first, second = (reduce(lambda level, step: level[step], above, frame) for frame in (one, other))
            whole = first[key] + second[key]
            border = random.randrange(1, len(whole))
            first[key], second[key] = whole[:border], whole[border:]
    return made


def message_of(dialect, frames):
    decoder = load_dialect(dialect).decoder("a1", framing=JsonLines)
    body = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    return fold(decoder.feed(body) + decoder.close()).last


def streams_of(dialect):
    """
    Return the recorded streams of a dialect, each as a function that reads its frames, by name.
    """
    if dialect == "gemini-interactions":
        return {file: partial(read_events, file) for file in STREAMS}
    return {name: answer.frames for name, answer in answers(dialect).items() if answer.form != "json"}


def read_events(file):
    return events_of(stream_of(file))


@pytest.mark.parametrize("dialect", [*ENDS, "gemini-interactions"])
def test_borders_mean_nothing(dialect):
    """
    The message is the same, on the fast path too.
    """
    check_each({name: (dialect, read) for name, read in streams_of(dialect).items()}, is_the_same_when_recut)


def is_the_same_when_recut(dialect, read):
    frames = read()
    whole = message_of(dialect, frames)

    for seed in range(5 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1):
        assert whole == message_of(dialect, recut(frames, Random(seed)))


def test_what_is_recut():
    """
    Only the one text in which two frames differ, and all of it is still there.
    """
    frames = [{"type": "d", "n": at, "delta": {"text": text}} for at, text in enumerate(("Hel", "lo", " world"))]
    other = {"type": "d", "n": 3, "delta": {"text": "!", "signature": "x"}}
    made = recut([*frames, other], Random(3))

    assert "Hello world" == "".join(frame["delta"]["text"] for frame in made[:3])
    assert [frame["delta"]["text"] for frame in frames] != [frame["delta"]["text"] for frame in made[:3]]
    assert other == made[3]
