"""
Cases 69 to 77 of the wire reference: how an interaction ends and fails, and what the request decides.
"""

import json

import attrs
import pytest

from assistant_events import Origin, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.gemini_interactions.vocabulary import ERRORS
from assistant_events.values import ErrorInfo, RemoteRun, thaw, write_json

from .notation import (
    DONE,
    MODEL,
    C,
    D,
    E,
    K,
    S,
    U,
    X,
    answer,
    args,
    called,
    codes,
    decoded,
    decoder,
    durable,
    ended,
    events,
    failed,
    failure,
    fc,
    inner,
    input_of,
    interrupted,
    message,
    mo,
    reasoning_of,
    started,
    step,
    stream,
    summary,
    terminal,
    text,
    text_of,
    th,
)

FINISHES = {
    "completed": "stop",
    "idle": "stop",
    "requires_action": "other",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "pause",
    "weird": "other",
}
GENERIC = ErrorInfo(kind="provider", message="the interaction failed")


@pytest.mark.parametrize(("status", "finish"), FINISHES.items())
def test_c69_a_status_that_ends(status, finish):
    """
    Each status has its finish, and its own word is kept.
    """
    assert ended(finish, status) == terminal(stream(C(), S(0, mo("a")), X(0), K(status), DONE))


@pytest.mark.parametrize("status", ["completed", "idle", "requires_action", None])
def test_c69_a_status_with_a_call_that_waits(status):
    """
    A call that waits for the app is what the step finished for.
    """
    end = K()
    end["interaction"]["status"] = status

    assert ended("tool-calls", status) == terminal(stream(C(), S(0, fc()), X(0), end))


@pytest.mark.parametrize("status", ["incomplete", "weird"])
def test_c69_a_call_in_an_answer_that_is_cut(status):
    """
    Elsewhere a call does not hide why the answer stopped.
    """
    assert FINISHES[status] == terminal(stream(C(), S(0, fc()), X(0), K(status))).finish_reason


@pytest.mark.parametrize(("wire", "finish"), [((S(0, mo("a")), X(0)), "stop"), ((), "other")], ids=["some", "none"])
def test_c69_without_a_status(wire, finish):
    """
    An end without a status is a whole answer when there is one.
    """
    end = K()
    del end["interaction"]["status"]

    assert ended(finish, None) == terminal(stream(C(), *wire, end))


def test_c69_failed():
    """
    A failed interaction is a failed step, with the error that it names.
    """
    body = stream(C(), K("failed", errors=[{"code": "internal", "message": "boom"}], usage=None))

    assert [started(), failed(ErrorInfo(kind="provider", message="boom", code="internal"))] == durable(body)


def test_c69_failed_with_one_error():
    """
    The error may be alone.
    """
    body = stream(C(), K("failed", error={"code": 503, "message": "busy"}, usage=None))

    assert ErrorInfo(kind="overloaded", message="busy", code="503", status=503, retryable=True) == terminal(body).error


def test_c69_failed_without_an_error():
    """
    Without one it is the provider's.
    """
    assert failed(GENERIC) == terminal(stream(C(), K("failed", usage=None)))


def test_c69_errors_beside_another_end():
    """
    Faults of an interaction that did not fail are facts of the answer, and are written again.
    """
    faults = [{"code": "content_blocked", "message": "blocked by safety"}]
    found = message(stream(C(), S(0, mo("Hi")), X(0), K("incomplete", errors=faults)))

    assert (None, {"errors": faults}) == (found.error, thaw(found.details))
    assert faults == load_dialect("gemini-interactions").emit_resource(found)["errors"]


