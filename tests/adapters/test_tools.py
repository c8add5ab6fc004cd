"""
Cases 17 to 41 of the wire reference: calls of the app and of the provider, and their results.
"""

import pytest

from assistant_events import CallStatus, JsonContent, TextContent
from assistant_events.adapters.gemini_interactions.vocabulary import CALLS

from .notation import (
    C,
    D,
    K,
    S,
    X,
    answer,
    args,
    call_of,
    called,
    codes,
    delta,
    ended,
    failure,
    fc,
    inner,
    input_of,
    message,
    mo,
    opaque,
    step,
    stream,
    success,
    terminal,
    text,
    text_of,
)

NO_RESULT = "the provider ended its answer without a result of this call"


def search_call(id="s1", **fields):
    return step("google_search_call", id=id, **fields)


def search_result(call_id="s1", **fields):
    return step("google_search_result", call_id=call_id, **fields)


def test_c17_streamed_arguments():
    """
    Pieces of arguments are joined and parsed at the stop.
    """
    body = stream(C(), S(0, fc()), D(0, args('{"a":')), D(0, args("1}")), X(0), K("requires_action"))

    assert call_of("c1", '{"a":1}') == inner(body)
    assert ended("tool-calls", "requires_action") == terminal(body)


def test_c18_prefilled_arguments_without_deltas():
    """
    Arguments that came with the start are the input.
    """
    assert call_of("c1", '{"a":1}') == inner(answer(S(0, fc(arguments={"a": 1})), X(0)))


def test_c19_prefilled_and_identical_delta():
    """
    Arguments that come both ways are taken once.
    """
    assert call_of("c1", '{"a":1}') == inner(answer(S(0, fc(arguments={"a": 1})), D(0, args('{"a":1}')), X(0)))


def test_c19_deltas_win_over_the_prefill():
    """
    What is streamed replaces what came with the start.
    """
    assert call_of("c1", '{"a":2}') == inner(answer(S(0, fc(arguments={"a": 1})), D(0, args('{"a":2}')), X(0)))


def test_c19_the_prefill_stands_for_broken_deltas():
    """
    Where the deltas are not an object, the arguments of the start are the input.
    """
    assert call_of("c1", '{"a":1}') == inner(answer(S(0, fc(arguments={"a": 1})), D(0, args('{"a')), X(0)))


def test_c20_arguments_missing_in_the_start():
    """
    A start without arguments waits for the deltas.
    """
    assert call_of("c1", "{}") == inner(answer(S(0, step("function_call", id="c1", name="f")), D(0, args("{}")), X(0)))


def test_c21_no_arguments_at_all():
    """
    A call without arguments has an empty object.
    """
    assert call_of("c1", "{}") == inner(answer(S(0, fc()), X(0)))


def test_c22_invalid_json():
    """
    Input that is not JSON is kept as text; the call fails and is not run.
    """
    body = answer(S(0, fc()), D(0, args('{"a":')), X(0))
    [*opened, failed] = inner(body)

    assert input_of("c1", '{"a":') == opened
    assert ("tool.failed", "invalid-input", False) == (failed.type, failed.error.kind, failed.provider_executed)
    assert () == message(body).pending_tool_calls


@pytest.mark.parametrize("raw", ["[1]", "1", '"a"', "null", "true"])
def test_c23_json_that_is_no_object(raw):
    """
    Input that is not an object is not valid.
    """
    [*opened, failed] = inner(answer(S(0, fc()), D(0, args(raw)), X(0)))

    assert input_of("c1", raw) == opened
    assert "invalid-input" == failed.error.kind


def test_c24_parallel_calls_in_sequence():
    """
    Calls are in their order.
    """
    body = answer(S(0, fc("c1")), X(0), S(1, fc("c2", "g")), X(1))

    assert [*call_of("c1", "{}"), *call_of("c2", "{}", "g", 1)] == inner(body)


