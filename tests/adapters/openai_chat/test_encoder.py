"""
Requests of the Chat Completions wire, worked out from the manuals of its servers by hand.
"""

import json

import attrs
import pytest

from assistant_events import UserMessage, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.items import joined_texts
from assistant_events.history import DropReason
from assistant_events.messages import CompactionMessage, Transcript
from assistant_events.values import JsonContent, MediaContent, TextContent
from tests.adapters.reading import message_of

from .notation import DIALECT, MODEL, D, J, R, T, answer, document, encoded, events, message, stream
from .samples import ENCRYPTED, PIXEL, SAMPLES, drawn

USER = UserMessage(id="u1", content="Hi")
ASKED = {"role": "user", "content": "Hi"}


def of(body, provider="openai"):
    """
    Return the message of a stream that a provider has sent.
    """
    return message(body, provider=provider)


def sent(body, provider="openai", **options):
    """
    Return the messages behind the prompt, when an answer is sent back to its server, and what was dropped.
    """
    messages, drops = encoded(USER, of(body, provider), provider=provider, **options)
    assert ASKED == messages[0]
    return messages[1:], drops


def answered(body, *outputs, provider="openai"):
    """
    Return the message of a stream, each call of which has got one of the outputs.
    """
    found = events(body, provider=provider)
    calls = fold(found).last.tool_calls
    found += [call.succeed(output) for call, output in zip(calls, outputs, strict=True)]
    return fold(found).last


def written(call_id="call_00001", name="f", arguments='{"a":1}', **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


DETAIL = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "signature": "EqQBCkgIChABGAI"}
SUMMARY = {"type": "reasoning.summary", "summary": "So", "format": "openai-responses-v1", "index": 0}

RETURNED = {
    "text": ("openai", SAMPLES["plain text"], {"content": "Hello world"}),
    "a refusal": ("openai", SAMPLES["refusal"], {"content": "", "refusal": "I'm sorry."}),
    "audio": ("openai", SAMPLES["audio"], {"content": "", "audio": {"id": "audio_00001"}}),
    "reasoning of DeepSeek": ("deepseek", SAMPLES["reasoning"], {"content": "Yes.", "reasoning_content": "Let me see"}),
    "reasoning of Groq": ("groq", answer(R("So", "reasoning"), T("Yes.")), {"content": "Yes.", "reasoning": "So"}),
    "reasoning of vLLM": ("vllm", SAMPLES["reasoning"], {"content": "Yes.", "reasoning_content": "Let me see"}),
    "reasoning in two places": (
        "ollama",
        SAMPLES["reasoning again"],
        {"content": "twofour", "reasoning": "Onethree"},
    ),
    "signed details": (
        "openrouter",
        SAMPLES["reasoning details"],
        {"content": "Yes.", "reasoning_details": [{**DETAIL, "text": "Let me see"}]},
    ),
    "encrypted details": (
        "openrouter",
        SAMPLES["encrypted reasoning"],
        {"content": "Yes.", "reasoning_details": [SUMMARY, {**ENCRYPTED, "id": "rs_0123456789"}]},
    ),
    "a thought of Copilot alone": (
        "copilot",
        answer(D(content="", reasoning_opaque="E0"), finish_reason="length"),
        {"content": "", "reasoning_opaque": "E0"},
    ),
    "blocks of LiteLLM": (
        "litellm",
        SAMPLES["blocks of LiteLLM"],
        {
            "content": "Yes.",
            "thinking_blocks": [
                {"type": "thinking", "thinking": "Let me see", "signature": "MA=="},
                {"type": "thinking", "thinking": "and again", "signature": "MQ=="},
                {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"},
            ],
        },
    ),
    "blocks of Portkey": (  # which it reads instead of the content, but for calls
        "portkey",
        SAMPLES["blocks of Portkey"],
        {
            "content": "Wait. Yes.",
            "content_blocks": [
                {"type": "thinking", "thinking": "Let me see", "signature": "MA=="},
                {"type": "redacted_thinking", "data": "EmwKAhgB"},
                {"type": "text", "text": "Wait. "},
                {"type": "thinking", "thinking": "", "signature": "MQ=="},
                {"type": "text", "text": "Yes."},
            ],
        },
    ),
    "redacted blocks of LiteLLM": (
        "litellm",
        SAMPLES["redacted blocks of LiteLLM"],
        {
            "content": "Yes.",
            "thinking_blocks": [
                {"type": "redacted_thinking", "data": "EmwKAhgB"},
                {"type": "redacted_thinking", "data": "EmwKAhgC"},
            ],
        },
    ),
    "redacted block of LiteLLM behind a text": (
        "litellm",
        SAMPLES["redacted block of LiteLLM behind a text"],
        {
            "content": "Yes.",
            "reasoning_content": "Let me see",
            "thinking_blocks": [{"type": "redacted_thinking", "data": "EmwKAhgB"}],
        },
    ),
    "summaries of Databricks": (
        "databricks",
        SAMPLES["summaries of Databricks"],
        {
            "content": [
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": "Let me see", "signature": "MA=="}],
                },
                {"type": "text", "text": "Yes."},
            ]
        },
    ),
    "arrays of Mistral": (
        "mistral",
        SAMPLES["content in arrays"],
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], "closed": True},
                {"type": "text", "text": "2 + 2 = 4"},
                {"type": "reference", "reference_ids": [1, 2]},
            ]
        },
    ),
    "a server without a profile": (
        "somewhere",
        answer(R("So", "reasoning_text"), T("Yes.")),
        {"content": "Yes.", "reasoning_text": "So"},
    ),
}


def test_references_of_thoughts():
    """
    Those of Mistral, and thoughts that are one text, go back as they came, and in their place.

    Thoughts in arrays are one: "Expected at most one leading ThinkChunk, got 2" (earendil-works/pi#9674).
    """
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}
    reference = {"type": "thinking", "thinking": [{"type": "reference", "reference_ids": [1]}]}
    claude = {"type": "thinking", "thinking": "Hm", "signature": "EqQB"}
    thoughts = [*thought["thinking"], *reference["thinking"], *thought["thinking"]]
    content = [{**thought, "thinking": thoughts, "closed": True}, claude, {"type": "text", "text": "Yes."}]
    closed = {"type": "thinking", "thinking": [], "closed": True}
    chunks = [D(content=[each]) for each in (thought, reference, thought, closed, claude, content[-1])]

    assert ([{"role": "assistant", "content": content}], []) == sent(answer(*chunks), "mistral")
    assert ([{"role": "assistant", "content": content}], []) == sent(document(content=content), "mistral")


@pytest.mark.parametrize("text", [0.5, None, ["a"], {}], ids=str)
def test_a_text_that_is_no_text(text):
    """
    It is sent back as it came, and is not joined with the texts around it.
    """
    odd = {"type": "text", "text": text}
    content = [{"type": "text", "text": "One"}, odd, {"type": "text", "text": "two"}]

    assert ([{"role": "assistant", "content": content}], []) == sent(document(content=content), "mistral")
    assert ([{"role": "assistant", "content": [odd]}], []) == sent(document(content=[odd]), "mistral")


def test_thoughts_with_signatures_of_their_own():
    """
    Thoughts in arrays that have other signatures are not one: neither signature is lost.
    """
    thoughts = [{"type": "thinking", "thinking": [{"type": "text", "text": each}], "signature": each} for each in "AB"]

    assert thoughts == joined_texts(thoughts)


def piece(kind, **more):
    return {"type": f"reasoning.{kind}", **more, "index": 0}


