"""
Streams of every shape that the wire has: what holds for any adapter is tried on each.
"""

from .notation import B, C, D, E, G, H, J, K, M, O, R, T, U, X, answer, stream, text, tool

NOVA = {"id": "tooluse_n", "name": "nova_code_interpreter", "type": "server_tool_use"}
RAN = {"json": {"stdOut": "4950\n", "stdErr": "", "exitCode": 0, "isError": False}}
WEB = {"location": {"web": {"url": "https://ruby-lang.org/en/", "domain": "ruby-lang.org"}}}
FACTS = {
    "title": "facts",
    "sourceContent": [{"text": "Ruby was created by Matz."}],
    "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 73}},
}
TRACE = {"guardrail": {"modelOutput": ["Tokyo is the capital."], "actionReason": "Guardrail intervened."}}


def result(index, *content, id="tooluse_n", type="nova_code_interpreter_result", **more):
    """
    Return the events of a result of a tool of the provider.
    """
    return B(index, toolResult={"toolUseId": id, "type": type, **more}), O(index, *content), X(index)


SAMPLES = {
    "plain text": answer(T(0, "Hello"), T(0, ", wörld"), X(0)),
    "many deltas": answer(*[T(0, f"piece {at} ") for at in range(12)], X(0)),
    "two texts": answer(*text(0, "One."), *text(1, "Two.")),
    "reasoning": answer(
        *[H(0, f"thought {at} ") for at in range(8)], G(0, "EpwCc2lnbmF0dXJl"), X(0), *text(1, "Sunny.")
    ),
    "two thoughts and two runs of code": answer(
        *(H(0, "First of all"), G(0, "EpwCZmlyc3Qtc2lnbmF0dXJl"), X(0), R(1, "cnNuX3BVUGgxNnRv"), X(1)),
        *(*tool(2, **NOVA, input='{"code":"one"}'), *tool(3, **{**NOVA, "id": "tooluse_m"}, input='{"code":"two"}')),
        *(B(4, toolResult={"toolUseId": "tooluse_n", "type": "nova_code_interpreter_result", "status": "success"}),),
        *(O(4, {"text": "What came first, "}), O(4, {"text": "and then"}), X(4)),
        *result(5, {"text": "What came then"}, id="tooluse_m", status="error"),
        *(H(6, "Then again"), G(6, "EpwCc2Vjb25kLXNpZ25hdHVyZQ=="), X(6), R(7, "cnNuX3BVUGgyNnRv"), X(7)),
        *text(8, "So."),
    ),
    "reasoning without a signature": answer(H(0, "Let me see."), X(0), *text(1, "Sunny.")),
    "redacted content": answer(R(0, "cnNuX3BVUGgx"), X(0), *tool(1), reason="tool_use"),
    "redacted content in pieces": answer(R(0, "cnNuX3BV"), R(0, "UGgxNnRv"), X(0), *text(1, "So.")),
    "parallel calls": answer(
        *text(0, "I look."),
        *(B(1, toolUse={"toolUseId": "tooluse_1", "name": "f"}), J(1, ""), J(1, '{"a"'), J(1, ': "é"}'), X(1)),
        *tool(2, "tooluse_2", "g"),
        reason="tool_use",
    ),
    "call without arguments": answer(B(0, toolUse={"toolUseId": "tooluse_1", "name": "f"}), X(0), reason="tool_use"),
    "input that was cut": answer(*tool(0, input='{"a":'), reason="max_tokens"),
    "malformed call": answer(*text(0, "I try."), *tool(1, input='{"a":')[:2], reason="malformed_tool_use"),
    "code interpreter": answer(*tool(0, **NOVA), *result(1, RAN, status="success"), *text(2, "It is 4950.")),
    "failed code": answer(*tool(0, **NOVA), *result(1, {"text": "no sandbox"}, status="error"), *text(2, "Sorry.")),
    "result with an image": answer(
        *tool(0, **NOVA),
        *result(1, {"text": "a plot"}, {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}),
        *text(2, "See."),
    ),
    "result without a call": answer(*result(0, RAN, id="tooluse_0"), *text(1, "Hm.")),
    "call without a result": answer(*tool(0, **NOVA), *text(1, "Hm.")),
    "citations": answer(
        *(T(0, "Matz"), C(0, **FACTS), T(0, " made it."), X(0)),
        *(T(1, "See its page."), C(1, **WEB), X(1)),
        *text(2, "Fin."),
    ),
    "citation before its text": answer(C(0, **FACTS), T(0, "Matz."), X(0)),
    "guardrail": stream(M, *text(0, "{CITY} it is."), K("guardrail_intervened"), U(trace=TRACE)),
    "image": answer(
        B(0, image={"format": "png"}), D(0, image={"source": {"bytes": "iVBORw0KGgo="}}), X(0), *text(1, "Here.")
    ),
    "without stops": answer(T(0, "a"), H(1, "b"), T(2, "c"), B(3, toolUse={"toolUseId": "t", "name": "f"}), J(3, "{}")),
    "without a start": stream(*text(0, "Hello"), K(), U()),
    "metadata first": stream(M, *text(0, "Hello"), U(), K()),
    "without metadata": stream(M, *text(0, "Hello"), K("max_tokens")),
    "without an end": stream(M, *text(0, "Hello")),
    "facts": stream(
        M,
        *text(0, "Hello"),
        K("stop_sequence", additionalModelResponseFields={"delta": {"stop_sequence": "<<END>>"}}),
        U(
            {"inputTokens": 6, "outputTokens": 2, "cacheReadInputTokens": 14921, "cacheWriteInputTokens": 12},
            serviceTier={"type": "flex"},
            performanceConfig={"latency": "optimized"},
        ),
    ),
    "exception first": stream(E(message="Please wait before you try again")),
    "exception after text": stream(
        M, T(0, "before"), E("modelStreamErrorException", "No", originalStatusCode=500, originalMessage="it broke")
    ),
    "empty deltas": answer(T(0, ""), T(0, "Hello"), T(0, ""), X(0), T(1, ""), X(1)),
    "unknown block": answer(
        B(0, hologram={"beam": [1, 2]}), D(0, hologram={"beam": "wide angle"}), X(0), *text(1, "So.")
    ),
    "unknown delta": answer(T(0, "So"), D(0, hologram={"beam": "wide angle"}), X(0)),
    "unknown event": stream(M, {"telemetry": {"of": True}}, *text(0, "Hello"), K(), U()),
    "overlapping": answer(
        H(0, "one"), T(1, "two"), H(0, " more"), G(0, "EpwCc2lnbmF0dXJl"), T(1, " words"), X(0), X(1)
    ),
    "input that is an object": answer(
        B(0, toolUse={"toolUseId": "tooluse_1", "name": "f"}), D(0, toolUse={"input": {"city": "Oslo"}}), X(0)
    ),
    "facts in one delta": answer(
        D(0, text="Matz", citation=FACTS, hologram={"beam": "wide angle"}), T(0, " made it."), X(0)
    ),
    "call without a name": answer(B(0, toolUse={"toolUseId": "tooluse_1"}), J(0, '{"a":1}'), X(0), *text(1, "Hm.")),
}
