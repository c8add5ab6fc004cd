"""
How installed dialects are found, and what a broken entry point does.
"""

import re
from importlib.metadata import EntryPoint

import pytest

from assistant_events.adapters import Dialect, detect_dialect, dialect, dialect_names, load_dialect
from assistant_events.adapters.gemini_interactions import dialect as gemini
from assistant_events.errors import AdapterError, UnknownDialectError
from assistant_events.mock import load_mock

from .notation import C, S, mo


@pytest.fixture
def installed(monkeypatch):
    """
    Entry points by name; tests add to them.
    """
    found = {"gemini-interactions": "assistant_events.adapters.gemini_interactions:dialect"}
    monkeypatch.setattr(
        dialect,
        "installed_entry_points",
        lambda group: [EntryPoint(name=name, value=value, group=group) for name, value in found.items()],
    )
    return found


def test_a_dialect_is_loaded_by_name():
    """
    The name of the entry point is the name of the dialect.
    """
    assert gemini is load_dialect("gemini-interactions")
    assert "gemini-interactions" in dialect_names()


def test_a_dialect_is_shown_by_its_name():
    """
    And so is its mock: what they hold, classes and tables, would take pages.
    """
    assert repr(load_dialect("openai-chat")) == "<Dialect 'openai-chat'>"
    assert repr(load_mock("openai-chat")) == "<MockDialect 'openai-chat'>"


def test_an_unknown_name():
    """
    The error names what was asked for and what there is.
    """
    with pytest.raises(UnknownDialectError) as caught:
        load_dialect("morse")

    assert "unknown dialect 'morse'; installed: " in str(caught.value)
    assert "gemini-interactions" in str(caught.value)


BROKEN = {
    "no module": ("nowhere.at.all:dialect", "does not load"),
    "no attribute": ("assistant_events.adapters:nothing", "does not load"),
    "no dialect": ("assistant_events.adapters:DONE_IS_NOT_HERE", "does not load"),
    "another thing": ("assistant_events.adapters:load_dialect", "is function, expected a Dialect"),
}


@pytest.mark.parametrize(("value", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_entry_point(installed, value, sentence):
    """
    The error names the adapter, its entry point and the reason.
    """
    installed["morse"] = value
    with pytest.raises(AdapterError, match=sentence) as caught:
        load_dialect("morse")

    assert str(caught.value).startswith(f"adapter 'morse': {value} ")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "document",
    [
        C(),
        S(0, mo()),
        {"event_type": "content.start"},
        {"type": "interaction.created"},
        {"event_type": "error"},
        {"object": "interaction"},
        {"status": "completed", "steps": []},
        {"status": "completed", "outputs": []},
        {"error": {"message": "Slow down.", "code": "too_many_requests"}},
    ],
)
def test_detecting(document):
    """
    The first frame, or a whole document, identifies its dialect.
    """
    assert gemini is detect_dialect([{}, document])


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "document",
    [
        {},
        {"type": "message_start"},
        {"type": "error"},
        {"object": "response"},
        {"steps": []},
        {"status": "completed", "steps": {}},
        {"type": 1, "event_type": None},
        {"choices": [], "object": "chat.completion.chunk"},
        {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}},
        {"error": {"message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        {"error": {"message": "Slow down.", "code": "slow_down"}},
        {"error": {"message": "Slow down.", "code": "too_many_requests"}, "request_id": "r1"},
        {"error": "too_many_requests"},
    ],
)
def test_documents_of_others(document):
    """
    Documents of other wires, and of none, are not taken.
    """
    assert None is detect_dialect([document])


def test_a_dialect_that_cannot_tell(installed):
    """
    A dialect without `detect` is never detected.
    """
    installed["blind"] = f"{__name__}:blind"

    assert blind is load_dialect("blind")
    assert None is detect_dialect([{}])
    assert ("blind", "gemini-interactions") == dialect_names()


blind = Dialect(name="blind", decoder=type("Blind", (gemini.decoder,), {"dialect": "blind"}))


def made(base, **changed):
    """
    Return the Gemini dialect with a class of it changed: *base* is the name of what it makes.
    """
    owner = getattr(getattr(gemini, base), "__self__", getattr(gemini, base))
    return type("Changed", (owner,), changed)


CONTRADICTIONS = {
    "a decoder of another dialect": (
        lambda: {"decoder": made("decoder", dialect="morse")},
        ValueError,
        "Changed.dialect: expected 'gemini-interactions', got 'morse'",
    ),
    "an encoder of another dialect": (
        lambda: {"encoder": made("encoder", dialect="morse").encode},
        ValueError,
        "Changed.dialect: expected 'gemini-interactions', got 'morse'",
    ),
    "an encoder of another provider": (
        lambda: {"encoder": made("encoder", provider="acme").encode},
        ValueError,
        "provider: expected one of decoder and encoder, got acme and google",
    ),
    "an encoder without a provider": (
        lambda: {"encoder": made("encoder", provider="").encode},
        TypeError,
        "Changed.provider: expected a non-empty string",
    ),
    "a decoder of one answer": (
        lambda: {"decoder": made("decoder")("a1")},
        TypeError,
        "decoder: expected a class, got an object of Changed",
    ),
    "an emitter of one answer": (
        lambda: {"emitter": made("emitter")()},
        TypeError,
        "emitter: expected a class, got an object of Changed",
    ),
    "the class of an encoder": (
        lambda: {"encoder": made("encoder")},
        TypeError,
        "encoder: expected Changed.encode, got the class",
    ),
    "state of no part": (
        lambda: {"encoder": made("encoder", placed_state={"tool_call": frozenset({"id"})}).encode},
        ValueError,
        "Changed.placed_state: expected one of text, reasoning, media, tool, opaque, result, got 'tool_call'",
    ),
    "an emitter of another dialect": (
        lambda: {"emitter": made("emitter", decoder=blind.decoder)},
        ValueError,
        "Blind.dialect: expected 'gemini-interactions', got 'blind'",
    ),
    "an emitter without a decoder": (
        lambda: {"emitter": made("emitter", decoder=None)},
        TypeError,
        "Changed.decoder: expected the decoder of what the emitter writes",
    ),
    "numbers that the policy does not read": (
        lambda: {"decoder": made("decoder", item_key="n")},
        ValueError,
        "policy: expected the item_key of the decoder, 'n', got 'i'",
    ),
}


@pytest.mark.parametrize(("changed", "kind", "sentence"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_classes_that_contradict_each_other(changed, kind, sentence):
    """
    A dialect of them is refused when it is made, not when a stream or a request comes.
    """
    fields = {"name": gemini.name, "decoder": gemini.decoder, "encoder": gemini.encoder, "emitter": gemini.emitter}
    Dialect(**fields)
    with pytest.raises(kind, match=f"^{re.escape(sentence)}$"):
        Dialect(**{**fields, **changed()})


def test_a_dialect_under_another_name(installed):
    """
    An entry point whose name is not the dialect's is refused.
    """
    installed["morse"] = "assistant_events.adapters.gemini_interactions:dialect"
    with pytest.raises(AdapterError, match="names the dialect 'gemini-interactions'"):
        load_dialect("morse")


def test_metadata_is_searched_once(monkeypatch, tmp_path):
    """
    What is installed is looked up once for a `sys.path`, and again when a directory is added to it.
    """
    searched = []
    monkeypatch.setattr(dialect, "entry_points", lambda group: searched.append(group) or [])
    for added in ("one", "other"):
        monkeypatch.syspath_prepend(tmp_path / added)
        assert () == dialect_names() == dialect_names()

    assert 2 == len(searched)