OTHER_FIELDS = [("reasoning.new", "summary", "A"), ("reasoning.other", "text", "B"), ("reasoning.text", "summary", "C")]

ITEMS = {
    "signatures of calls": (
        [
            D(
                reasoning_details=[piece("encrypted", signature=f"S{at}")],
                tool_calls=[{"index": at, "id": f"c{at}", "function": {"name": "f", "arguments": "{}"}}],
            )
            for at in (1, 2)
        ],
        [piece("encrypted", signature="S1"), piece("encrypted", signature="S2")],
    ),
    "ids": (
        [D(reasoning_details=[piece("encrypted", data=f"E{at}", id=f"t{at}")]) for at in (0, 1)],
        [piece("encrypted", data="E0", id="t0"), piece("encrypted", data="E1", id="t1")],
    ),
    "ids beside a text": (
        [
            D(
                reasoning_details=[
                    piece("text", text="So"),
                    *[piece("encrypted", data=f"E{at}", id=f"t{at}") for at in (0, 1)],
                ]
            )
        ],
        [piece("text", text="So"), piece("encrypted", data="E0", id="t0"), piece("encrypted", data="E1", id="t1")],
    ),
    "signed texts": (
        [
            D(reasoning_details=[piece("text", text="A", signature="S1")]),
            T("Hm."),
            D(reasoning_details=[piece("text", text="B", signature="S2")]),
        ],
        [piece("text", text="A", signature="S1"), piece("text", text="B", signature="S2")],
    ),
    "a text behind a signature": (
        [
            D(reasoning_details=[piece("text", **more)])
            for more in ({"text": "A"}, {"signature": "S1"}, {"text": "B"}, {"text": "C"}, {"signature": "S2"})
        ],
        [piece("text", text="A", signature="S1"), piece("text", text="BC", signature="S2")],
    ),
    "a text in a field that is not usual": (
        [D(reasoning_details=[{"type": kind, "index": 0, field: text}]) for kind, field, text in OTHER_FIELDS],
        [{"type": kind, "index": 0, field: text} for kind, field, text in OTHER_FIELDS],
    ),
    "a repeated signature": (
        [
            D(reasoning_details=[piece("text", **more)])
            for more in ({"text": "A", "signature": "S1"}, {"signature": "S1"})
        ],
        [piece("text", text="A", signature="S1")],
    ),
}


@pytest.mark.parametrize(("chunks", "expected"), ITEMS.values(), ids=ITEMS)
def test_items_of_one_type_and_index(chunks, expected):
    """
    Those with an id or a signature of their own go back one by one.
    """
    [asked, *_], _ = sent(answer(*chunks), "openrouter")

    assert expected == asked["reasoning_details"]


SEALED = {"type": "thinking", "thinking": "One. Two.", "signature": "EqQBCkgIChABGAI"}
ITEM = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABn"}
BESIDE = "provider_specific_fields"


def block(text):
    return D(reasoning_content=text, thinking_blocks=[{"type": "thinking", "thinking": text, "signature": ""}])


LITELLM = {
    "a block behind its text": (
        [R("One. "), R("Two."), D(content="", thinking_blocks=[SEALED]), T("Yes.")],
        {"content": "Yes.", "thinking_blocks": [SEALED]},
    ),
    "a block behind its pieces": (
        [block("One. "), block("Two."), D(content="", thinking_blocks=[SEALED]), T("Yes.")],
        {"content": "Yes.", "thinking_blocks": [SEALED]},
    ),
    "fields of the pieces": (
        [
            D(reasoning_content="One. Two.", thinking_blocks=[{"type": "thinking", "thinking": "One. Two.", "x": 1}]),
            D(content="", thinking_blocks=[SEALED]),
            T("Yes."),
        ],
        {"content": "Yes.", "thinking_blocks": [{**SEALED, "x": 1}]},
    ),
    "items of another array": (
        [
            D(reasoning_details=[{"type": "reasoning.text", "text": "ha", "index": 0, "format": "f"}]),
            D(reasoning_details=[{"type": "reasoning.text", "text": "ha", "index": 0, "signature": "EqQB"}]),
            T("Yes."),
        ],
        {
            "content": "Yes.",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "haha", "index": 0, "format": "f", "signature": "EqQB"}
            ],
        },
    ),
    "another block with the same text": (
        [D(thinking_blocks=[SEALED]), D(thinking_blocks=[{**SEALED, "signature": "other"}]), T("Yes.")],
        {"content": "Yes.", "thinking_blocks": [SEALED, {**SEALED, "signature": "other"}]},
    ),
    "encrypted reasoning": ([D(reasoning_items=[ITEM]), T("Yes.")], {"content": "Yes.", "reasoning_items": [ITEM]}),
    "signatures in several chunks": (
        [D(content="Y", **{BESIDE: {"thought_signatures": ["s1"]}}), D(**{BESIDE: {"thought_signatures": ["s2"]}})],
        {"content": "Y", BESIDE: {"thought_signatures": ["s1", "s2"]}},
    ),
    "compacted history": (
        [D(content="Y", **{BESIDE: {"compaction_blocks": [{"content": "It was long."}], "shown": 1}})],
        {"content": "Y", BESIDE: {"compaction_blocks": [{"content": "It was long."}]}},
    ),
}


@pytest.mark.parametrize(("chunks", "expected"), LITELLM.values(), ids=LITELLM)
def test_what_litellm_reads_back(chunks, expected):
    """
    Thoughts of Claude once, although LiteLLM (#31022) repeats them with their signature, and what else it has sealed.
    """
    assert ([{"role": "assistant", **expected}], []) == sent(answer(*chunks), provider="litellm")


def test_the_mark_of_a_thought_does_not_return():
    """
    Gemini's endpoint marks a delta as a thought; in a request the mark would be of the whole message.
    """
    google = {"thought": True, "thought_signature": "c2ln"}
    [found], _ = sent(answer(D(content="Hm. Yes.", extra_content={"google": google})), provider="google")

    assert {"google": {"thought_signature": "c2ln"}} == found["extra_content"]


@pytest.mark.parametrize(
    ("provider", "roles"), [("mistral", ["tool", "assistant", "user"]), ("groq", ["tool", "user"])]
)
def test_a_prompt_behind_a_result(provider, roles):
    """
    Mistral refuses a message of the user there (code 3230).
    """
    call = answered(answer(J('{"a":1}', id="call_00001", name="f")), "ok", provider=provider)
    messages, _ = encoded(USER, call, UserMessage(id="u2", content="And?"), provider=provider)

    assert ["user", "assistant", *roles] == [each["role"] for each in messages]
    assert all(each["content"] for each in messages if "tool_calls" not in each)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("mistralai/Mistral-7B-Instruct-v0.3", ["Hi\n\nAnd?"]),
        ("ai/ministral3", ["Hi\n\nAnd?"]),
        ("google/gemma-3-27b-it", ["Hi\n\nAnd?"]),
        ("deepseek-reasoner", ["Hi\n\nAnd?"]),
        ("deepseek-ai/DeepSeek-R1", ["Hi\n\nAnd?"]),
        ("deepseek-v4", ["Hi", "And?"]),
        ("qwen3-32b", ["Hi", "And?"]),
    ],
)
def test_two_prompts_to_models_whose_roles_alternate(model, expected):
    """
    The templates of some refuse two in a row at vLLM and Docker (vllm#6862, crush#279), as did R1 (DeepSeek-R1#21).
    """
    request = DIALECT.encoder([USER, UserMessage(id="u2", content="And?")], {"model": model}, provider="vllm")

    assert expected == [each["content"] for each in request.body["messages"]]