def test_c69_cancelled():
    """
    A cancelled interaction keeps what it had.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), K("cancelled", usage=None))

    assert text_of("a", complete=False) == inner(body)
    assert failed(ErrorInfo(kind="cancelled", message="the interaction was cancelled")) == terminal(body)


@pytest.mark.parametrize("name", ["failed", "cancelled", "incomplete"])
@pytest.mark.parametrize("where", ["interaction", "beside"])
def test_c69_terminal_events_named_after_their_status(name, where):
    """
    Third-party servers name the end after the status.
    """
    end = {"event_type": f"interaction.{name}", **({"interaction": {"id": "v1"}} if where == "interaction" else {})}
    last = terminal(stream(C(), end))

    if name == "incomplete":
        assert ended("length", "incomplete", usage=None) == last
    else:
        assert failed(GENERIC if name == "failed" else last.error) == last
        assert ("provider" if name == "failed" else "cancelled") == last.error.kind


def test_c70_empty_errors():
    """
    Empty errors are left out, and noted.
    """
    body = answer(
        *({"event_type": "error"}, E(), E("", ""), {"event_type": "error", "error": []}),
        *(S(0, mo("a")), X(0)),
    )

    assert [started(), *text_of("a"), ended()] == durable(body)
    assert ["empty-error"] * 4 == codes(body)


def test_c71_error_mid_text():
    """
    An error ends the step; the text that had come is kept, incomplete, and nothing follows.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), E("internal", "boom"), D(0, text("b")), X(0), K())

    assert [
        started(),
        *text_of("a", complete=False),
        failed(ErrorInfo(kind="provider", message="boom", code="internal")),
    ] == durable(body)


def test_c71_error_in_the_middle_of_everything():
    """
    All that is open is marked incomplete, and calls without an answer fail.
    """
    body = stream(
        *(C(), S(0, th()), D(0, summary("t")), S(1, mo()), D(1, text("a")), S(2, fc("c1")), D(2, args('{"a'))),
        *(S(3, step("google_search_call", id="s1", arguments={})), X(3), E("x", "boom")),
    )
    found = inner(body)

    assert {
        *reasoning_of("t", complete=False),
        *text_of("a", 1, complete=False),
        *input_of("c1", '{"a', i=2, complete=False),
        *input_of("s1", "{}", "google_search", 3, provider=True, type="google_search_call"),
        called("s1", {}, "google_search", provider=True),
        failure("c1", "interrupted", "the step failed before this call was answered", provider=False),
        failure("s1", "interrupted", "the step failed before this call was answered"),
    } == set(found)


def test_c71_stopped_steps_stay_complete():
    """
    What had ended before the error stays as it was, state and all.
    """
    body = stream(C(), S(0, th(signature="A=")), X(0), S(1, mo("a")), X(1), E("x", "boom"))

    assert [*reasoning_of("", signature="A="), *text_of("a", 1)] == inner(body)


def test_c72_failed_with_an_error_of_a_step():
    """
    An output may carry the reason as a gRPC status.
    """
    body = stream(C(), S(0, mo(error={"code": 8, "message": "too much"})), X(0), K("failed", usage=None))

    assert failed(ErrorInfo(kind="rate-limit", message="too much", code="8", retryable=True)) == terminal(body)


GRPC = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)


@pytest.mark.parametrize(("number", "name"), [*enumerate(GRPC)][1:], ids=GRPC[1:])
def test_c72_a_number_means_what_its_name_means(number, name):
    """
    The error of a step has a number of google.rpc.Code, other errors have its name.
    """
    by_number = stream(C(), S(0, mo(error={"code": number, "message": "x"})), X(0), K("failed", usage=None))
    by_name = stream(C(), {"event_type": "error", "error": {"status": name, "message": "x"}})

    assert terminal(by_name).error.kind == terminal(by_number).error.kind


def test_c72_an_error_of_a_step_in_an_answer_that_ended():
    """
    It counts only when the interaction has failed, and is a detail otherwise.
    """
    error = {"code": 8, "message": "x"}

    assert attrs.evolve(ended(), details={"output_error": error}) == terminal(answer(S(0, mo("a", error=error)), X(0)))


@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_c73_completed_without_being_so(status):
    """
    An end with a status of an unfinished interaction is not an end.
    """
    body = stream(C(), S(0, mo()), D(0, text("a")), K(status, usage=None))

    assert text_of("a", complete=False) == inner(body)
    assert failed(interrupted(f"the stream ended while the interaction was {status}")) == terminal(body)


