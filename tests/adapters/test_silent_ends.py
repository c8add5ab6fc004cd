"""
Streams that stay open behind the reason why the answer ended, until the reader gives them up.
"""

import pytest

from assistant_events.adapters import load_dialect
from assistant_events.adapters.base import DecoderBase
from assistant_events.values import ErrorInfo

from .anthropic_messages import notation as messages
from .openai_chat import notation as chat
from .reading import message_of

SILENCE = ErrorInfo(kind="timeout", message="the stream gave nothing new for 600 s", retryable=True)
CUT = ErrorInfo(kind="network", message="the connection was reset", retryable=True)

TEXT = {"index": 0, "content": {"role": "model", "parts": [{"text": "Hello"}]}}
STREAMS = {
    "openai-chat": chat.stream(chat.T("Hello"), chat.F(), chat.U()),
    "anthropic-messages": messages.stream(messages.M(), *messages.text(0, "Hello"), messages.K()),
    "gemini-generate-content": chat.stream({"candidates": [{**TEXT, "finishReason": "STOP"}]}),
}
OPEN = {
    "openai-chat": chat.stream(chat.T("Hello")),
    "anthropic-messages": messages.stream(messages.M(), *messages.text(0, "Hello")),
    "gemini-generate-content": chat.stream({"candidates": [TEXT]}),
}


def closed(name, body, error):
    """
    Return the message of a stream whose reader has given it up.
    """
    decoder = load_dialect(name).decoder("a1")
    decoder.feed(body)
    decoder.close(error)
    return decoder.message


@pytest.mark.parametrize("name", STREAMS)
def test_silence_behind_the_reason(name):
    """
    A server leaves the mark of the end out and keeps the connection open, with comments (maximhq/bifrost#6784, #6960):
    the answer is whole.
    """
    answered = closed(name, STREAMS[name] + b": keep-alive\n\n" * 3, SILENCE)

    assert ("completed", "stop", None) == (answered.status.value, answered.finish_reason, answered.error)
    assert message_of(load_dialect(name), STREAMS[name]).usage == answered.usage


@pytest.mark.parametrize(("name", "body", "error"), [(name, STREAMS[name], CUT) for name in STREAMS])
def test_a_cut_behind_the_reason(name, body, error):
    """
    What was still to come is not known.
    """
    assert error == closed(name, body, error).error


@pytest.mark.parametrize("name", OPEN)
def test_silence_before_the_reason(name):
    """
    The answer fails with the reason of its reader.
    """
    assert ("failed", SILENCE) == ((answered := closed(name, OPEN[name], SILENCE)).status.value, answered.error)


class Lines(DecoderBase):
    """A wire without a last frame: the answer ends with its body."""

    dialect = "acme-lines"
    provider = "acme"

    def on_event(self, event):
        self.ensure_started()
        self.recorder.text(event["text"])

    def on_close(self, error):
        if error is None:
            self.finish_step("stop", None)


@pytest.mark.parametrize(("error", "status"), [(None, "completed"), (SILENCE, "failed"), (CUT, "failed")])
def test_a_wire_without_a_last_frame(error, status):
    """
    Its body has not ended where a server is silent.
    """
    decoder = Lines("a1")
    decoder.feed(b'data: {"text": "Hello"}\n\n')
    decoder.close(error)

    assert (status, error) == (decoder.message.status.value, decoder.message.error)