IMAGE = MediaContent(media_type="image/png", uri="https://u.example/a.png")
PROMPTS = {
    "texts": (["Hi", "Are you there?"], "Hi\n\nAre you there?"),
    "a text and an image": (
        ["Hi", [IMAGE]],
        [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "https://u.example/a.png"}}],
    ),
}


@pytest.mark.parametrize(("prompts", "expected"), PROMPTS.values(), ids=PROMPTS)
def test_prompts_in_a_row(prompts, expected):
    """
    Perplexity refuses them, so an answer that failed would have made every later request fail (opencode#9416).
    """
    failed = of(answer(), "perplexity")
    asked = [UserMessage(id=f"u{at}", content=each) for at, each in enumerate(prompts)]
    found, _ = encoded(asked[0], failed, asked[1], provider="perplexity")
    others, _ = encoded(asked[0], failed, asked[1], provider="groq")

    assert [{"role": "user", "content": expected}] == found
    assert ["user", "user"] == [each["role"] for each in others]


@pytest.mark.parametrize(
    ("provider", "ids", "roles"),
    [
        ("databricks", ("call_1", "call_2"), "user assistant tool assistant tool user user"),
        ("databricks", ("toolu_1", "toolu_2"), "user assistant tool tool user user"),
        ("openai", ("call_1", "call_2"), "user assistant tool tool user user"),
    ],
)
def test_one_call_in_each_message(provider, ids, roles):
    """
    Databricks refuses two: "Multiple tool calls are not supported." (litellm#31633). It takes those of Claude.
    """
    calls = [J(index=at, id=ident, name="f", arguments="{}") for at, ident in enumerate(ids)]
    given = of(answer(T("So."), *calls, finish_reason="tool_calls"), provider)
    results = [call.succeed(call.call_id) for call in given.pending_tool_calls]
    again = [UserMessage(id=each, content="Yes") for each in ("u2", "u3")]
    found, _ = encoded(USER, *fold(results, start=Transcript(messages=(given,))).messages, *again, provider=provider)
    asked = [(each.get("content"), len(each["tool_calls"])) for each in found if "tool_calls" in each]

    assert roles.split() == [each["role"] for each in found]
    assert (
        list(ids)
        == [each["tool_call_id"] for each in found if each["role"] == "tool"]
        == [each["content"] for each in found if each["role"] == "tool"]
    )
    assert asked == ([("So.", 1), (None, 1)] if roles.count("assistant") == 2 else [("So.", 2)])


CUT = stream(R("Hm"), T("Hel"))
ENDS = {
    "asked again": ((CUT,), [ASKED]),
    "asked again, and answered": (
        (CUT, SAMPLES["plain text"]),
        [ASKED, {"role": "assistant", "content": "Hello world"}],
    ),
    "a prompt follows": (
        (CUT, UserMessage(id="u2", content="Go on")),
        [ASKED, {"role": "assistant", "content": "Hel"}, {"role": "user", "content": "Go on"}],
    ),
}


@pytest.mark.parametrize("provider", ["openai", "mistral", "perplexity", "llama.cpp"])
@pytest.mark.parametrize(("behind", "expected"), ENDS.values(), ids=ENDS)
def test_an_answer_that_was_cut(behind, expected, provider):
    """
    A request that ends with it is refused (Mistral: smolagents#757, Perplexity: litellm#3918, llama.cpp#20861).
    """
    messages = [each if isinstance(each, UserMessage) else of(each, provider) for each in behind]
    messages = [attrs.evolve(each, id=f"m{at}") for at, each in enumerate(messages)]
    found, drops = encoded(USER, *messages, provider=provider)

    assert expected == found
    assert ("asked for again" in str(drops)) == (len(expected) < 3)


@pytest.mark.parametrize(("provider", "content"), [("moonshot", " "), ("xiaomi", " "), ("xai", " "), ("deepseek", "")])
def test_reasoning_without_an_answer(provider, content):
    """
    Moonshot, Xiaomi and xAI refuse an answer without content, as there is one when the limit came while it thought.
    """
    [found], _ = sent(answer(R("Hm"), finish_reason="length"), provider=provider)

    assert {"role": "assistant", "reasoning_content": "Hm", "content": content} == found


NO_CONTENT = {"cloudflare": "", "lmstudio": "", "xiaomi": " ", "xai": " ", "groq": None}


@pytest.mark.parametrize(("provider", "content"), NO_CONTENT.items(), ids=NO_CONTENT)
def test_the_content_of_calls_alone(provider, content):
    """
    Workers AI of Cloudflare and LM Studio refuse a null, and xAI and Xiaomi nothing at all, which others take.
    """
    found, _ = sent(answer(J("{}", id="call_00001", name="f"), finish_reason="tool_calls"), provider=provider)

    assert content == found[0]["content"]


def test_reasoning_for_opencode():
    """
    Its gateway sends a reasoning in a field that it refuses (opencode#27852), and wants it in the other.
    """
    [found], _ = sent(answer(R("Hm", "reasoning"), T("Yes.")), provider="opencode")

    assert {"role": "assistant", "reasoning_content": "Hm", "content": "Yes."} == found


def test_details_of_a_reasoning_for_opencode():
    """
    OpenRouter behind it sends details (opencode#43712); the field of the text had a blank for them alone.
    """
    details = [piece("text", text="Let me see"), piece("encrypted", data="E0", id="t0")]
    [found], drops = sent(answer(D(reasoning="Let me see", reasoning_details=details), T("Yes.")), provider="opencode")

    assert {"role": "assistant", "reasoning_content": "Let me see", "content": "Yes."} == found
    assert [(0, "unplaced")] == drops


def test_reasoning_for_cerebras():
    """
    It returns in the field of this server, whatever field it came in: it refuses the other one.
    """
    [found], _ = sent(answer(R("Hm"), T("Yes.")), provider="cerebras")

    assert {"role": "assistant", "reasoning": "Hm", "content": "Yes."} == found


@pytest.mark.parametrize(("provider", "body", "expected"), RETURNED.values(), ids=RETURNED)
def test_what_returns(provider, body, expected):
    """
    What a server wants back is in the message, in the field in which it came.
    """
    assert ([{"role": "assistant", **expected}], []) == sent(body, provider)


def test_what_openai_does_not_take():
    """
    A field that the server does not know is left out, and reported.
    """
    assert ([{"role": "assistant", "content": "Yes."}], [(0, "unplaced")]) == sent(SAMPLES["reasoning"])


def test_encrypted_reasoning_of_another_model():
    """
    It stays with its model (open-webui#28240), also behind a text.
    """
    shown = fold(
        events(answer(R("Hm", "reasoning"), D(reasoning_details=[ENCRYPTED]), T("Yes.")), provider="openrouter")
    ).last
    body = {"model": "anthropic/claude-sonnet-4.5"}
    found = DIALECT.encoder([USER, shown], body, provider="openrouter").body["messages"][1]

    assert {"role": "assistant", "content": "Yes.", "reasoning": "Hm"} == found


def test_reasoning_of_another_provider():
    """
    Reasoning is sent to its own server alone.
    """
    messages, drops = encoded(USER, of(SAMPLES["reasoning"], "deepseek"), provider="moonshot")

    assert {"role": "assistant", "content": "Yes."} == messages[1]
    assert (0, "other-provider") in drops