@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_a_document_that_is_not_complete(status):
    """
    It has the facts of a status update (section 4.1): its token, and counts that are partial. Nothing is noted.
    """
    usage = {"total_input_tokens": 5, "total_output_tokens": 2}
    fields = {"id": "v1", "model": MODEL, "status": status, "usage": usage, "continuation_token": "dG9rMQ=="}
    by_document, by_stream = decoder(), decoder()
    found = by_document.feed_resource({**fields, "object": "interaction", "steps": [mo("a")]}) + by_document.close()
    update = {"event_type": "interaction.status_update", **fields}
    seen = by_stream.feed(stream(C(), S(0, mo("a")), X(0), update)) + by_stream.close()

    assert fold(seen).last == fold(found).last
    assert usage | {"partial": True} == found[-1].usage.details
    assert [] == by_document.notes


def test_c74_terminal_status_without_an_end():
    """
    An update alone ends nothing: the resource has to be asked.
    """
    assert failed(interrupted()) == terminal(stream(C(), U("completed")))


@pytest.mark.parametrize("end", [b"", b"event: done\ndata: [DONE]\n\n"], ids=["body", "done"])
def test_a_document_that_waits_for_the_app_ends_a_body(end):
    """
    Servers end their streams with it, in place of the completed one; one that was cut behind it has not ended.
    """
    waiting = {"id": "v1", "status": "requires_action", "usage": {"total_input_tokens": 3, "total_output_tokens": 2}}
    body = stream(C(), S(0, fc("c1")), D(0, args("{}")), X(0))
    body += b"data: " + json.dumps({"event_type": "interaction.requires_action", "interaction": waiting}).encode()
    found = message(body + b"\n\n" + end)
    made = decoder()
    [*_, cut] = made.feed(body + b"\n\n") + made.close(ErrorInfo(kind="network", message="reset"))

    assert ("tool-calls", "called", 3) == (found.finish_reason, found.tool_calls[0].status, found.usage.input_tokens)
    assert "network" == cut.error.kind
    assert "interrupted" == terminal(body + b"\n\n" + stream(S(1, mo("a")), X(1)) + end).error.kind


@pytest.mark.parametrize("more", [{}, {"interaction_id": "v1"}])
def test_an_update_that_waits_for_the_app_ends_a_body(more):
    """
    Servers end their streams with it where calls of the app are all that is open; without such a call it was cut.
    """
    update = {"event_type": "interaction.requires_action", **more}
    call = [S(0, fc("c1")), D(0, args("{}")), X(0)]
    found = message(stream(C(), *call, update, DONE))

    assert ("tool-calls", "requires_action") == (found.finish_reason, found.raw_finish_reason)
    assert ["called"] == [each.status for each in found.tool_calls]
    assert "interrupted" == terminal(stream(C(), *call[:2], update, DONE)).error.kind
    assert "interrupted" == terminal(stream(C(), *call, update, S(1, mo("a")), X(1))).error.kind
    assert "interrupted" == terminal(stream(C(), S(0, mo("a")), X(0), update)).error.kind


ERROR = {"code": "prohibited_content", "message": "It cannot be said."}
FAILED = [
    {"event_type": "interaction.failed", "interaction": {"id": "v1", "status": "failed"}, "error": ERROR},
    {"event_type": "response.failed", "error": ERROR},
    {"event_type": "response.failed", "interaction": {"error": ERROR}},
    {"event_type": "interaction.error", "error": ERROR},
    {"event_type": "interaction.error", "interaction": {"id": "v1", "error": ERROR}},
]


@pytest.mark.parametrize("event", FAILED)
def test_failures_in_words_of_gateways(event):
    """
    The error is beside the interaction or inside of it, whatever the event is called (CLIProxyAPI and others, 2026).
    """
    found = terminal(stream(C(), S(0, mo("a")), X(0), event)).error

    assert ("content-filter", ERROR["message"], ERROR["code"]) == (found.kind, found.message, found.code)


def test_an_error_beside_an_interaction_that_ended():
    """
    It counts only when the interaction has failed.
    """
    assert ended() == terminal(stream(C(), S(0, mo("a")), X(0), {**K(), "error": ERROR}))


