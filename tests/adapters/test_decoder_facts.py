"""
What the decoder base adds to each end of a step, and its arguments for provider and framing.
"""

import pytest

from assistant_events import ErrorInfo, RemoteRun, Usage, fold
from assistant_events.adapters import DecoderBase, JsonLines, Sse
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.adapters.usage import UsageTable

CUT = ErrorInfo(kind="network", message="cut")
TEXT = b'{"text":"Hi","usage":{"in":3}}\n'


class AcmeDecoder(DecoderBase):
    """
    Decodes a wire without a last frame: its answer ends with the body.
    """

    dialect = "acme-chat"
    provider = "acme"
    framing = JsonLines
    usage_table = UsageTable(counts={"input_tokens": "in"})

    def on_event(self, event):
        self.ensure_started()
        self.note_usage(mapping(event, "usage"), partial="partial" in event)
        self.recorder.text(string(event, "text") or "", key=0)
        if "text" not in event:
            self.note("no-text", "a frame has no text")

    def on_close(self, error):
        if error is None:
            self.finish_step("stop")

    def facts(self):
        return {**super().facts(), "run": RemoteRun(id="r1", kind="response"), "state": {"id": "r1"}}


@pytest.mark.parametrize(
    ("error", "status", "counted"),
    [(None, "completed", {"in": 3}), (CUT, "failed", {"in": 3, "partial": True})],
    ids=["the end of the body", "a cut"],
)
def test_every_end_has_the_facts(error, status, counted):
    """
    Usage, run and state are part of the end of a step, whether the body ended or was cut; after a cut, more tokens may
    have been used than were counted.
    """
    decoder = AcmeDecoder("a1")
    message = fold(decoder.feed(TEXT) + decoder.close(error)).last

    assert status == message.status
    assert Usage(input_tokens=3, details=counted) == message.usage
    assert (RemoteRun(id="r1", kind="response"), {"id": "r1"}) == (message.run, message.state)


def test_partial_usage():
    """
    Usage of a part of the step is marked in its details; empty usage changes nothing.
    """
    decoder = AcmeDecoder("a1")
    events = decoder.feed(b'{"text":"Hi","partial":1,"usage":{"in":3}}\n{"text":"!"}\n') + decoder.close()

    assert Usage(input_tokens=3, details={"in": 3, "partial": True}) == fold(events).last.usage


def test_another_provider_and_framing():
    """
    A provider that speaks the dialect of another is named by the caller, as is another framing.
    """
    decoder = AcmeDecoder("a1", provider="other", framing=Sse)
    message = fold(decoder.feed(b"data: " + TEXT + b"\n") + decoder.close()).last

    assert ("other", "Hi") == (message.origin.provider, message.text)
    assert "acme" == AcmeDecoder("a1").provider


def test_the_notes_of_a_document():
    """
    A document is one event unless the decoder makes several of it; its notes are those of the caller's list.
    """
    notes = []
    message = fold(AcmeDecoder.decode_resource({"usage": {"in": 1}}, "a1", notes=notes)).last

    assert ("completed", ["no-text"]) == (message.status, [note.code for note in notes])