PLACES = {
    "openai": {},
    "azure": {},
    "deepseek": {"reasoning_content": "So"},
    "moonshot": {"reasoning_content": "So"},
    "xai": {"reasoning_content": "So"},
    "llama.cpp": {"reasoning_content": "So"},
    "fireworks": {"reasoning_content": "So"},
    "openrouter": {"reasoning": "So"},
    "groq": {"reasoning": "So"},
    "ollama": {"reasoning": "So"},
    "together": {"reasoning": "So"},
    "vllm": {"reasoning": "So"},
    "mistral": {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "So"}]},
            {"type": "text", "text": "Yes."},
        ]
    },
    "somewhere": {},
}


@pytest.mark.parametrize(("provider", "expected"), PLACES.items(), ids=PLACES)
@pytest.mark.parametrize("strip", [False, True])
def test_reasoning_without_state(provider, expected, strip):
    """
    It is sent in the field of its server; a server that has none, or is not known, may refuse any.
    """
    given = of(answer(R("So"), T("Yes.")), provider)
    bare = attrs.evolve(given, parts=[attrs.evolve(part, state={}) for part in given.parts])
    request = DIALECT.encoder([USER, bare], {"model": MODEL}, provider=provider, strip=strip)

    assert {"role": "assistant", "content": "Yes.", **expected} == request.body["messages"][1]
    assert bool(expected) is not any(drop.whole and drop.part == 0 for drop in request.drops)


MOVED = {
    "details of OpenRouter": ("openrouter", SAMPLES["reasoning details"], {"reasoning": "Let me see"}),
    "blocks of LiteLLM": ("litellm", SAMPLES["blocks of LiteLLM"], {"reasoning_content": "Let me seeand again"}),
}


@pytest.mark.parametrize(("provider", "body", "expected"), MOVED.values(), ids=MOVED)
def test_reasoning_of_another_model(provider, body, expected):
    """
    Without its signature a thought is text, in the field that its server has for that.
    """
    messages, drops = encoded(USER, of(body, provider), model="other", provider=provider)

    assert {"role": "assistant", "content": "Yes.", **expected} == messages[1]
    assert (0, "other-model") in drops


UNBOUND = {
    "a refusal": (SAMPLES["refusal"], {"content": "", "refusal": "I'm sorry."}),
    "a custom tool": (
        SAMPLES["custom tool"],
        {
            "content": None,
            "tool_calls": [{"id": "call_00001", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}],
        },
    ),
}


@pytest.mark.parametrize(("body", "expected"), UNBOUND.values(), ids=UNBOUND)
def test_what_any_model_of_a_server_takes(body, expected):
    """
    Fields and types belong to the server, not to the model.
    """
    messages, _ = encoded(USER, of(body, "openai"), model="other")

    assert {"role": "assistant", **expected} == messages[1]


@pytest.mark.parametrize(("provider", "filler"), [("deepseek", ""), ("moonshot", " "), ("xiaomi", " ")])
def test_reasoning_on_every_message(provider, filler):
    """
    Where one message has reasoning, the server wants it on each. For Moonshot an empty one is missing.
    """
    answers = [of(SAMPLES[name], provider) for name in ("reasoning", "plain text")]
    messages, _ = encoded(USER, *answers, provider=provider)

    assert ["Let me see", filler] == [each["reasoning_content"] for each in messages if each["role"] == "assistant"]


@pytest.mark.parametrize(("kind", "expected"), [("enabled", [""]), ("disabled", [None])])
def test_a_history_without_reasoning(kind, expected):
    """
    A server that is asked to think wants its field also on the answers of other models.
    """
    messages, _ = encoded(USER, of(SAMPLES["plain text"]), USER, provider="deepseek", thinking={"type": kind})

    assert expected == [each.get("reasoning_content") for each in messages if each["role"] == "assistant"]


THINKING = {
    "DeepSeek's": ("deepseek", "deepseek-v4-pro", {}, ""),
    "DeepSeek's newest": ("deepseek", "deepseek-flash", {}, ""),
    "DeepSeek's, switched off": ("deepseek", "deepseek-v4-pro", {"type": "disabled"}, None),
    "DeepSeek's reasoner": ("deepseek", "deepseek-reasoner", {}, ""),
    "DeepSeek's of 2025": ("deepseek", "deepseek-chat", {}, None),
    "Kimi": ("moonshot", "kimi-k2.6", {}, " "),
    "Kimi, switched off": ("moonshot", "kimi-k2.6", {"type": "disabled"}, None),
    "Kimi that always thinks": ("moonshot", "kimi-k3", {}, " "),
    "Kimi of 2025": ("moonshot", "kimi-k2-thinking", {}, " "),
    "Kimi, as it likes": ("moonshot", "kimi-k2.6", {"type": "adaptive"}, " "),
    "Moonshot's of 2024": ("moonshot", "moonshot-v1-8k", {}, None),
    "MiMo": ("xiaomi", "mimo-v2.5-pro", {}, " "),
    "MiMo, switched off": ("xiaomi", "mimo-v2.5-pro", {"type": "disabled"}, None),
    "of another server": ("openrouter", "deepseek-v4-pro", {}, None),
}


@pytest.mark.parametrize(("provider", "model", "thinking", "expected"), THINKING.values(), ids=THINKING)
def test_models_that_think_by_themselves(provider, model, thinking, expected):
    """
    They want the field on each answer, also when the request does not name it.
    """
    more = {"thinking": thinking} if thinking else {}
    messages, _ = encoded(USER, of(SAMPLES["plain text"]), USER, provider=provider, model=model, **more)

    assert [expected] == [each.get("reasoning_content") for each in messages if each["role"] == "assistant"]


def test_no_reasoning_at_all():
    """
    A conversation without reasoning has no field for it.
    """
    assert [{"role": "assistant", "content": "Hello world"}] == sent(SAMPLES["plain text"], "deepseek")[0]


def test_calls_and_results():
    """
    All results follow the message with the calls at once, in its order; inputs are the text that came.
    """
    messages, drops = encoded(USER, answered(SAMPLES["calls by turns"], "one", {"two": 2}))

    assert [
        {"role": "assistant", "content": None, "tool_calls": [written(), written("call_00002", "g", '{"b":2}')]},
        {"role": "tool", "tool_call_id": "call_00001", "content": "one"},
        {"role": "tool", "tool_call_id": "call_00002", "content": '{"two":2}'},
    ] == messages[1:]
    assert [] == drops


def test_an_input_that_no_writer_of_json_would_write():
    """
    It is sent back as it came.
    """
    given = '{ "b" : 1.50, "a":"\\u00e9\\/" }'
    turn = answer(J("", id="call_00001", name="f"), J(given), finish_reason="tool_calls")
    [_, asked, _], _ = encoded(USER, answered(turn, "one"))

    assert given == asked["tool_calls"][0]["function"]["arguments"]


def test_a_signed_call():
    """
    The signature of Gemini is beside its call.
    """
    [asked, _], _ = sent(SAMPLES["signed call"], "somewhere")

    assert [written(extra_content={"google": {"thought_signature": "AVSoXO4lu90Bn7Ix"}})] == asked["tool_calls"]


def test_a_signed_text():
    """
    The signature of an answer without calls is beside its text, as plain JSON.
    """
    [asked], _ = sent(SAMPLES["signed text"], "somewhere")

    assert '{"google": {"thought_signature": "AVSoXO4lu90Bn7Ix"}}' == json.dumps(asked["extra_content"])