def test_counts_in_the_first_event():
    """
    They are those of an answer that failed before others came.
    """
    usage = {"total_input_tokens": 5, "total_output_tokens": 0}
    start, other = C(usage=usage), C(usage={"total_input_tokens": 7})

    assert {**usage, "partial": True} == terminal(stream(start, E("internal", "x"))).usage.details
    assert 5 == terminal(stream(start, S(0, mo("a")), X(0))).usage.input_tokens
    assert message(answer()).usage == message(stream(other, K())).usage
    for name in ("in_progress", "requires_action"):
        update = {"event_type": f"interaction.{name}", "interaction": {"usage": usage}}
        assert 5 == terminal(stream(C(), update, S(0, mo("a")))).usage.input_tokens


@pytest.mark.parametrize("key", ["finish_reason", "stop_reason"])
def test_a_filter_beside_the_status(key):
    """
    An answer that a filter has cut is incomplete, and did not reach its length (CLIProxyAPI, 2026-09).
    """
    assert ended("content-filter", "incomplete") == terminal(stream(C(), K("incomplete", **{key: "content_filter"})))
    assert ended("length", "incomplete") == terminal(stream(C(), K("incomplete", **{key: "length"})))


def test_c75_empty_ids():
    """
    What is not stored has no id: no run, nothing in the state.
    """
    body = stream(C(""), S(0, mo("a")), X(0), K(id=""), DONE)

    assert [started(""), *text_of("a"), ended(id="")] == durable(body, request={"store": False, "background": True})


HIGH_DEMAND = "This model is currently experiencing high demand. Please try again later."