def test_c25_interleaved_argument_deltas():
    """
    Pieces belong to the call of their index.
    """
    body = answer(
        *(S(0, fc("a")), S(1, fc("b"))),
        *(D(0, args('{"x"')), D(1, args('{"y"')), D(0, args(":1}")), D(1, args(":2}"))),
        *(X(0), X(1)),
    )
    [a_started, a_ended, a_called] = call_of("a", '{"x":1}')
    [b_started, b_ended, b_called] = call_of("b", '{"y":2}', i=1)

    assert [a_started, b_started, a_ended, a_called, b_ended, b_called] == inner(body)


def test_c26_empty_signature_on_a_function_call():
    """
    An empty signature is none.
    """
    assert call_of("c1", "{}") == inner(answer(S(0, fc(signature="")), X(0)))


def test_c26_signature_of_1x_on_a_function_call():
    """
    A signature on a call is its state.
    """
    assert call_of("c1", "{}", signature="S=") == inner(answer(S(0, fc(signature="S=")), X(0)))


def test_c27_search_before_the_text():
    """
    A search of the provider is a call and its result, each with a signature of its own.
    """
    body = answer(
        S(0, search_call(signature="")),
        D(0, delta("google_search_call", arguments={"queries": ["q"]}, signature="S1")),
        X(0),
        S(1, search_result(signature="")),
        D(1, delta("google_search_result", result=[{"search_suggestions": "<div>"}], signature="S2")),
        X(1),
    )

    assert [
        *call_of("s1", '{"queries":["q"]}', "google_search", provider=True, type="google_search_call", signature="S1"),
        success("s1", JsonContent([{"search_suggestions": "<div>"}]), i=1, type="google_search_result", signature="S2"),
    ] == inner(body)


def test_c28_search_after_the_text():
    """
    Tools that come after the text that cites them stay there.
    """
    body = answer(
        *(S(1, mo()), D(1, text("a")), X(1)),
        *(S(2, search_call(arguments={"queries": []})), X(2), S(3, search_result(result=[])), X(3)),
    )

    assert [
        *text_of("a"),
        *call_of("s1", '{"queries":[]}', "google_search", 1, provider=True, type="google_search_call"),
        success("s1", JsonContent([]), i=2, type="google_search_result"),
    ] == inner(body)


def test_c29_call_arguments_replaced():
    """
    Arguments of a typed delta replace the ones before; they are not merged.
    """
    body = answer(
        S(0, search_call()),
        D(0, delta("google_search_call", arguments={"queries": ["a"], "b": 1})),
        D(0, delta("google_search_call", arguments={"queries": ["c"]})),
        X(0),
    )

    assert {"queries": ["c"]} == message(body).tool_calls[0].arguments


def test_c30_code_execution_error():
    """
    A result that is an error fails the call, with its output.
    """
    body = answer(
        S(0, step("code_execution_call", id="x1", arguments={"code": "1/0", "language": "python"})),
        X(0),
        S(1, step("code_execution_result", call_id="x1")),
        D(1, delta("code_execution_result", result="ZeroDivisionError", is_error=True)),
        X(1),
    )

    assert (
        failure(
            *("x1", "tool", "the tool reported an error", TextContent("ZeroDivisionError")),
            i=1,
            type="code_execution_result",
            is_error=True,
        )
        == inner(body)[-1]
    )


def test_c31_paywall_is_no_error():
    """
    Without `is_error` a result is a success; its status is in the output.
    """
    body = answer(
        S(0, step("url_context_call", id="u1", arguments={"urls": ["https://e.x/"]})),
        X(0),
        S(1, step("url_context_result", call_id="u1", result=[{"url": "https://e.x/", "status": "paywall"}])),
        X(1),
    )

    assert (
        success("u1", JsonContent([{"url": "https://e.x/", "status": "paywall"}]), i=1, type="url_context_result")
        == inner(body)[-1]
    )


