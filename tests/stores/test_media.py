"""
Extraction of media from events and transcripts.
"""

import attrs
import pytest

from assistant_events.events import MediaEnded, PromptSubmitted, ToolFailed, ToolSuccess
from assistant_events.messages import MediaPart, PartStatus, Transcript
from assistant_events.reducer import fold
from assistant_events.stores.media import EXTRACT_FROM_BYTES, events_with_media, extract_media, restore_media
from assistant_events.testing.builders import compaction, records
from assistant_events.testing.store_samples import PICTURE, TURN, with_media
from assistant_events.values import MediaContent

HOLDING = [event for _, event in events_with_media(with_media("m"))]


@pytest.mark.parametrize("value", [*HOLDING, fold(records(with_media("m")))], ids=lambda value: type(value).__name__)
def test_apart_and_together_again(value):
    """
    After extraction a value contains no media; after restoring it equals the original.
    """
    apart, media = extract_media(value)

    assert set(media.values()) <= {PICTURE, b"GIF89a"}
    assert f"<{len(PICTURE)} bytes>" in repr(value)
    assert f"<{len(PICTURE)} bytes>" not in repr(apart)
    assert value == restore_media(apart, media.__getitem__)
    assert type(value) is type(apart)


def test_every_place_of_a_transcript_is_counted():
    """
    Media of prompts, answers and outputs of calls count; a summary and a message without media stay as they are.
    """
    whole = fold(records([*with_media("m"), *compaction(message_id="s"), *TURN]))
    apart, media = extract_media(whole)

    assert {PICTURE, b"GIF89a"} == set(media.values())
    assert whole == restore_media(apart, media.__getitem__)
    assert [message.id for message in whole] == [message.id for message in apart]


def test_an_answer_whose_only_media_are_outputs():
    """
    It is one of those places.
    """
    whole = fold(records(with_media("m")))
    [answer] = [message for message in whole if message.type == "assistant"]
    calls = attrs.evolve(whole, messages=(attrs.evolve(answer, parts=answer.tool_calls),))

    assert PICTURE in extract_media(calls)[1].values()


@pytest.mark.parametrize(
    "value",
    [
        PromptSubmitted(message_id="u", content="hi"),
        ToolSuccess(message_id="m", call_id="c"),
        MediaEnded(message_id="m", media_type="a/b", uri="https://example.org"),
        MediaEnded(message_id="m", media_type="a/b", data=b"x" * (EXTRACT_FROM_BYTES - 1)),
        Transcript(),
        fold(records(TURN)),
    ],
    ids=["prompt", "success", "uri", "few bytes", "empty transcript", "transcript"],
)
def test_what_holds_little_is_left(value):
    """
    A value without media, or with few bytes, comes back itself.
    """
    assert (value, {}) == extract_media(value)
    assert value is extract_media(value)[0]


def test_several_small_media_are_much_together():
    """
    The size that counts is that of all media of a value.
    """
    halves = [bytes([letter]) * (EXTRACT_FROM_BYTES // 2) for letter in b"ab"]
    prompt = PromptSubmitted(message_id="u", content=[MediaContent(media_type="a/b", data=half) for half in halves])

    assert set(halves) == set(extract_media(prompt)[1].values())


def test_media_elsewhere_stay_elsewhere():
    """
    Media with a URI have no bytes to extract.
    """
    picture = MediaPart(media_type="a/b", uri="https://example.org", status=PartStatus.COMPLETED)
    transcript = fold(records(with_media("m")))
    message = transcript.messages[1]

    mixed = attrs.evolve(transcript, messages=(attrs.evolve(message, parts=(*message.parts, picture)),))
    apart, media = extract_media(mixed)

    assert picture == apart.messages[0].parts[-1]
    assert mixed == restore_media(apart, media.__getitem__)


def test_failed_calls_may_hold_media():
    """
    Media in the output of a failed call are extracted too.
    """
    (failed,) = [event for event in with_media("m") if isinstance(event, ToolFailed)]

    assert {PICTURE} == set(extract_media(failed)[1].values())