SHAPES = {
    "word": (
        400,
        {"error": {"code": "invalid_request", "message": "bad"}},
        ErrorInfo(kind="invalid-request", message="bad", code="invalid_request", status=400),
    ),
    "classic": (
        404,
        {"error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}},
        ErrorInfo(kind="not-found", message="gone", code="NOT_FOUND", status=404),
    ),
    "array": (
        503,
        [{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}],
        ErrorInfo(kind="overloaded", message="busy", code="UNAVAILABLE", status=503, retryable=True),
    ),
    "number": (
        429,
        {"error": {"code": 429, "message": "slow"}},
        ErrorInfo(kind="rate-limit", message="slow", code="429", status=429, retryable=True),
    ),
    "high demand": (
        400,
        {"error": {"code": "invalid_request", "message": HIGH_DEMAND}},
        ErrorInfo(kind="overloaded", message=HIGH_DEMAND, code="invalid_request", status=400, retryable=True),
    ),
    "text": (500, {"error": "boom"}, ErrorInfo(kind="provider", message="boom", status=500)),
    "no error": (418, {"detail": 1}, ErrorInfo(kind="invalid-request", message="HTTP 418", status=418)),
    "message alone": (500, {"message": "boom"}, ErrorInfo(kind="provider", message="boom", status=500)),
    "no object": (500, [], ErrorInfo(kind="provider", message="HTTP 500", status=500)),
    "no fields": (
        500,
        {"error": {"x": 1}},
        ErrorInfo(kind="provider", message="the provider reported an error", status=500, details={"x": 1}),
    ),
}


@pytest.mark.parametrize(("status", "document", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_c77_http_error_shapes(status, document, expected):
    """
    All shapes of an error give kind, message and code.
    """
    assert expected == ERRORS.read_http(status, {}, json.dumps(document).encode())


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[" * 5000], ids=["empty", "html", "bytes", "deep"])
def test_c77_http_error_that_is_no_json(body):
    """
    The status alone is enough.
    """
    assert ErrorInfo(kind="overloaded", message="HTTP 503", status=503, retryable=True) == ERRORS.read_http(
        503, {}, body
    )


KINDS = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    409: "invalid-request",
    410: "not-found",
    499: "overloaded",
    501: "invalid-request",
    502: "provider",
    504: "timeout",
    529: "overloaded",
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_http_statuses(status, kind):
    """
    The status is the error when the document has none.
    """
    assert kind == ERRORS.read_http(status, {}, b"").kind


def test_a_code_says_more_than_a_status():
    """
    A code that is known wins over the status.
    """
    document = {"error": {"code": "quota_exceeded", "message": "used up"}}

    assert "quota" == ERRORS.read_http(429, {}, json.dumps(document).encode()).kind


CODES = {
    "prohibited_content": ("content-filter", None),
    "image_safety": ("content-filter", None),
    **dict.fromkeys(
        ("blocklist", "spii", "recitation", "image_prohibited_content", "image_recitation"), ("content-filter", None)
    ),
    "language": ("invalid-request", None),
    "parameter_unknown": ("invalid-request", None),
    "authentication": ("auth", None),
    "payment_required": ("quota", None),
    "model_not_found": ("not-found", None),
    "service_unavailable": ("overloaded", True),
}


@pytest.mark.parametrize(("code", "found"), CODES.items(), ids=CODES)
def test_codes_of_the_service(code, found):
    """
    Its own codes have their kinds, in a stream, in a document, and over HTTP.
    """
    given = {"message": "No.", "code": code}
    errors = [{**given, "code": code.upper()}, {"message": "Also.", "code": "a_code_of_tomorrow"}]
    resource = {"id": "v1", "status": "failed", "errors": errors}
    [*_, last] = decoder().feed_resource(resource)
    read = [
        terminal(stream(C(), E(code, "No."))).error,
        last.error,
        ERRORS.read_http(400, {}, json.dumps({"error": given}).encode()),
    ]

    assert [found] * 3 == [(error.kind, error.retryable) for error in read]


def test_the_code_of_a_refusal():
    """
    What another provider has refused is written with the word for it.
    """
    assert {"code": "content_blocked", "message": "No."} == ERRORS.write(
        ErrorInfo(kind="content-filter", message="No.")
    )


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        pytest.param(E("invalid_request", HIGH_DEMAND), "overloaded", True, id="high demand"),
        pytest.param({"error": {"code": "too_many_requests", "message": "slow"}}, "rate-limit", True, id="no name"),
        pytest.param(E("rate_limit_exceeded", "slow"), "rate-limit", True, id="another word for it"),
        pytest.param({"event_type": "error", "error": "boom"}, "provider", None, id="text"),
    ],
)
def test_errors_of_a_stream(event, kind, retryable):
    """
    An error in a stream fails the step, whether a name, a code or a message identifies it.
    """
    body = stream(C()) + b"data: " + json.dumps(event).encode() + b"\n\n"
    error = terminal(body).error

    assert (kind, retryable) == (error.kind, error.retryable)


def test_a_code_alone_is_the_message():
    """
    An error event with a code and no message has the code as its message.
    """
    assert ErrorInfo(kind="timeout", message="gateway_timeout", code="gateway_timeout", retryable=True) == (
        terminal(stream(C(), E("gateway_timeout"))).error
    )


def test_a_number_alone_is_a_code():
    """
    So is a number; below 100 it is not an HTTP status.
    """
    assert ErrorInfo(kind="provider", message="7", code="7") == terminal(stream(C(), E(7))).error


# -- what the request decides


def test_the_origin_has_the_model_that_was_asked_for():
    """
    The model of the request is the origin's; what the provider reports is beside it.
    """
    [first, *_] = events(answer(), request={"model": "gemini-flash-latest"})

    assert started(model="gemini-flash-latest") == first


def test_the_origin_has_the_reported_model_without_a_request():
    """
    Without a request it is the one that the provider reports.
    """
    assert started() == events(answer())[0]


def test_the_origin_has_the_agent():
    """
    An agent is in the place of the model.
    """
    body = stream(C(model=None, agent="deep-research-preview-04-2026"))
    [first, *_] = events(body, request={"agent": "deep-research-preview-04-2026"})

    assert (
        Origin(
            provider="google",
            model="deep-research-preview-04-2026",
            dialect="gemini-interactions",
            served_model="deep-research-preview-04-2026",
        )
        == first.origin
    )


RESUMABLE = {
    "nothing known": (None, False),
    "background": ({"background": True}, True),
    "background, stored": ({"background": True, "store": True}, True),
    "background, not stored": ({"background": True, "store": False}, False),
    "stored": ({"store": True}, False),
    "wrong type": ({"background": "yes"}, False),
    "antigravity of May": ({"background": True, "agent": "antigravity-preview-05-2026"}, False),
    "antigravity of September": ({"background": True, "agent": "antigravity-preview-09-2026"}, True),
    "deep research": ({"background": True, "agent": "deep-research-preview-04-2026"}, True),
}


@pytest.mark.parametrize(("request_", "resumable"), RESUMABLE.values(), ids=RESUMABLE.keys())
def test_a_run_is_resumable_as_the_request_says(request_, resumable):
    """
    A run continues without a client when it is in the background and stored.
    """
    found = durable(answer(), request=request_)

    assert [RemoteRun(id="v1", resumable=resumable, kind="interaction")] * 2 == [event.run for event in found]


def test_a_cut_run_says_where_it_is():
    """
    A step that was cut keeps the run and what is needed to go back to it.
    """
    last = terminal(stream(C(environment_id="0b7e")), request={"background": True})

    assert RemoteRun(id="v1", resumable=True, kind="interaction") == last.run
    assert {"interaction_id": "v1", "environment_id": "0b7e"} == last.state


def test_the_environment_of_an_agent_is_kept():
    """
    The sandbox of an agent is state of the step.
    """
    body = stream(C(environment_id="0b7e"), K(environment_id="0b7f"))
    [first, last] = durable(body)

    assert "0b7e" == first.state["environment_id"]
    assert "0b7f" == last.state["environment_id"]


def test_the_cursor_is_the_last_event_id():
    """
    The decoder knows where a resumed stream would go on.
    """
    made = decoder()
    made.feed(stream({**C(), "event_id": "e1"}, {**S(0, mo("a")), "event_id": "e2"}, X(0)))

    assert "e2" == made.last_event_id
    assert None is decoder().last_event_id


def test_a_replay_has_no_cursor_before_it_gives_one():
    """
    A stream that begins anew cannot be gone on with behind an event of the one before it.
    """
    made = decoder()
    made.feed(stream({**C(), "event_id": "e1"}, {**S(0, mo("a")), "event_id": "e2"}))
    known = made.cursor
    made.rejoin()

    assert "e2" == known
    assert (None, "e2") == (made.cursor, made.last_event_id)


def test_the_error_of_the_decoder():
    """
    A decoder has the error of its last step, and `None` when it did not fail.
    """
    assert None is decoded(answer())[0].error
    assert interrupted() == decoded(stream(C()))[0].error
    assert "boom" == decoded(stream(C(), E("x", "boom")))[0].error.message


def test_the_reason_of_a_close_is_the_error():
    """
    The caller that closes a stream without an end may give the reason.
    """
    made = decoder()
    made.feed(stream(C(), S(0, mo()), D(0, text("a"))))
    why = ErrorInfo(kind="aborted", message="stopped")

    assert failed(why) == made.close(why)[-1]
    assert why == made.error


def test_the_status_of_a_part_that_was_cut():
    """
    In the message the part is incomplete.
    """
    [part] = message(stream(C(), S(0, mo()), D(0, text("a")))).parts

    assert ("a", "incomplete") == (part.text, part.status)
    assert MODEL == message(stream(C())).origin.served_model


@pytest.mark.parametrize("number", [10**5000, -(10**5000), 1 << 31], ids=["huge", "hugely negative", "large"])
def test_a_number_that_is_no_code(number):
    """
    Infinite numbers are neither codes nor statuses nor counts.
    """
    usage = {"total_input_tokens": number, "total_output_tokens": 1}
    end = K("failed", errors=[{"code": number, "message": "boom"}], usage=usage)
    body = stream(C()) + b"data: " + write_json(end) + b"\n\n"

    assert ErrorInfo(kind="provider", message="boom") == terminal(body).error
    assert (number if number == 1 << 31 else None) == terminal(body).usage.input_tokens
    assert "boom" in repr(terminal(body))


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"event_type": "error", "code": "internal", "message": "boom"}, "internal"),
        ({"event_type": "error", "error": {"status": "UNAVAILABLE"}}, "UNAVAILABLE"),
        ({"event_type": "error", "status": "UNAVAILABLE", "message": "busy"}, "UNAVAILABLE"),
    ],
)
def test_errors_of_gateways(event, code):
    """
    Without an object around it, or with a status alone, an error is one.
    """
    assert code == terminal(stream(C(), event)).error.code