def test_c32_result_without_call():
    """
    A result whose call never came gets one that is made up: its signature may be needed.
    """
    body = answer(S(0, search_result("x", signature="S=")), X(0))

    assert [
        *call_of("x", "{}", "google_search", provider=True, type="google_search_call", orphan=True),
        success("x", i=0, type="google_search_result", signature="S="),
    ] == inner(body)
    assert ["orphan-result"] == codes(body)


def test_c33_call_without_result():
    """
    A call that the provider runs and never answers has failed when the answer is complete.
    """
    body = answer(S(0, search_call(arguments={})), X(0))

    assert failure("s1", "no-result", NO_RESULT) == inner(body)[-1]


def test_c33_call_without_result_in_an_answer_that_is_cut():
    """
    In an answer that stopped early the call was interrupted.
    """
    body = stream(C(), S(0, search_call(arguments={})), X(0), K("incomplete"))

    assert "interrupted" == inner(body)[-1].error.kind


def test_c34_mcp():
    """
    A call of an MCP server has the name of the tool; the server is in the state.
    """
    body = answer(
        S(0, step("mcp_server_tool_call", id="k1")),
        D(0, delta("mcp_server_tool_call", name="lookup", server_name="crm", arguments={"id": 7})),
        X(0),
        S(1, step("mcp_server_tool_result", call_id="k1")),
        D(1, delta("mcp_server_tool_result", name="lookup", server_name="crm", result="seven")),
        X(1),
    )

    assert [
        *call_of("k1", '{"id":7}', "lookup", provider=True, type="mcp_server_tool_call", server_name="crm"),
        success("k1", TextContent("seven"), i=1, type="mcp_server_tool_result", name="lookup", server_name="crm"),
    ] == inner(body)


def test_c35_sandbox_function_result():
    """
    An agent that runs its own file tools answers them in the stream: nothing is left for the app.
    """
    body = answer(
        S(0, fc("f1", "read_file", {"path": "a"})),
        X(0),
        S(1, step("function_result", call_id="f1", name="read_file", result=[{"type": "text", "text": "x"}])),
        X(1),
    )
    request = {"agent": "antigravity-preview-05-2026"}
    [call] = message(body, request=request).tool_calls

    assert (CallStatus.SUCCESS, True) == (call.status, call.provider_executed)
    assert "stop" == terminal(body, request=request).finish_reason


def test_c35_function_result_without_a_known_agent():
    """
    A result in the stream is evidence enough: the provider ran the call.
    """
    body = answer(
        S(0, fc("f1", "odd")), X(0), S(1, step("function_result", call_id="f1", name="odd", result={"a": 1})), X(1)
    )
    [call] = message(body).tool_calls

    assert (True, (JsonContent({"a": 1}),)) == (call.provider_executed, call.output)
    assert "stop" == terminal(body).finish_reason


def test_c35_a_function_of_the_app_in_a_sandbox():
    """
    Functions that are none of the sandbox stay the app's.
    """
    body = answer(S(0, fc("f1", "get_weather")), X(0))

    assert ["f1"] == [
        call.call_id for call in message(body, request={"agent": "antigravity-preview-09-2026"}).pending_tool_calls
    ]


@pytest.mark.parametrize("name", ["list_files", "read_file", "write_file", "edit_file", "search_files"])
@pytest.mark.parametrize(
    "request_",
    [None, {"model": "gemini-3.6-flash"}, {"agent": "deep-research-preview-04-2026"}],
    ids=["no request", "a model", "another agent"],
)
def test_c35_a_function_of_the_app_named_like_a_tool_of_the_sandbox(request_, name):
    """
    Without an agent that has a sandbox the app runs its own function, whatever its name is.
    """
    body = answer(S(0, fc("f1", name)), X(0))
    [call] = message(body, request=request_).pending_tool_calls

    assert ("f1", False) == (call.call_id, call.provider_executed)
    assert "tool-calls" == terminal(body, request=request_).finish_reason