def test_other_kinds_of_calls():
    """
    Custom tools and old functions go back in their own form.
    """
    [custom, _], _ = sent(SAMPLES["custom tool"])
    [old, result], _ = sent(SAMPLES["old function"])

    assert [{"id": "call_00001", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}] == custom[
        "tool_calls"
    ]
    assert {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}} == old
    assert ("function", "f") == (result["role"], result["name"])


def test_a_call_without_an_answer():
    """
    Each call has a result, or the server refuses all.
    """
    [_, result], drops = sent(SAMPLES["signed call"])

    assert ("tool", "call_00001") == (result["role"], result["tool_call_id"])
    assert [(0, "no-answer")] == drops


def test_a_call_without_a_name():
    """
    It has no result, and a server refuses a call without one: it is left out, and reported.
    """
    body = answer(J('{"a":1}', 0, "call_00001"), J("{}", 1, "call_00002", "f"), finish_reason="tool_calls")
    [asked, result], drops = sent(body)

    assert [written("call_00002", arguments="{}")] == asked["tool_calls"]
    assert "call_00002" == result["tool_call_id"]
    assert [(0, "no-answer"), (1, "unplaced")] == sorted(drops)


def test_a_call_without_a_name_alone():
    """
    An answer with nothing else is not sent.
    """
    assert ([], [(0, "unplaced")]) == sent(answer(J("{}", 0, "a"), finish_reason="tool_calls"))


def test_an_input_that_is_not_json():
    """
    Servers parse inputs: one that is cut is sent as an empty object, and its result has the fault.
    """
    [asked, result], drops = sent(SAMPLES["input that was cut"])

    assert [written(arguments="{}")] == asked["tool_calls"]
    assert "not run" in result["content"]
    assert [(0, "uncalled")] == drops


@pytest.mark.parametrize("arguments", ["null", "", " \n"])
def test_an_input_that_is_none(arguments):
    """
    A call without input has an empty object.
    """
    [asked, _], _ = sent(answer(J(arguments, 0, "call_00001", "f")))

    assert [written(arguments="{}")] == asked["tool_calls"]


def test_a_free_text_that_is_json():
    """
    The tools of other dialects have free text under a name, also where it could be an input itself.
    """
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_00001", "name": "sql", "input": '{"a":1}'}
    document = {"id": "resp_1", "status": "completed", "output": [item]}
    asked = encoded(USER, message_of(load_dialect("openai-responses"), document))[0][1]

    assert {"input": '{"a":1}'} == json.loads(asked["tool_calls"][0]["function"]["arguments"])


def test_media_of_results():
    """
    A result is text; images follow all results, as a message of the user.
    """
    output = [TextContent("See"), MediaContent(media_type="image/png", data=b"\x89PNG")]
    messages, drops = encoded(USER, answered(SAMPLES["calls by turns"], output, "two"))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}

    assert [("tool", "See"), ("tool", "two"), ("user", [image])] == [
        (each["role"], each["content"]) for each in messages[2:]
    ]
    assert [] == drops


def test_tools_of_the_server():
    """
    What the server has run itself cannot be sent.
    """
    [asked], drops = sent(SAMPLES["executed tool"], "groq")

    assert {"role": "assistant", "content": "It is so.", "reasoning": "Searching"} == asked
    assert [(1, "unplaced")] == drops


def test_a_tool_whose_result_is_a_message():
    """
    Mistral takes back the messages of an answer in which it has run a tool, also where the result is the last.
    """
    messages, drops = sent(SAMPLES["tool in messages"], "mistral")
    asked, result, said = [{key: each[key] for key in each if key != "index"} for each in drawn()]
    cut, _ = sent(answer(*[D(**each) for each in drawn()[:2]]), "mistral")
    signed, _ = sent(answer(*[D(**each) for each in drawn(signature="c2ln")]), "mistral")
    elsewhere, others = sent(SAMPLES["tool in messages"])

    assert ([asked, result, said], []) == (messages, drops)
    assert [asked, result] == cut
    assert [asked, result, {**said, "signature": "c2ln"}] == signed

    content = [{"type": "text", "text": "A cat"}, {"type": "image_url", "image_url": "https://u.example/i.jpg"}]
    result |= {"content": content, "metadata": {"took": 2}}
    _, kept, _ = sent(answer(*[D(**each) for each in (asked, result, said)]), "mistral")[0]

    assert result == kept

    assert ([{"role": "assistant", "content": "I draw.Here it is."}], [(1, "unplaced")]) == (elsewhere, others)


IDS = {
    "its own": ("call_00001", "openai", "call_00001"),
    "of Kimi": ("functions.f:0", "moonshot", "functions.f:0"),
    "valid for Mistral": ("abcDEF123", "mistral", "abcDEF123"),
}


@pytest.mark.parametrize(("ident", "provider", "expected"), IDS.values(), ids=IDS)
def test_ids(ident, provider, expected):
    """
    The id of a call is sent back as it came.
    """
    [asked, result], _ = sent(answer(J("{}", 0, ident, "f")), provider)

    assert [expected] == [each["id"] for each in asked["tool_calls"]]
    assert expected == result["tool_call_id"]


LONG = f"call_28e3e2b0__thought__{'CiQB' * 20}"


@pytest.mark.parametrize(("provider", "is_own"), [("openai", False), ("litellm", True)])
def test_long_ids(provider, is_own):
    """
    OpenAI takes ids of 40 characters; LiteLLM has the signature in its own, which returns.
    """
    [asked, result], _ = sent(answer(J("{}", 0, LONG, "f")), provider)
    [ident] = [each["id"] for each in asked["tool_calls"]]

    assert is_own is (ident == LONG)
    assert len(ident) == (len(LONG) if is_own else 40)
    assert ident == result["tool_call_id"]


@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_a_name_of_the_greatest_length(provider):
    """
    OpenAI and Mistral take 64 characters, of which a longer one keeps the first.
    """
    [asked, *_], _ = sent(answer(J("{}", 0, "call_1", "f" * 64), J("{}", 1, "call_2", "g" * 65)), provider)

    assert ["f" * 64, "g" * 64] == [each["function"]["name"] for each in asked["tool_calls"]]


@pytest.mark.parametrize(
    ("provider", "expected"),
    [("openai", "functions_f"), ("azure", "functions_f"), ("mistral", "functions_f"), ("vllm", "functions.f")],
)
def test_names(provider, expected):
    """
    OpenAI and Mistral take names of letters, digits, `_` and `-`, and models make others.
    """
    [asked, _], _ = sent(answer(J("{}", 0, "call_1", "functions.f")), provider)

    assert [expected] == [each["function"]["name"] for each in asked["tool_calls"]]


SIGNING = {
    "another provider": ("openai", "m", "google", "gemini-3.6-flash", False),
    "another model": ("google", "gemini-3-pro", "google", "gemini-3.6-flash", False),
    "its own": ("google", "gemini-3.6-flash", "google", "gemini-3.6-flash", True),
    "Vertex": ("openai", "m", "vertex", "google/gemini-3.6-flash", False),
    "an older model": ("openai", "m", "google", "gemini-2.5-flash", True),
    "OpenRouter, another model": ("openrouter", "openai/gpt-5.5", "openrouter", "google/gemini-3.6-flash", False),
    "OpenRouter, its own": ("openrouter", "google/gemini-3.6-flash", "openrouter", "google/gemini-3.6-flash", True),
    "another gateway": ("openai", "m", "litellm", "gemini-3.6-flash", True),
    "a model of others": ("openai", "m", "vertex", "meta/llama-4", True),
}


