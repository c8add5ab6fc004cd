"""
Streams of all wires that grow: what a server may repeat, in frames of the notations.
"""

from tests.adapters.anthropic_messages import notation as claude
from tests.adapters.bedrock_converse import notation as converse
from tests.adapters.gemini_generate_content import notation as gemini
from tests.adapters.openai_chat import notation as chat
from tests.adapters.openai_responses import notation as responses


def opened(count, begin, go_on, end):
    """
    Return frames of items that are all open before more of the first of them comes, and end in the other order.
    """
    return [*map(begin, range(count)), *map(go_on, range(count)), *map(end, reversed(range(count)))]


def each(count, *makers):
    return [frame for at in range(count) for make in makers for frame in make(at)]


WIRES = {
    "anthropic-messages": {
        "texts": lambda n: each(n, lambda at: claude.text(at, "a")),
        "calls that are open": lambda n: opened(
            n,
            lambda at: claude.B(at, "tool_use", id=f"c{at}", name="f", input={}),
            lambda at: claude.J(at, "{}"),
            claude.X,
        ),
        "results": lambda n: each(
            n,
            lambda at: claude.tool(2 * at, id=f"c{at}", name="web_search", type="server_tool_use"),
            lambda at: claude.result(2 * at + 1, id=f"c{at}"),
        ),
        "citations": lambda n: [
            claude.T(0, "é" * n),
            *[claude.C(0, type="char_location", start_char_index=at, end_char_index=at + 1) for at in range(n)],
        ],
        "usages": lambda n: [claude.K(None, usage={"output_tokens": at}) for at in range(n)],
    },
    "openai-responses": {
        "texts": lambda n: each(n, lambda at: responses.text(at, "a", id=f"m{at}")),
        "parts of a message": lambda n: [
            responses.added(0, id="m", type="message", content=[]),
            *each(n, lambda at: responses.words(0, "a", place=at)),
            responses.done(0, id="m", type="message", content=[responses.output_text("a")] * n),
        ],
        "parts that are open": lambda n: [responses.delta("output_text", 0, "a", content_index=at) for at in range(n)],
        "summaries that are contents at the end": lambda n: [
            *responses.reasoning(0, *[f"s{at}" for at in range(n)])[:-1],
            responses.done(
                0, type="reasoning", content=[{"type": "reasoning_text", "text": f"s{at}"} for at in range(n)]
            ),
        ],
        "reasonings behind one that is open": lambda n: [
            *responses.reasoning(0, "a", id="r0")[:-1],
            *each(4 * n, lambda at: responses.reasoning(at + 1, "a", id=f"r{at + 1}")),
            responses.reasoning(0, "a", id="r0")[-1],
        ],
        "whole summaries": lambda n: [
            responses.done(0, type="reasoning", summary=[responses.summary(f"s{at}") for at in range(n)])
        ],
        "calls that are open": lambda n: opened(
            n,
            lambda at: responses.added(at, type="function_call", call_id=f"c{at}", name="f", arguments=""),
            lambda at: responses.delta("function_call_arguments", at, "{}"),
            lambda at: responses.done(at, type="function_call", call_id=f"c{at}", name="f", arguments="{}"),
        ),
        "results behind calls": lambda n: [
            *each(n, lambda at: responses.hosted(at, type="shell_call", call_id=f"c{at}", action={})),
            *each(n, lambda at: responses.hosted(n + at, type="shell_call_output", call_id=f"c{at}", output=[])),
        ],
        "results without calls": lambda n: each(
            n, lambda at: responses.hosted(at, type="shell_call_output", call_id=f"c{at}", output=[])
        ),
        "texts without index before other items": lambda n: [
            responses.added(0, id="m", type="message", content=[]),
            *[responses.added(at, id=f"x{at}", type="other") for at in range(1, n)],
            *[{"type": "response.output_text.delta", "delta": "a"}] * n,
        ],
        "starts of the response": lambda n: [
            *each(n, lambda at: responses.text(at, "a", id=f"m{at}")),
            *[responses.frame("in_progress", response=responses.response())] * n,
        ],
        "annotations": lambda n: responses.text(
            0,
            "é" * n,
            annotations=[responses.annotation(0, at, {"type": "url_citation", "url": f"u{at}"}) for at in range(n)],
        ),
    },
    "openai-chat": {
        "texts and reasonings in turn": lambda n: each(n, lambda at: (chat.R("a"), chat.T("b"))),
        "calls that are open": lambda n: opened(
            n,
            lambda at: chat.J("{", index=at, id=f"c{at}", name="f"),
            lambda at: chat.J('"a":1', index=at),
            lambda at: chat.J("}", index=at),
        ),
        "citations": lambda n: [
            chat.D(content="é", annotations=[{"type": "url_citation", "url_citation": {"url": f"u{at}"}}])
            for at in range(n)
        ],
        "log probabilities": lambda n: [chat.D(content="a", choice={"logprobs": {"content": [{"token": "a"}]}})] * n,
        "details": lambda n: [
            chat.D(reasoning_details=[{"type": "reasoning.text", "text": "a", "index": at}]) for at in range(n)
        ],
    },
    "gemini-generate-content": {
        "texts and thoughts in turn": lambda n: each(n, lambda at: (gemini.C(gemini.H("a")), gemini.C(gemini.T("b")))),
        "texts with signatures": lambda n: [gemini.C(gemini.T("a", sig=f"s{at}")) for at in range(n)],
        "calls": lambda n: [gemini.C(*[gemini.F("f", {"a": 1}) for _ in range(n)])],
        "pieces of arguments": lambda n: [
            gemini.C(gemini.F("f", willContinue=True)),
            *[gemini.C(gemini.P(f"$.a[{at}].b", stringValue="x")) for at in range(n)],
            gemini.C(gemini.R),
        ],
        "results behind codes": lambda n: [
            *[gemini.C(gemini.X("x", id=f"c{at}")) for at in range(n)],
            *[gemini.C(gemini.O("1", id=f"c{at}")) for at in range(n)],
        ],
        "grounding": lambda n: [
            *[
                gemini.C(
                    gemini.T("é"),
                    groundingMetadata={
                        "groundingChunks": [{"web": {"uri": f"u{at}"}}],
                        "groundingSupports": [
                            {"segment": {"startIndex": 2 * at, "endIndex": 2 * at + 2}, "groundingChunkIndices": [at]}
                        ],
                    },
                )
                for at in range(n)
            ],
        ],
    },
    "bedrock-converse": {
        "texts": lambda n: each(n, lambda at: converse.text(at, "a")),
        "calls that are open": lambda n: opened(
            n,
            lambda at: converse.B(at, toolUse={"toolUseId": f"c{at}", "name": "f"}),
            lambda at: converse.J(at, "{}"),
            converse.X,
        ),
        "pieces of a result": lambda n: [
            converse.B(0, toolUse={"toolUseId": "c", "name": "f", "type": "server_tool_use"}),
            converse.X(0),
            converse.B(1, toolResult={"toolUseId": "c"}),
            *[converse.O(1, {"text": "a"})] * n,
            converse.X(1),
        ],
        "citations": lambda n: each(
            n, lambda at: (converse.T(0, "é"), converse.C(0, location={"web": {"url": f"u{at}"}}))
        ),
    },
}
"""By dialect, frames that servers repeat."""

ENDS = {
    "anthropic-messages": lambda frames: [claude.M(), *frames, claude.K(), claude.END],
    "openai-responses": lambda frames: [responses.created(), *frames, responses.completed()],
    "openai-chat": lambda frames: [*frames, chat.F()],
    "gemini-generate-content": lambda frames: [*frames, gemini.END],
    "bedrock-converse": lambda frames: [converse.M, *frames, converse.K(), converse.U()],
}


def frames_of(name, family, count):
    """
    Return a whole stream of a dialect, with *count* of what is repeated.
    """
    return ENDS[name](WIRES[name][family](count))