def test_c36_completed_with_a_call_of_the_app():
    """
    A call that waits decides how the step finished, not the status.
    """
    assert ended("tool-calls") == terminal(answer(S(0, fc()), X(0)))


def test_c37_requires_action_without_call():
    """
    A status that asks for an action without naming one is something else, and noted.
    """
    body = stream(C(), S(0, mo("a")), X(0), K("requires_action"))

    assert ended("other", "requires_action") == terminal(body)
    assert ["no-call"] == codes(body)


@pytest.mark.parametrize("id", ["", None], ids=["empty", "null"])
def test_c38_empty_id(id):
    """
    A call without an id gets one of ours; what the provider gave is in the state.
    """
    assert call_of("call-1", "{}", id=id) == inner(answer(S(0, fc(id)), X(0)))


def test_c38_missing_id():
    """
    A call whose start has no id waits for one until it ends.
    """
    assert call_of("call-1", '{"a":1}', id=None) == inner(
        answer(S(0, step("function_call", name="f")), D(0, args('{"a":1}')), X(0))
    )


def test_c38_one_id_twice():
    """
    An id that was used before in the message gets a suffix.
    """
    body = answer(S(0, fc("c1")), X(0), S(1, fc("c1")), X(1))

    assert [*call_of("c1", "{}"), *call_of("c1#2", "{}", i=1, id="c1")] == inner(body)


def test_c39_huge_signature():
    """
    A signature of 100 KB is the same in the state, character for character.
    """
    huge = "aB+/" * 25_000 + "=="
    body = answer(
        S(0, search_call(arguments={})),
        X(0),
        S(1, search_result()),
        D(1, delta("google_search_result", result=[], signature=huge)),
        X(1),
    )

    assert huge == inner(body)[-1].state["signature"]
    assert huge == message(body).tool_calls[0].result_state["signature"]


def test_c40_bash_and_a_list_as_result():
    """
    Newer values of known fields pass as they are.
    """
    result = [{"type": "text", "text": "ok"}]
    body = answer(
        S(0, step("code_execution_call", id="x1")),
        D(0, delta("code_execution_call", arguments={"code": "ls", "language": "bash"})),
        X(0),
        S(1, step("code_execution_result", call_id="x1")),
        D(1, delta("code_execution_result", result=result)),
        X(1),
    )
    [call] = message(body).tool_calls

    assert {"code": "ls", "language": "bash"} == call.arguments
    assert (JsonContent(result),) == call.output


@pytest.mark.parametrize("kind", [kind for kind in CALLS if kind not in ("function_call", "mcp_server_tool_call")])
def test_c41_every_tool_of_the_provider(kind):
    """
    Each call of the provider has the name of its tool, and its result settles it.
    """
    result = kind.removesuffix("_call") + "_result"
    body = answer(
        *(S(0, step(kind, id="t1", signature="a")), X(0)),
        *(S(1, step(result, call_id="t1")), D(1, delta(result, signature="b")), X(1)),
    )

    assert [
        *call_of("t1", "{}", kind.removesuffix("_call"), provider=True, type=kind, signature="a"),
        success("t1", i=1, type=result, signature="b"),
    ] == inner(body)


@pytest.mark.parametrize("name", ["read_file", "weather"])
def test_calls_in_a_sandbox(name):
    """
    Antigravity runs the tools for its files itself; any other function is the app's.
    """
    body = stream(C(), S(0, fc(name=name)), D(0, args("{}")), X(0), K("completed"))
    found = message(body, request={"agent": "antigravity-preview-09-2026", "input": "hi"})

    assert (name == "weather") == bool(found.pending_tool_calls)
    assert [name == "read_file"] == [call.provider_executed for call in found.tool_calls]