@pytest.mark.parametrize(("asked", "name", "provider", "model", "is_call"), SIGNING.values(), ids=SIGNING)
def test_a_call_whose_signature_is_not_sent(asked, name, provider, model, is_call):
    """
    “Function call is missing a thought_signature”: Gemini 3 refuses it behind the wire of OpenAI, too (securo#884).

    OpenRouter does not make up for it (LibreChat-AI/agents#37).
    """
    found = events(SAMPLES["signed call"], provider=asked, request={"model": name})
    found.append(fold(found).last.tool_calls[0].succeed("ok"))
    request = DIALECT.encoder([USER, fold(found).last], {"model": model}, provider=provider)
    messages = request.body["messages"]

    assert (["user", "assistant", "tool"] if is_call else ["user", "user"]) == [each["role"] for each in messages]
    assert is_call != ("reworded" in [str(drop.reason) for drop in request.drops])


def test_a_call_whose_own_signature_was_refused():
    """
    Without its state it would be refused as one of another model is.
    """
    found = events(SAMPLES["signed call"], provider="google", request={"model": "gemini-3.6-flash"})
    found.append(fold(found).last.tool_calls[0].succeed("ok"))
    messages = [USER, fold(found).last]
    request = DIALECT.encoder(messages, {"model": "gemini-3.6-flash"}, provider="google", strip=True)

    assert ["user", "user"] == [each["role"] for each in request.body["messages"]]


def test_a_call_of_an_earlier_turn_to_gemini():
    """
    Signatures are wanted in the current turn alone.
    """
    found = events(SAMPLES["signed call"], provider="openai")
    found.append(fold(found).last.tool_calls[0].succeed("ok"))
    messages = [USER, fold(found).last, UserMessage(id="u2", content="And?")]
    request = DIALECT.encoder(messages, {"model": "google/gemini-3.6-flash"}, provider="openrouter")

    assert ["user", "assistant", "tool", "user"] == [each["role"] for each in request.body["messages"]]


def test_an_encrypted_detail_without_data():
    """
    OpenRouter has sent such, and refuses them (cline#8214): “expected string, received undefined”.
    """
    [asked], drops = sent(answer(D(reasoning_details=[piece("encrypted", id="c1")]), T("Yes.")), "openrouter")

    assert {"role": "assistant", "content": "Yes."} == asked
    assert [(0, "unplaced")] == drops


def test_a_lost_signature_of_gemini():
    """
    Where the app wants it, the first call of a step of another model has the value that Google documents.
    """
    policy = attrs.evolve(DIALECT.policy, lost_signature="skip_thought_signature_validator")
    messages = [USER, of(SAMPLES["calls by turns"], "openai")]
    request = DIALECT.encoder(messages, {"model": "gemini-3-flash"}, provider="google", policy=policy)
    calls = request.body["messages"][1]["tool_calls"]

    assert {"google": {"thought_signature": "skip_thought_signature_validator"}} == calls[0]["extra_content"]
    assert [False] * (len(calls) - 1) == ["extra_content" in each for each in calls[1:]]
    assert len(calls) > 1
    assert 1 == [str(drop.reason) for drop in request.drops].count("placeholder")


def test_ids_for_mistral():
    """
    Mistral takes ids of nine letters and digits alone.
    """
    messages, _ = encoded(USER, answered(SAMPLES["calls by turns"], "1", "2"), provider="mistral")
    ids = [each["id"] for each in messages[1]["tool_calls"]]

    assert [9, 9] == [len(each) for each in ids if each.isalnum()]
    assert ids == [each["tool_call_id"] for each in messages[2:]]
    assert 2 == len(set(ids))


def test_ids_that_come_again():
    """
    Servers count their calls from 0 in each answer: the request has unique ids.
    """
    first, second = [
        fold(decoder.feed(answer(J("{}", 0, "call_0", "f"))) + decoder.close()).last
        for decoder in map(DIALECT.decoder, ("a1", "a2"))
    ]
    messages, _ = encoded(USER, first, UserMessage(id="u2", content="Go on"), second)
    ids = [call["id"] for each in messages for call in each.get("tool_calls", ())]

    assert ["call_0", "call_0_2"] == ids


