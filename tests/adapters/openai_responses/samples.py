"""
Streams of the Responses wire, one for each shape that it has. Written by hand.
"""

from assistant_events.adapters import Sse

from .notation import (
    added,
    annotation,
    call,
    completed,
    created,
    delta,
    done,
    failed,
    frame,
    hosted,
    incomplete,
    output_text,
    part,
    reasoning,
    stream,
    summary,
    text,
    thoughts,
    whole,
    words,
)

PATCH = "*** Begin Patch\n+a\n*** End Patch"
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}
FILES = {
    "id": "fs_1",
    "type": "file_search_call",
    "status": "completed",
    "queries": ["q"],
    "results": [{"text": "hit"}],
}
CODE = {
    "id": "ci_1",
    "type": "code_interpreter_call",
    "status": "completed",
    "code": "1+1",
    "container_id": "cntr_1",
    "outputs": [{"type": "logs", "logs": "2"}],
}
IMAGE = {
    "id": "ig_1",
    "type": "image_generation_call",
    "status": "completed",
    "output_format": "webp",
    "result": "AAAA",
}
MCP = {
    "id": "mcp_1",
    "type": "mcp_call",
    "status": "completed",
    "server_label": "wiki",
    "name": "ask",
    "arguments": '{"q": 1}',
    "output": "found",
}
LISTED = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "wiki", "tools": [{"name": "ask"}]}
APPROVAL = {"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "z", "name": "cut", "arguments": "{}"}
SHELL = {
    "id": "sh_1",
    "type": "shell_call",
    "status": "completed",
    "call_id": "call_s",
    "action": {"commands": ["ls"]},
    "environment": {"type": "container_reference", "container_id": "cntr_1"},
}
SHELL_OUTPUT = {
    "id": "sho_1",
    "type": "shell_call_output",
    "status": "completed",
    "call_id": "call_s",
    "output": [{"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}
LOCAL_SHELL = {
    "id": "lsh_1",
    "type": "local_shell_call",
    "status": "completed",
    "call_id": "call_l",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
}
PATCH_CALL = {
    "id": "apc_1",
    "type": "apply_patch_call",
    "status": "completed",
    "call_id": "call_p",
    "operation": {"type": "create_file", "path": "a", "diff": "+a"},
}
COMPUTER = {
    "id": "cu_1",
    "type": "computer_call",
    "status": "completed",
    "call_id": "call_c",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [],
}
TOOL_SEARCH = {
    "id": "tsc_1",
    "type": "tool_search_call",
    "status": "completed",
    "execution": "server",
    "call_id": None,
    "arguments": {"paths": ["weather"]},
}
TOOL_SEARCH_OUTPUT = {
    "id": "tso_1",
    "type": "tool_search_output",
    "status": "completed",
    "execution": "server",
    "call_id": None,
    "tools": [{"type": "function", "name": "weather"}],
}
PROGRAM = {"id": "cm_1", "type": "program", "call_id": "call_g", "code": "run()", "fingerprint": "gAAA-program"}
PROGRAM_OUTPUT = {"id": "cmo_1", "type": "program_output", "status": "completed", "call_id": "call_g", "result": "4"}
COMPACTION = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA-compaction"}
CUSTOM = {"id": "ctc_1", "type": "custom_tool_call", "call_id": "call_x", "name": "patch"}
URL = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 2}
FILE = {"type": "file_citation", "file_id": "file-1", "filename": "a.pdf", "index": 2}
LOGPROBS = [{"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}]
RAW = {"type": "reasoning_text", "text": "raw thought"}


def without(key, frames):
    return [{name: value for name, value in each.items() if name != key} for each in frames]


def rotated(frames):
    """
    Return frames with another id in each, as Copilot sends them.
    """
    found = []
    for at, each in enumerate(frames):
        item = {"item": {**each["item"], "id": f"id-{at}"}} if "item" in each else {}
        found.append({**each, **item, **({"item_id": f"id-{at}"} if "item_id" in each else {})})
    return found


MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant"}

RESULTS = {
    "type": "search_results",
    "queries": ["Oslo"],
    "results": [{"id": 1, "title": "Oslo", "url": "https://a.example", "source": "web"}],
}

PERPLEXITY = stream(
    added(0, id="fc_1", type="function_call", call_id="call_1", name="search_web", arguments='{"queries":["Oslo"]}'),
    frame("reasoning.search_queries", call_id="call_1", queries=["Oslo"], thought="Searching the web..."),
    frame("reasoning.search_results", call_id="call_1", results=RESULTS["results"], thought="Found 1 result"),
    done(0, **RESULTS),
    text(1, "Oslo", ".[1]"),
)

SECOND_SHELL = {**SHELL, "id": "sh_2", "call_id": "call_t", "action": {"commands": ["pwd"]}}
SECOND_SHELL_OUTPUT = {
    **SHELL_OUTPUT,
    "id": "sho_2",
    "call_id": "call_t",
    "output": [{"stdout": "/work\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}],
}

SAMPLES = {
    "text": stream(text(0, "Hi", " there.")),
    "two summaries": stream(reasoning(0, "First.", "Second."), text(1, "So.")),
    "reasoning without summary": stream(reasoning(0), text(1, "So.")),
    "call": stream(reasoning(0, "Hm."), call(1, '{"city":', ' "Oslo"}')),
    "two calls": stream(call(0, '{"a": 1}'), call(1, "{}", id="fc_2", call_id="call_2")),
    "interleaved calls": stream(
        added(0, id="fc_1", type="function_call", call_id="c1", name="a", arguments=""),
        added(1, id="fc_2", type="function_call", call_id="c2", name="b", arguments=""),
        delta("function_call_arguments", 0, '{"x":'),
        delta("function_call_arguments", 1, '{"y":'),
        delta("function_call_arguments", 0, "1}"),
        delta("function_call_arguments", 1, "2}"),
        done(0, id="fc_1", type="function_call", call_id="c1", name="a", arguments='{"x":1}', status="completed"),
        done(1, id="fc_2", type="function_call", call_id="c2", name="b", arguments='{"y":2}', status="completed"),
    ),
    "reasoning that ends last": stream(
        added(0, id="rs_1", type="reasoning", summary=[]),
        part("added", 0, **{**RAW, "text": ""}),
        delta("reasoning_text", 0, "raw thought", content_index=0),
        text(1, "Hello"),
        whole("reasoning_text", 0, content_index=0, text="raw thought"),
        done(0, id="rs_1", type="reasoning", summary=[], content=[RAW], encrypted_content="gAAA-late"),
    ),
    "reasonings that end behind a call": stream(
        *[
            each
            for index, item_id in enumerate(["rs_1", "rs_2"])
            for each in (
                added(index, id=item_id, type="reasoning", summary=[]),
                part("added", index, 0, "summary", **summary("")),
                part("done", index, 0, "summary", **summary("")),
            )
        ],
        call(2, "{}"),
        done(0, id="rs_1", type="reasoning", summary=[summary("")], encrypted_content="gAAA-1"),
        done(1, id="rs_2", type="reasoning", summary=[summary("")], encrypted_content="gAAA-2"),
    ),
    "encrypted content at the end alone": stream(
        reasoning(0, "First.", encrypted=None),
        call(1, "{}"),
        end=completed({"id": "rs_1", "type": "reasoning", "summary": [summary("First.")], "encrypted_content": "gAAA"}),
    ),
    "ids that change": stream(rotated(reasoning(0, "First.") + text(1, "Hi", "!"))),
    "without numbers of items": stream(
        without("output_index", [each for each in text(0, "Hi", "!") if "item_id" in each or "item" in each])
    ),
    "items without ids": stream(
        done(0, type="message", role="assistant", content=[output_text("I look.")]),
        done(1, type="function_call", call_id="call_1", name="look", arguments="{}"),
        done(2, type="message", role="assistant", content=[output_text("Then?")]),
    ),
    "phases": stream(
        text(0, "Let me look.", id="msg_1", phase="commentary"),
        hosted(1, **SEARCH),
        text(2, "Found.", id="msg_2", phase="final_answer"),
    ),
    "custom tool": stream(
        added(0, **CUSTOM, input="", status="in_progress"),
        delta("custom_tool_call_input", 0, PATCH[:7]),
        delta("custom_tool_call_input", 0, PATCH[7:]),
        whole("custom_tool_call_input", 0, input=PATCH),
        done(0, **CUSTOM, input=PATCH, status="completed"),
    ),
    "search of xAI": stream(hosted(0, **{**CUSTOM, "call_id": "xs_call_1", "input": '{"q":1}', "status": "completed"})),
    "code of xAI": stream(
        hosted(
            0,
            id="fc_1",
            type="code_interpreter_call",
            status="completed",
            call_id="",
            name="code_execution",
            arguments='{"code":"1+1"}',
        ),
        text(1, "2"),
    ),
    "cited text": stream(text(0, "So", " it is", annotations=[annotation(0, 0, URL), annotation(0, 1, FILE)])),
    "log probabilities": stream(
        added(0, **MESSAGE, status="in_progress", content=[]),
        part("added", 0, **output_text("")),
        delta("output_text", 0, "Hi", content_index=0, logprobs=LOGPROBS),
        whole("output_text", 0, content_index=0, text="Hi", logprobs=LOGPROBS),
        done(0, **MESSAGE, status="completed", content=[output_text("Hi", logprobs=LOGPROBS)]),
    ),
    "refusal": stream(
        added(0, **MESSAGE, status="in_progress", content=[]),
        part("added", 0, type="refusal", refusal=""),
        delta("refusal", 0, "I can't.", content_index=0),
        whole("refusal", 0, content_index=0, refusal="I can't."),
        done(0, **MESSAGE, status="completed", content=[{"type": "refusal", "refusal": "I can't."}]),
    ),
    "two texts in a message": stream(
        added(0, **MESSAGE, status="in_progress", content=[]),
        words(0, "One"),
        words(0, "Two", place=1),
        done(0, **MESSAGE, status="completed", content=[output_text("One"), output_text("Two")]),
    ),
    "message without content": stream(reasoning(0), hosted(1, **MESSAGE, status="completed", content=[])),
    "hosted tools": stream(
        hosted(0, **FILES), hosted(1, **CODE), hosted(2, **IMAGE), hosted(3, **MCP), text(4, "Done.")
    ),
    "hosted tool that failed": stream(hosted(0, **{**MCP, "output": None, "error": "no", "status": "failed"})),
    "calls that a gateway runs": stream(
        call(0, '{"x": 2}', name="square"),
        call(1, '{"x": 3}', name="square", id="fc_2", call_id="call_2"),
        hosted(2, **{**MCP, "name": "square", "arguments": '{"x": 2}', "output": "4", "id": "mcp_1"}),
        hosted(3, **{**MCP, "name": "square", "arguments": '{"x": 3}', "output": "9", "id": "mcp_2"}),
        text(4, "4 and 9."),
        end=completed(id="resp_2"),
    ),
    "results in items of their own": stream(
        hosted(0, **SHELL),
        hosted(1, **SHELL_OUTPUT),
        hosted(2, **TOOL_SEARCH),
        hosted(3, **TOOL_SEARCH_OUTPUT),
        hosted(4, **PROGRAM),
        hosted(5, **PROGRAM_OUTPUT),
    ),
    "two thoughts and two calls of the provider": stream(
        reasoning(0, encrypted="gAAA-first-encrypted"),
        hosted(1, **SHELL),
        hosted(2, **SECOND_SHELL),
        hosted(3, **SHELL_OUTPUT),
        hosted(4, **SECOND_SHELL_OUTPUT),
        reasoning(5, "Then again", id="rs_2", encrypted="gAAA-second-encrypted"),
    ),
    "tools of the app": stream(
        hosted(0, **LOCAL_SHELL), hosted(1, **PATCH_CALL), hosted(2, **COMPUTER), hosted(3, **APPROVAL)
    ),
    "lists of tools": stream(
        *[added(at, **{**LISTED, "id": f"mcpl_{at}", "tools": []}) for at in range(3)],
        done(1, **{**LISTED, "id": "mcpl_1"}),
        text(3, "Ready."),
    ),
    "compaction": stream(text(0, "Hi."), hosted(1, **COMPACTION)),
    "unknown item": stream(hosted(0, id="z_1", type="zapped", power=9), text(1, "Hi.")),
    "cut arguments": stream(
        added(0, id="fc_1", type="function_call", call_id="c1", name="a", arguments="", status="in_progress"),
        delta("function_call_arguments", 0, '{"x":'),
        end=incomplete("max_output_tokens"),
    ),
    "summary that was cut": stream(
        added(0, id="rs_1", type="reasoning", summary=[]),
        thoughts(0, "Complete."),
        part("added", 0, 1, "summary", **summary("")),
        part("done", 0, 1, "summary", **summary(""), status="incomplete"),
        done(0, id="rs_1", type="reasoning", summary=[summary("Complete."), summary("")], encrypted_content="gAAA"),
        text(1, "So."),
    ),
    "everything at the end": stream(end=completed({**MESSAGE, "content": [output_text("Hi")], "status": "completed"})),
    "error and failure": stream(
        frame("in_progress", response={"id": "resp_1"}),
        {"type": "error", "error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "No."}},
        end=failed(code="insufficient_quota", message="No."),
    ),
    "failure": stream(text(0, "Hi"), end=failed(code="server_error", message="Oh.")),
    "in the background": stream(
        text(0, "Hi"), start=created(background=True, status="queued", store=False), end=completed(store=False)
    ),
    "limits of Codex, and the app's words on the way": stream(
        {"type": "codex.rate_limits", "plan_type": "plus", "rate_limits": {"primary": {"used_percent": 31}}},
        {"type": "response.steer.accepted", "steer": {"id": "steer_1", "previous_response_id": "resp_1"}},
        text(0, "Hi"),
    ),
    "with a mark of the end": stream({"type": "keepalive"}, text(0, "Hi")) + Sse.frame(None, "[DONE]"),
}

OVERLAP = stream(
    added(0, id="rs_1", type="reasoning", summary=[]),
    delta("reasoning_summary_text", 0, "One", summary_index=0),
    added(1, id="rs_2", type="reasoning", summary=[]),
    delta("reasoning_summary_text", 1, "Two", summary_index=0),
    delta("reasoning_summary_text", 0, " more", summary_index=0),
    done(0, id="rs_1", type="reasoning", summary=[summary("One more")], encrypted_content="gAAA-1"),
    done(1, id="rs_2", type="reasoning", summary=[summary("Two")], encrypted_content="gAAA-2"),
    text(2, "So."),
)
"""The second reasoning begins before the first has ended: no part has all of the first summary."""