def test_c41_details_of_retrieval():
    """
    The kind of a call is sent back with it.
    """
    body = answer(
        S(0, step("retrieval_call", id="r1")),
        D(0, delta("retrieval_call", arguments={"queries": ["q"]}, retrieval_type="rag_store", signature="a")),
        X(0),
        S(1, step("retrieval_result", call_id="r1", is_error=False)),
        X(1),
    )

    assert [
        *call_of(
            *("r1", '{"queries":["q"]}', "retrieval"),
            provider=True,
            type="retrieval_call",
            retrieval_type="rag_store",
            signature="a",
        ),
        success("r1", i=1, type="retrieval_result", is_error=False),
    ] == inner(body)


def test_c41_step_of_the_future():
    """
    A step of a type that is not known is kept raw at its place, with its deltas.
    """
    body = answer(S(0, step("dream", plot=[1])), D(0, delta("dream_piece", x=1)), X(0), S(1, mo("a")), X(1))

    assert [
        opaque(0, step={"type": "dream", "plot": [1]}, deltas=[{"type": "dream_piece", "x": 1}]),
        *text_of("a", 1),
    ] == inner(body)
    assert ["unknown-step"] == codes(body)


def test_a_second_result_is_left_out():
    """
    The first answer of a call counts.
    """
    body = answer(
        *(S(0, search_call(arguments={})), X(0)),
        *(S(1, search_result(result=[1])), X(1), S(2, search_result(result=[2])), X(2)),
    )

    assert (JsonContent([1]),) == message(body).tool_calls[0].output
    assert ["second-result"] == codes(body)


def test_a_result_before_its_call_waits():
    """
    A result that comes first is held until the interaction ends.
    """
    body = answer(S(1, search_result(result=[1])), X(1), S(0, search_call(arguments={"queries": []})), X(0))

    assert [
        *call_of("s1", '{"queries":[]}', "google_search", 0, provider=True, type="google_search_call"),
        success("s1", JsonContent([1]), i=1, type="google_search_result"),
    ] == inner(body)


def test_a_result_ends_the_input_of_its_call():
    """
    A call whose stop is missing has ended when its result comes.
    """
    body = answer(S(0, search_call(arguments={})), S(1, search_result(result=[])), X(1))

    assert [
        *call_of("s1", "{}", "google_search", provider=True, type="google_search_call"),
        success("s1", JsonContent([]), i=1, type="google_search_result"),
    ] == inner(body)


def test_a_call_without_a_name_is_kept_raw():
    """
    A function call that never gets a name cannot be run; it is kept as it came.
    """
    body = answer(S(0, step("function_call", id="c1", arguments={"a": 1})), X(0))

    assert [opaque(0, type="function_call", id="c1", arguments={"a": 1})] == inner(body)
    assert ["nameless-call"] == codes(body)


def test_late_arguments_are_left_out():
    """
    Pieces that come after the call has ended change nothing.
    """
    body = answer(S(0, fc()), D(0, args("{}")), X(0), D(0, args('{"a":1}')))

    assert call_of("c1", "{}") == inner(body)
    assert ["late-arguments"] == codes(body)


def test_many_late_arguments_are_left_out():
    """
    So are those behind a call without arguments, whose end waits for the next step.
    """
    body = answer(S(0, step("function_call", id="c1", name="f")), X(0), *[D(0, args("1"))] * 9)

    assert call_of("c1", "{}") == inner(body)
    assert ["late-arguments"] * 9 == codes(body)


def test_arguments_as_text_in_the_start():
    """
    Arguments that are JSON text are read like streamed ones.
    """
    assert call_of("c1", '{"a":1}') == inner(answer(S(0, fc(arguments='{"a":1}')), X(0)))


UNREAD = "the input came in deltas of an unknown type"