PROMPTS = {
    "a text": ([TextContent("Hi")], "Hi"),
    "two texts": ([TextContent("a"), TextContent("b")], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    "json": ([JsonContent({"a": 1})], '{"a":1}'),
    "an image": (
        [MediaContent(media_type="image/png", uri="https://u.example/i.png")],
        [{"type": "image_url", "image_url": {"url": "https://u.example/i.png"}}],
    ),
    "audio": (
        [MediaContent(media_type="audio/wav", data=b"\x00")],
        [{"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}],
    ),
    "audio with an older name": (
        [MediaContent(media_type="audio/x-wav", data=b"\x00")],
        [{"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}],
    ),
    "a document": (
        [MediaContent(media_type="application/pdf", data=b"\x00")],
        [{"type": "file", "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,AA=="}}],
    ),
}


@pytest.mark.parametrize(("content", "expected"), PROMPTS.values(), ids=PROMPTS)
def test_prompts(content, expected):
    """
    One text is a string, anything else an array.
    """
    messages, drops = encoded(UserMessage(id="u1", content=tuple(content)))

    assert ([{"role": "user", "content": expected}], []) == (messages, drops)


def test_content_without_a_place():
    """
    A video has no form in this wire, and the model learns that there was one.
    """
    messages, drops = encoded(UserMessage(id="u1", content=(MediaContent(media_type="video/mp4", data=b"\x00"),)))

    assert [{"role": "user", "content": "The user has sent video/mp4, which cannot be passed on."}] == messages
    assert [(None, "unsupported")] == drops


def test_system_messages():
    """
    The app gives the messages of the system, and they come first.
    """
    system, developer = [{"role": role, "content": "Be brief."} for role in ("system", "developer")]
    messages, _ = encoded(USER, messages=[system, developer])

    assert [system, developer, ASKED] == messages


def test_other_messages_of_the_body():
    """
    A conversation comes out of the transcript alone.
    """
    with pytest.raises(ValueError, match="messages come out of the transcript"):
        encoded(USER, messages=[{"role": "user", "content": "Hi"}])


def test_a_summary():
    """
    A summary of the app is a prompt.
    """
    summary = CompactionMessage(id="s1", reason="manual", status="completed", text="They met.")

    assert [{"role": "user", "content": "They met."}, ASKED] == encoded(summary, USER)[0]


def test_stripped():
    """
    Without state, no reasoning and no signature is sent.
    """
    request = DIALECT.encoder(
        [USER, of(SAMPLES["signed call"], "somewhere")], {"model": MODEL}, provider="somewhere", strip=True
    )

    assert [written()] == request.body["messages"][1]["tool_calls"]


SIGNED = {"signature": "EqQBCkgIChABGAI"}
SEAL = {"provider_specific_fields": {"thought_signature": "AVSoXO4lu90Bn7Ix"}}
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], **SIGNED}
FUNCTION = {"index": 0, "id": "call_00001", "function": {"name": "f", "arguments": "{}", **SEAL}}

SIGNATURES = {
    "reasoning details": ("openrouter", SAMPLES["reasoning details"]),
    "encrypted reasoning": ("openrouter", SAMPLES["encrypted reasoning"]),
    "signed call": ("openrouter", SAMPLES["signed call"]),
    "call of LiteLLM": ("litellm", answer(J("{}", 0, "call_00001", "f", **SEAL))),
    "function of LiteLLM": ("litellm", answer(D(tool_calls=[FUNCTION]))),
    "thought of Mistral": ("mistral", answer(D(content=[THOUGHT]), T("Yes."))),
    "call of Venice": ("venice", answer(J("{}", 0, "call_00001", "f", thought_signature="AVSoXO4lu90Bn7Ix"))),
}


@pytest.mark.parametrize(("provider", "body"), SIGNATURES.values(), ids=SIGNATURES)
def test_state_of_another_model(provider, body):
    """
    What one model has signed stays behind when another one is asked at the same server.
    """
    answered = message(body, request={"model": "maker/one"}, provider=provider)
    [_, own, *_], _ = encoded(USER, answered, model="maker/one", provider=provider)
    [_, moved, *_], drops = encoded(USER, answered, model="maker/two", provider=provider)

    assert any("signature" in str(own[key]) or "data" in str(own[key]) for key in own)
    assert not any("signature" in str(moved[key]) or "data" in str(moved[key]) for key in moved)
    assert "other-model" in {reason for place, reason in drops if place is not None}


def test_annotations():
    """
    OpenRouter takes back what it has parsed of a file; others refuse the field.
    """
    body = answer(T("It is."), D(annotations=[{"type": "file", "file": {"hash": "0a1b2c3d"}}]))
    [kept], _ = sent(body, "openrouter")
    [bare], drops = sent(body, "groq")

    assert [{"type": "file", "file": {"hash": "0a1b2c3d"}}] == kept["annotations"]
    assert ({"role": "assistant", "content": "It is."}, [(0, "unplaced")]) == (bare, drops)


UNPLACED = {
    "details": ("groq", [R("Hm", "reasoning"), D(reasoning_details=[ENCRYPTED])], {"reasoning": "Hm"}),
    "blocks": (
        "deepseek",
        [R("Hm"), D(thinking_blocks=[{"type": "thinking", "thinking": "Hm", "signature": "EqQB"}])],
        {"reasoning_content": "Hm"},
    ),
}


@pytest.mark.parametrize(("provider", "chunks", "expected"), UNPLACED.values(), ids=UNPLACED)
def test_state_without_a_place(provider, chunks, expected):
    """
    What a server sends and does not take back is left out, and reported.
    """
    found, drops = sent(answer(*chunks, T("Yes.")), provider)

    assert [{"role": "assistant", "content": "Yes.", **expected}] == found
    assert [(0, "unplaced")] == drops


def test_an_image_of_the_answer():
    """
    OpenRouter takes back images that its models made.
    """
    [kept], _ = sent(SAMPLES["image"], "openrouter")

    assert [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}] == kept["images"]


def test_a_detail_in_two_pieces_around_a_text():
    """
    Pieces of one index are one detail, with the signature of the last.
    """
    head = {"type": "reasoning.text", "index": 0}
    pieces = [
        D(reasoning_details=[{**head, "text": "a"}]),
        T("x"),
        D(reasoning_details=[{**head, "text": "b"} | SIGNED]),
    ]
    [found], _ = sent(answer(*pieces), "openrouter")

    assert [{**head, "text": "ab", **SIGNED}] == found["reasoning_details"]


@pytest.mark.parametrize("ids", [[{}, {}], [{"index": 0}] * 2, [{"tool_call_id": "a"}, {"tool_call_id": "b"}]])
@pytest.mark.parametrize("in_one", [True, False])
def test_tools_that_openrouter_has_run(ids, in_one):
    """
    Each record of one comes whole, so two of them are two, also without the ids that they may have.
    """
    head = {"type": "reasoning.server_tool_call", "tool_name": "openrouter:fusion", "result": "found"}
    details = [{**head, "arguments": json.dumps({"query": at}), **ident} for at, ident in enumerate(ids)]
    pieces = [D(reasoning_details=details)] if in_one else [D(reasoning_details=[each]) for each in details]
    [found], _ = sent(answer(*pieces, T("Yes.")), "openrouter")

    assert details == found["reasoning_details"]


def test_a_detail_of_no_known_type():
    """
    One whose type is not a string has its text where most have it.
    """
    detail = {"type": ["reasoning.text"], "index": 0, "text": "a"}
    [found], _ = sent(answer(D(reasoning_details=[detail])), "openrouter")

    assert [detail] == found["reasoning_details"]


def test_a_signed_block_without_text():
    """
    Its text is sent with it, which is empty.
    """
    sealed = {"type": "thinking", "thinking": "", "signature": "S" * 20}
    [found], _ = sent(answer(D(thinking_blocks=[sealed]), T("Yes.")), "litellm")

    assert [sealed] == found["thinking_blocks"]


def test_a_thought_of_mistral_for_another_model():
    """
    Models that do not think refuse it: “Reasoning input is not enabled for this model” (code 3051, live, 2026).
    """
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm", "signature": "S" * 20}]}
    body = answer(D(content=[thought]), T("Yes."))
    messages, drops = encoded(USER, of(body, "mistral"), provider="mistral", model="ministral-3b")

    assert {"role": "assistant", "content": "Yes."} == messages[1]
    assert (0, "other-model") in drops


def test_the_encrypted_reasoning_of_qwen():
    """
    It is in the message of its answer, beside the summary, also where that has calls; another model gets none.
    """
    body = answer(R("A summary."), D(encrypted_content="gAAAAABp0Q2=="), J("{}", 0, "call_00001", "f"))
    answered = message(body, request={"model": "qwen4-max"}, provider="alibaba")
    [_, own, *_], _ = encoded(USER, answered, model="qwen4-max", provider="alibaba")
    [_, moved, *_], _ = encoded(USER, answered, model="qwen3-max", provider="alibaba")

    assert ("A summary.", "gAAAAABp0Q2==") == (own["reasoning_content"], own["encrypted_content"])
    assert "encrypted_content" not in moved


def test_the_encrypted_copy_of_a_thought():
    """
    Venice reads all behind its mark as the copy, so it is the end of the thought; another server gets none.
    """
    copy = "\n\n__ENCRYPTED_REASONING__id=rs_1\ngAAAAABp0Q2=="
    body = answer(R("Plan. "), D(reasoning_content=copy, reasoning_encrypted=True), R("More."), T("Done."))
    answered = message(body, provider="venice")
    [_, own, *_], _ = encoded(USER, answered, provider="venice")
    [_, moved, *_], _ = encoded(USER, answered, provider="deepseek")

    assert {"role": "assistant", "content": "Done.", "reasoning_content": f"Plan. More.{copy}"} == own
    assert "gAAAA" not in str(moved)


@pytest.mark.parametrize(
    ("provider", "media_type", "expected"),
    [
        ("openai", "application/pdf", {"type": "file", "file": {"file_id": "file-1"}}),
        ("azure", "application/pdf", None),
        ("mistral", "application/pdf", None),
        ("openai", "image/png", None),
        ("openrouter", "application/pdf", None),
    ],
)
def test_files_that_openai_stores(provider, media_type, expected):
    """
    It reads PDFs by their id; other types and servers do not.
    """
    asked = UserMessage(id="u1", content=["Hi", MediaContent(media_type=media_type, uri="file-1")])
    request = DIALECT.encoder([asked], {"model": MODEL}, provider=provider)

    assert ([expected] if expected else []) == [
        each for each in request.body["messages"][0]["content"] if isinstance(each, dict) and each["type"] != "text"
    ]
    assert (expected is None) == bool(request.drops)


def test_a_file_at_an_address():
    """
    The wire has no field for it.
    """
    asked = UserMessage(
        id="u1", content=["Hi", MediaContent(media_type="application/pdf", uri="https://u.example/a.pdf")]
    )
    request = DIALECT.encoder([asked], {"model": MODEL})

    assert [{"role": "user", "content": "Hi"}] == request.body["messages"]
    assert ["unsupported"] == [drop.reason for drop in request.drops]


@pytest.mark.parametrize("provider", ["llama.cpp", "ollama", "vllm", "azure", "deepseek"])
def test_a_file_that_the_server_refuses(provider):
    """
    It is left out and reported: the server would refuse this and every later request (LibreChat#16234).

    Azure reads none in this wire (pydantic-ai#4035), and DeepSeek has no such part.
    """
    pdf = MediaContent(media_type="application/pdf", data=b"\0")
    messages, drops = encoded(UserMessage(id="u1", content=[TextContent("Hi"), pdf]), provider=provider)

    assert ([ASKED], [(None, DropReason.UNSUPPORTED)]) == (messages, drops)


@pytest.mark.parametrize(
    ("media", "url"),
    [
        (MediaContent(media_type="application/pdf", data=b"\0"), "data:application/pdf;base64,AA=="),
        (MediaContent(media_type="application/pdf", uri="https://u.example/a.pdf"), "https://u.example/a.pdf"),
    ],
)
def test_a_file_for_mistral(media, url):
    """
    Mistral has a part of its own for a PDF: in the usual one it reads an id alone (vercel/ai, litellm).
    """
    messages, drops = encoded(UserMessage(id="u1", content=[TextContent("Hi"), media]), provider="mistral")

    assert {"type": "document_url", "document_url": url} == messages[0]["content"][-1]
    assert [] == drops


@pytest.mark.parametrize(
    ("media", "sent"),
    [
        (MediaContent(media_type="audio/wav", data=b"\0"), "AA=="),
        (MediaContent(media_type="audio/mpeg", uri="https://u.example/a.mp3"), "https://u.example/a.mp3"),
    ],
)
def test_audio_for_mistral(media, sent):
    """
    Mistral reads a string, which is the base64 text or the address (its manual and client, rig, langchain4j).
    """
    messages, drops = encoded(UserMessage(id="u1", content=[TextContent("Hi"), media]), provider="mistral")

    assert {"type": "input_audio", "input_audio": sent} == messages[0]["content"][-1]
    assert [] == drops


def test_audio_by_the_id_of_a_file():
    """
    No server of this wire has files of audio, and Mistral would read the id as base64.
    """
    messages, drops = encoded(
        UserMessage(id="u1", content=[TextContent("Hi"), MediaContent(media_type="audio/wav", uri="file-1")]),
        provider="mistral",
    )

    assert ([ASKED], [(None, DropReason.UNSUPPORTED)]) == (messages, drops)


@pytest.mark.parametrize(
    ("provider", "kind", "is_seen"),
    [
        ("openai", "image/gif", True),
        ("openai", "image/bmp", False),
        ("azure", "image/bmp", False),
        ("azure", "image/svg+xml", False),
        ("vllm", "image/svg+xml", False),
        ("vllm", "image/bmp", True),
    ],
)
def test_an_image_that_a_server_does_not_read(provider, kind, is_seen):
    """
    OpenAI names the four types that it takes, and no server reads SVG: each later request was refused, too.

    Measured for BMP in 2026-09 (opencode-gpt-imagegen#82), for SVG also at Qwen (open-webui#30100).
    """
    media = MediaContent(media_type=kind, data=b"<svg/>")
    [asked], drops = encoded(UserMessage(id="u1", content=[TextContent("Hi"), media]), provider=provider)

    assert is_seen == (asked["content"] != "Hi")
    assert is_seen == (drops == [])


def test_the_id_of_a_reasoning_that_is_stored_nowhere():
    """
    OpenRouter sends items of OpenAI with their ids, which are not found without encrypted content (langchain#37777).

    With it OpenRouter has accepted them, and the ids of other details are those of calls, which Gemini needs.
    """
    details = [
        {**SUMMARY, "id": "rs_1"},
        {**SUMMARY, "id": "rs_2", "index": 1},
        {**ENCRYPTED, "id": "rs_2", "index": 2},
    ]
    details += [{**ENCRYPTED, "id": "call_1", "index": 3}]
    [asked], drops = sent(answer(*[D(reasoning_details=[each]) for each in details], T("Yes.")), "openrouter")

    assert [SUMMARY, *details[1:]] == asked["reasoning_details"]
    assert [] == drops


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("nvidia", "mistralai/ministral-14b-2512"),
        ("vllm", "Devstral-Small-2507"),
        ("venice", "mistral-31-24b"),
    ],
)
def test_a_model_of_mistral_behind_another_server(provider, model):
    """
    It refuses a prompt behind a result, and ids that are not its own (hermes-agent#20154, opencode).
    """
    called = answered(answer(J("{}", 0, "functions.f:0", "f")), "1", provider=provider)
    [_, asked, result, between, last], _ = encoded(
        USER, called, UserMessage(id="u2", content="Go on"), provider=provider, model=model
    )
    [ident] = [each["id"] for each in asked["tool_calls"]]

    assert (9, True) == (len(ident), ident.isalnum())
    assert ident == result["tool_call_id"]
    assert ("assistant", "user") == (between["role"], last["role"])


