"""
Streams of every shape that the wire has: what holds for any adapter is tried on each.
"""

from .notation import END, PING, B, C, D, E, H, J, K, M, S, T, X, answer, result, stream, text, tool

SEARCH = ({"type": "web_search_result", "url": "https://u", "title": "t", "encrypted_content": "c2VhbGVk"},)
CITED = {
    "type": "web_search_result_location",
    "url": "https://u",
    "title": "t",
    "cited_text": "so",
    "encrypted_index": "x",
}
SERVER = {"id": "srvtoolu_1", "name": "web_search", "type": "server_tool_use"}
SUMMARY = {"content": "It was long.", "encrypted_content": "c2Vj", "signature": "c2ln"}

COUNTS = {"input_tokens": 6, "cache_read_input_tokens": 120, "cache_creation_input_tokens": 31, "output_tokens": 1}
SECOND_SERVER = {**SERVER, "id": "srvtoolu_2"}
SECOND_SEARCH = [{**SEARCH[0], "url": "https://v", "title": "v", "encrypted_content": "YWxzbyBzZWFsZWQ="}]

SAMPLES = {
    "plain text": stream(M(), B(0, "text", text=""), PING, T(0, "Hello"), T(0, " world"), X(0), K(), END),
    "thinking": answer(
        *(B(0, "thinking", thinking="", signature=""), H(0, "Let"), H(0, " me see"), S(0, "EqQB"), X(0)),
        *text(1, "Yes."),
    ),
    "two thoughts and two searches": stream(
        M(usage=COUNTS),
        *(B(0, "thinking", thinking="", signature=""), H(0, "First of all"), S(0, "EqQBZmlyc3Qtc2lnbmF0dXJl"), X(0)),
        *(B(1, "redacted_thinking", data="EmwKAhgBEgy3va3pAAAA"), X(1)),
        *(*tool(2, input='{"query":"one"}', **SERVER), *tool(3, input='{"query":"two"}', **SECOND_SERVER)),
        *(*result(4, content=SEARCH), *result(5, "srvtoolu_2", SECOND_SEARCH)),
        *tool(6, "mcptoolu_1", "echo", type="mcp_tool_use", server_name="s"),
        *result(7, "mcptoolu_1", [{"type": "text", "text": "no echo"}], type="mcp_tool_result", is_error=True),
        *(B(8, "thinking", thinking="", signature=""), H(8, "Then again"), S(8, "EqQBc2Vjb25kLXNpZ25hdHVyZQ=="), X(8)),
        *(B(9, "redacted_thinking", data="EmwKAhgBEgy3va3pBBBB"), X(9), B(10, "text", text="", citations=[])),
        *(T(10, "So it is."), C(10, **CITED), C(10, **{**CITED, "url": "https://v", "title": "v"}), X(10)),
        K("stop_sequence", {**COUNTS, "output_tokens": 977, "output_tokens_details": {"thinking_tokens": 55}}),
        END,
    ),
    "redacted thinking": answer(
        B(0, "redacted_thinking", data="EmwKAhgBEgy3va3p"), X(0), *tool(1), stop_reason="tool_use"
    ),
    "thinking without text": answer(B(0, "thinking", thinking="", signature=""), S(0, "EqQB"), X(0), *text(1, "Yes.")),
    "parallel calls": answer(
        *text(0, "I look."),
        *(B(1, "tool_use", id="toolu_1", name="f", input={}), J(1, ""), J(1, '{"a"'), J(1, ': "é"}'), X(1)),
        *tool(2, "toolu_2", "g", caller={"type": "direct"}),
        stop_reason="tool_use",
    ),
    "call without arguments": answer(*tool(0, input=""), stop_reason="tool_use"),
    "input in the start": answer(
        B(0, "tool_use", id="toolu_1", name="f", input={"a": [1]}, caller={"type": "code_execution_20260120"}),
        X(0),
        stop_reason="tool_use",
    ),
    "input that was cut": answer(
        B(0, "tool_use", id="t", name="f", input={}), J(0, '{"a":'), X(0), stop_reason="max_tokens"
    ),
    "web search": answer(
        *tool(0, input='{"query":"q"}', **SERVER),
        *result(1, content=SEARCH, caller={"type": "direct"}),
        *text(2, "It is"),
        *(B(3, "text", text="", citations=[]), C(3, **CITED), T(3, " so"), X(3)),
        *text(4, "."),
    ),
    "failed search": answer(
        *tool(0, **SERVER),
        *result(1, content={"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}),
        *text(2, "No."),
    ),
    "mcp": answer(
        *tool(0, "mcptoolu_1", "echo", type="mcp_tool_use", server_name="s"),
        *result(1, "mcptoolu_1", [{"type": "text", "text": "hi"}], type="mcp_tool_result", is_error=False),
        *result(2, "mcptoolu_1", "again", type="mcp_tool_result", is_error=True),
    ),
    "paused": answer(*text(0, "I search."), *tool(1, **SERVER), stop_reason="pause_turn"),
    "after a pause": answer(*result(0, "srvtoolu_0", SEARCH), *text(1, "Here."), *tool(2, **SERVER), *result(3)),
    "error first": stream(E(request_id="req_1")),
    "error after text": stream(M(), B(0, "text", text=""), T(0, "He"), T(0, "re"), E()),
    "without an end": stream(M(), *text(0, "Hello")),
    "refusal": stream(
        M(), K("refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "no"}), END
    ),
    "compaction": answer(
        *(B(0, "compaction", content=None), D(0, "compaction_delta", **SUMMARY), X(0)),
        *text(1, "Go on."),
    ),
    "failed compaction": answer(B(0, "compaction", content=None), X(0), *text(1, "Go on.")),
    "unknown block": answer(B(0, "hologram", beam=[1, None]), D(0, "hologram_delta", beam="x"), X(0), *text(1, "So.")),
    "unknown block of text": answer(
        *(B(0, "connector_text", text="So ", signature=""), T(0, "it "), T(0, "went"), S(0, "EqQB"), X(0)),
        *text(1, "Hm."),
    ),
    "unknown block with its own deltas": answer(
        B(0, "connector_text", connector_text="", signature=""),
        *[D(0, "connector_text_delta", connector_text=words) for words in ("It went ", "on and on")],
        *(S(0, "EqQB"), X(0)),
    ),
    "fields of deltas": answer(
        *(B(0, "thinking", thinking="", signature=""), D(0, "thinking_delta", thinking="Hm", logprob=-1.5)),
        *(D(0, "signature_delta", signature="EqQB", key="k1"), X(0)),
        *(B(1, "text", text=""), D(1, "text_delta", text="It is", source="s"), T(1, " so.")),
        *(D(1, "citations_delta", citation=CITED, rank=2), X(1)),
        *(B(2, "tool_use", id="toolu_1", name="f", input={}), D(2, "input_json_delta", partial_json="{}", at=7), X(2)),
        stop_reason="tool_use",
    ),
    "fallback without a stop": answer(B(0, "fallback", to={"model": "b"}), *text(1, "Hello")),
    "fallback behind a call": answer(*tool(0), B(1, "fallback", to={"model": "b"}), X(1), *text(2, "Hello")),
    "fallback": answer(
        B(0, "fallback", **{"from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}),
        X(0),
        *text(1, "Hello"),
    ),
    "overlapping thoughts": answer(
        *(B(0, "thinking", thinking="", signature=""), H(0, "one")),
        *(B(1, "thinking", thinking="", signature=""), H(1, "two")),
        *(H(0, " more"), S(0, "MA=="), X(0), S(1, "MQ=="), X(1)),
        *text(2, "Both."),
    ),
    "blocks without stops": answer(
        B(0, "text", text="a"), T(0, "b"), B(1, "thinking", thinking="c"), B(2, "text", text="d")
    ),
    "container": stream(
        M(container=None, service_tier="standard"),
        *text(0, "Done."),
        K(
            container={"id": "container_1", "expires_at": "2026-11-22T00:00:00Z"},
            beside={"context_management": {"applied_edits": []}},
        ),
        END,
    ),
    "delta before the message": stream(
        *(H(0, "Let me"), M(), B(0, "thinking", thinking="", signature=""), H(0, " see"), S(0, "EqQB"), X(0)),
        *(*text(1, "Yes."), K(), END),
    ),
    "guardrail": stream(
        M(),
        *text(0, "No."),
        K(),
        {**END, "amazon-bedrock-guardrailAction": "INTERVENED", "amazon-bedrock-invocationMetrics": {"n": 1}},
    ),
    "counts of Vertex": stream(M(), *text(0, "Hi."), {"type": "vertex_event", "usage": {"input_tokens": 9}}, K(), END),
    "result of a gateway": answer(
        *tool(0, **SERVER), *result(1, content=[{"type": "text", "text": "found"}], type="tool_result"), *text(2, "So.")
    ),
    "call without a name": answer(B(0, "tool_use", id="toolu_1"), J(0, '{"a":1}'), X(0), *text(1, "Hm.")),
    "starts behind their deltas": answer(*text(0, "a"), B(0, "tool_use", id="t", name="f", input={}), J(1, "{}"), X(1)),
    "results without stops": answer(
        *(*tool(0, **SERVER), *tool(1, **{**SERVER, "id": "srvtoolu_2"})),
        *(result(2, content=SEARCH)[0], result(2, "srvtoolu_2", "none")[0], X(2), *text(3, "Hm.")),
    ),
    "content at the start": stream(
        M(content=[{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}], stop_reason="tool_use"),
        K(None),
        END,
    ),
}