def test_a_call_whose_only_input_is_not_understood_is_not_run():
    """
    A delta that a call does not know may hold its arguments: it is kept, and the call is not run without any.
    """
    odd = delta("arguments_patch", add={"city": "Oslo"})
    body = answer(S(0, fc()), D(0, odd), X(0))
    [_, end, failed] = inner(body)

    assert ("", {"i": 0, "deltas": [odd]}) == (end.text, end.state)
    assert failure("c1", "invalid-input", UNREAD, provider=False) == failed
    assert () == message(body).pending_tool_calls


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param((S(0, fc()), D(0, args('{"a":1}'))), id="streamed"),
        pytest.param((S(0, fc(arguments={"a": 1})),), id="whole"),
    ],
)
def test_a_call_whose_input_is_understood_is_run(wire):
    """
    Arguments that came are kept, whatever else came with them.
    """
    assert called("c1", {"a": 1}) == inner(answer(*wire, D(0, delta("mood", level=3)), X(0)))[-1]


def test_a_late_call_whose_input_is_understood_is_run():
    """
    So are arguments on the fast path, on which those of the calls before have led.
    """
    earlier = [each for at in range(9) for each in (S(at, fc(f"c{at}")), D(at, args('{"a":1}')), X(at))]
    body = answer(*earlier, S(9, fc("c9")), D(9, args('{"a":2}')), D(9, delta("mood", level=3)), X(9))

    assert called("c9", {"a": 2}) == inner(body)[-1]


def test_a_search_with_a_delta_that_is_not_understood():
    """
    What the provider runs it has understood: the call is valid, and its result answers it.
    """
    wire = (S(0, search_call(arguments={})), D(0, delta("mood", level=3)), X(0), S(1, search_result(result=[])), X(1))

    assert ["tool.input.started", "tool.input.ended", "tool.called", "tool.success"] == [
        event.type for event in inner(answer(*wire))
    ]


@pytest.mark.parametrize(
    ("deltas", "raw"),
    [
        pytest.param(
            [delta("arguments", partial_arguments='{"a"'), delta("arguments", partial_arguments=":1}")],
            '{"a":1}',
            id="Google's manual",
        ),
        pytest.param([delta("arguments", arguments='{"a":1}')], '{"a":1}', id="named as the field"),
        pytest.param([delta("arguments_delta", partial_arguments='{"a":1}')], '{"a":1}', id="partial"),
        pytest.param([delta("arguments_delta", arguments={"a": 1})], '{"a":1}', id="an object"),
    ],
)
def test_other_forms_of_arguments(deltas, raw):
    """
    Arguments are read under each name that pages of the provider give them, as text or as an object.
    """
    wire = (S(0, fc()), *[D(0, each) for each in deltas], X(0))

    assert call_of("c1", raw) == inner(answer(*wire))


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param((S(0, fc(arguments=["a"])),), id="in the start"),
        pytest.param((S(0, fc()), D(0, args(["a"]))), id="in a delta"),
    ],
)
def test_arguments_that_are_neither_an_object_nor_text(wire):
    """
    They are not valid input: the call keeps them as text, fails, and is not run without any.
    """
    [_, end, failed] = inner(answer(*wire, X(0)))

    assert '["a"]' == end.text
    assert ("tool.failed", "invalid-input") == (failed.type, failed.error.kind)


def test_odd_arguments_of_a_search_are_kept():
    """
    A call that the provider runs keeps them in its state, and its result is kept.
    """
    wire = (S(0, search_call(arguments=["q"])), X(0), S(1, search_result(result=[])), X(1))
    [_, end, _, success] = inner(answer(*wire))

    assert ["q"] == list(end.state["extra"]["arguments"])
    assert "tool.success" == success.type


def test_a_delta_of_another_type_is_kept_with_the_result():
    """
    What a result does not know is kept in its state.
    """
    odd = delta("text", text="?")
    body = answer(S(0, search_call(arguments={})), X(0), S(1, search_result()), D(1, odd), X(1))

    assert {"i": 1, "type": "google_search_result", "deltas": [odd]} == inner(body)[-1].state