@pytest.mark.parametrize("provider", ["copilot", "openrouter", "litellm"])
def test_an_id_that_claude_refuses(provider):
    """
    Claude takes letters, digits, `_` and `-` in the id of a call, and gateways pass on what another model has made.
    """
    called = answered(answer(J("{}", 0, "functions.f:0", "f")), "1", provider=provider)
    [_, asked, result], _ = encoded(USER, called, provider=provider, model="claude-sonnet-4.5")

    assert ["functions_f_0"] == [each["id"] for each in asked["tool_calls"]]
    assert "functions_f_0" == result["tool_call_id"]


@pytest.mark.parametrize(
    ("provider", "expected"), [("openai", ""), ("openrouter", "The call has returned no text.")], ids=str
)
def test_a_result_without_a_text(provider, expected):
    """
    Gemini behind OpenRouter refuses an empty one: "it must include at least one parts field" (Roo-Code#10672).
    """
    old = answer(D(function_call={"name": "f", "arguments": "{}"}), finish_reason="function_call")
    for body in (answer(J("{}", 0, "call_1", "f")), old):
        [_, _, result], _ = encoded(USER, answered(body, "", provider=provider), provider=provider)

        assert expected == result["content"]


def test_a_prompt_of_several_texts():
    """
    Text models of Workers AI, SambaNova and others refuse an array, where one is not needed (opencode#30381).
    """
    texts, image = (TextContent("a"), TextContent("b")), UserMessage(id="u2", content=(IMAGE, TextContent("c")))
    messages, _ = encoded(UserMessage(id="u1", content=texts), image, provider="sambanova")

    assert "a\nb" == messages[0]["content"]
    assert ["image_url", "text"] == [each["type"] for each in messages[1]["content"]]


def test_the_state_of_a_call_of_gigachat():
    """
    GigaChat finds its call again by an id in the message (maximhq/bifrost: gigachat/chat.go).
    """
    called = D("function_call", function_call={"name": "f", "arguments": {"a": 1}}, functions_state_id="77d3fb14")
    answered = message(answer(called), provider="gigachat")
    sent = encoded(answered, provider="gigachat")[0][0]

    assert ("77d3fb14", "f") == (sent["functions_state_id"], sent["function_call"]["name"])
    assert "functions_state_id" not in encoded(answered, provider="openai")[0][0]
