"""
Tables of errors: objects of a wire, bodies of HTTP responses, and the way back.
"""

import json

import attrs
import pytest

from assistant_events import fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.errors import ErrorTable, retry_after_s
from assistant_events.adapters.gemini_interactions.vocabulary import ERRORS
from assistant_events.adapters.openai_errors import ERRORS as OPENAI_ERRORS
from assistant_events.values import ErrorInfo, ErrorKind, write_json

TABLE = ErrorTable(
    codes={
        "overloaded_error": ErrorKind.OVERLOADED,
        "invalid_request_error": ErrorKind.INVALID_REQUEST,
        "rate_limit_error": ErrorKind.RATE_LIMIT,
        "context_length_exceeded": ErrorKind.CONTEXT_LENGTH,
    },
    fields=("code", "type"),
    otherwise="api_error",
)

READ = {
    "the most specific known code": (
        {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "long", "param": "input"},
        ErrorInfo(
            kind="context-length",
            message="long",
            code="context_length_exceeded",
            details={"type": "invalid_request_error", "param": "input"},
        ),
    ),
    "an unknown code before a known one": (
        {"type": "invalid_request_error", "code": "strange", "message": "m"},
        ErrorInfo(kind="invalid-request", message="m", code="strange", details={"type": "invalid_request_error"}),
    ),
    "a status as code": (
        {"code": 529, "message": "m"},
        ErrorInfo(kind="overloaded", message="m", code="529", status=529, retryable=True),
    ),
    "nothing": ({}, ErrorInfo(kind="provider", message="the provider reported an error")),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_reading(fields, expected):
    """
    Codes give the kind; fields without a meaning are details.
    """
    assert expected == TABLE.read(fields)


BODIES = {
    "plain text": (b"upstream connect error", "upstream connect error"),
    "text of many lines": (b"no\n  healthy upstream\n", "no healthy upstream"),
    "long text": (b"x" * 9000, "x" * 500),
    "html": (b"<html>Bad Gateway</html>", "HTTP 503"),
    "cut json": (b'{"error": {"mess', "HTTP 503"),
    "binary": (b"\x00\x01", "HTTP 503"),
    "a message of DeepInfra": (b'{"error_message": "busy"}', "busy"),  # anomalyco/opencode#38108
    "a message of Z.ai": (b'{"msg": "busy"}', "busy"),
    "a message beside the name of a status": (  # Wei-Shaw/claude-relay-service#48
        b'{"error": "Not Found", "message": "Route /api/ not found"}',
        "Not Found: Route /api/ not found",
    ),
    "a message that is the error": (b'{"error": "busy", "message": "busy"}', "busy"),
    "a message without an error object": (b'{"message": "busy"}', "busy"),
    "an error that is a text": (b'{"error": "busy"}', "busy"),
    "an array": (b'[{"error": {"message": "busy"}}]', "busy"),
    "an array in an error": (b'{"error": [{"message": "busy"}]}', "busy"),  # of Venice (ar-jan/llm-venice#3)
    "an error beside a detail": (b'{"error": {"message": "busy"}, "detail": {"message": "x"}}', "busy"),
    "an error of a provider behind Databricks": (
        b'{"error": "Received error from amazon-bedrock", "external_model_message": {"message": "busy"}}',
        "busy",
    ),
    "a frame": (b'data:{"error": {"message": "busy"}}', "busy"),  # of MiMo (tailcallhq/forgecode#3347)
    "a frame with a name": (b'event: error\ndata: {"error": {"message": "busy"}}\n\ndata: [DONE]\n\n', "busy"),
    "a frame of text": (b"data: busy", "data: busy"),
    "a text of JSON": (b'"busy"', "busy"),  # of SiliconFlow (rikkahub/rikkahub#372)
    "an empty array": (b"[]", "HTTP 503"),
    "an empty text of JSON": (b'""', "HTTP 503"),
}


@pytest.mark.parametrize(("body", "message"), BODIES.values(), ids=BODIES)
def test_bodies(body, message):
    """
    The message is found in every form of body; the status alone gives the kind.
    """
    assert ErrorInfo(kind="overloaded", message=message, status=503, retryable=True) == TABLE.read_http(503, {}, body)


UNKNOWN = "The number of tokens to keep from the initial prompt is greater than the context length."


@pytest.mark.parametrize(("more", "kind"), [({}, "context-length"), ({"code": "server_error"}, "provider")])
def test_phrases_beside_no_known_code(more, kind):
    """
    In a stream LM Studio sends a message and no code (anomalyco/opencode#2259); a code that is known counts.
    """
    assert kind == OPENAI_ERRORS.read({"message": UNKNOWN, **more}).kind


def test_what_a_gateway_has_not_understood():
    """
    The gateway of Vercel has what it has got from the server behind it in `value` (vercel/ai#18303).
    """
    text = '{"error":{"message":"This model\'s maximum context length is 40960 tokens."}}'
    value = {"error_type": "validation_error", "error_message": text}

    assert "context-length" == OPENAI_ERRORS.read({"code": "error", "message": "Stream error", "value": value}).kind


RETRY_AFTER = {
    "seconds": ({"retry-after": "7"}, 7.0),
    "milliseconds first": ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
    "a fraction": ({"retry-after": "299.997"}, 299.997),
    "a fraction of milliseconds": ({"retry-after-ms": "1500.5"}, 1.5005),
    "words behind a number": ({"retry-after": "7 s"}, None),
    "that of the server behind LiteLLM": ({"llm_provider-retry-after": "7"}, 7.0),
    "its own first": ({"llm_provider-retry-after-ms": "250", "retry-after": "5"}, 5.0),
    "a date": ({"retry-after": "Sun, 22 Nov 2026 12:00:30 GMT", "date": "Sun, 22 Nov 2026 12:00:00 GMT"}, 30.0),
    "a date that has passed": (
        {"retry-after": "Sun, 22 Nov 2026 11:00:00 GMT", "date": "Sun, 22 Nov 2026 12:00:00 GMT"},
        0.0,
    ),
    "a date alone": ({"retry-after": "Sun, 22 Nov 2026 12:00:30 GMT"}, None),
    "dates of different kinds": (
        {"retry-after": "Sun, 22 Nov 2026 12:00:30 GMT", "date": "Sun, 22 Nov 2026 12:00:00 -0000"},
        None,
    ),
    "not a time": ({"retry-after": "soon"}, None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize(("headers", "expected"), RETRY_AFTER.values(), ids=RETRY_AFTER)
def test_retry_after(headers, expected):
    """
    `retry-after` gives seconds, without a clock.
    """
    assert expected == retry_after_s(headers)
    assert expected == TABLE.read_http(429, headers, b"").retry_after_s


DELAYS = {
    "Rate limit reached on tokens per min (TPM): Limit 30000. Please try again in 6.379s. Visit https://…": 6.379,
    "Please try again in 579ms.": 0.579,
    "Please try again in 1m3.5s. Need more tokens?": 63.5,
    "Please try again in 1h2m": 3720.0,
    "You exceeded your current quota. Please retry in 34.5s.": 34.5,
    "Please retry after 6 seconds. Please go here": 6.0,
    "No deployments available for selected model, Try again in 5 seconds.": 5.0,
    "Your limit will reset in 1 hour, 35 minutes": 5700.0,
    "Monthly usage limit reached. Resets in 16 days. To continue, enable usage from your balance": 1382400.0,
    "Please try again in 2 hours and 5 mins.": 7500.0,
    "Sorry, your request was rate-limited. Please wait 10 hours 58 minutes before trying again.": 39480.0,
    "You've used your budget. Try again in about 3 hours.": 10800.0,
    "Please wait a moment before trying again.": None,
    "Please try again in 999999999 days.": None,
    "Please try again in some minutes.": None,
    "Please retry after 2026-01-01.": None,
    "Please try again in 9 models": None,
}


@pytest.mark.parametrize(("message", "expected"), DELAYS.items(), ids=list(DELAYS))
def test_delays_in_messages(message, expected):
    """
    Errors in streams have no header: their delay is in the message, where Codex and others read it.
    """
    error = OPENAI_ERRORS.read({"code": "rate_limit_exceeded", "message": message})

    assert expected == pytest.approx(error.retry_after_s)
    assert error == OPENAI_ERRORS.read(OPENAI_ERRORS.write(error))
    assert (
        7.0
        == OPENAI_ERRORS.read_http(429, {"retry-after": "7"}, json.dumps({"message": message}).encode()).retry_after_s
    )
    assert OPENAI_ERRORS.read({"code": "invalid_prompt", "message": message}).retry_after_s is None


SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"
UNREADABLE = {
    "a limit": (
        429,
        {"type": "overloaded_error", "message": f"All accounts exhausted. Last error: HTTP 400: {SIGNATURE}"},
    ),
    "a failure of the server": (529, {"message": f"upstream error: {SIGNATURE}"}),
    "a policy": (
        400,
        {"message": "litellm.ContentPolicyViolationError: The encrypted content g could not be verified."},
    ),
    "a code": (502, {"code": "invalid_encrypted_content", "message": "Upstream request failed"}),
    "an item": (404, {"message": "Item with id 'rs_1' not found."}),
}


@pytest.mark.parametrize(("status", "fields"), UNREADABLE.values(), ids=UNREADABLE)
def test_state_that_no_account_can_read(status, fields):
    """
    Gateways ask with each account and answer with a limit (Antigravity-Manager#777): the same request fails again.
    """
    error = load_dialect("openai-chat").http_error(status, {}, json.dumps({"error": fields}).encode())

    assert ("invalid-request", None, status) == (error.kind, error.retryable, error.status)


RESETS = {
    "the time of a response and of its end": ("1800000042000", "Fri, 15 Jan 2027 08:00:00 GMT", 42.0),
    "an end that has passed": ("1799999999000", "Fri, 15 Jan 2027 08:00:00 GMT", 0.0),
    "no time of the response": ("1800000042000", None, None),
    "no time of the end": ("soon", "Fri, 15 Jan 2027 08:00:00 GMT", None),
    "a number in place of a text": (1800000042000, "Fri, 15 Jan 2027 08:00:00 GMT", None),
}


@pytest.mark.parametrize(("reset", "date", "expected"), RESETS.values(), ids=RESETS)
def test_when_a_limit_of_openrouter_ends(reset, date, expected):
    """
    OpenRouter has the headers of its limits in the body (dirge-code/dirge#719); a header of the response counts first.
    """
    fields = {"message": "Slow down.", "code": 429, "metadata": {"headers": {"X-RateLimit-Reset": reset}}}
    headers = {} if date is None else {"date": date}
    body = json.dumps({"error": fields}).encode()

    assert expected == OPENAI_ERRORS.read_http(429, headers, body).retry_after_s
    assert 7.0 == OPENAI_ERRORS.read_http(429, {**headers, "retry-after": "7"}, body).retry_after_s


def test_when_a_plan_begins_anew():
    """
    Codex has the seconds beside the message of a plan that is used up.
    """
    fields = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_in_seconds": 9568}
    error = OPENAI_ERRORS.read(fields)

    assert ("quota", 9568.0, None) == (error.kind, error.retry_after_s, error.retryable)


@pytest.mark.parametrize(("seconds", "expected"), [(17.5, 17.5), (3, 3.0), (0, None), (-1, None), ("3", None)])
def test_the_seconds_in_the_metadata_of_openrouter(seconds, expected):
    """
    They are those after which a server behind it takes requests again (goose: http_status.rs), also in a stream.
    """
    fields = {"message": "Provider returned error", "code": 429, "metadata": {"retry_after_seconds": seconds}}

    assert expected == OPENAI_ERRORS.read_document({"error": fields}).retry_after_s


FRAMES = {
    "a refused key": ({"status": 401, "error": {"code": "x", "message": "No."}}, ("auth", 401, None)),
    "a connection that is an hour old": (
        {
            "status": 400,
            "error": {
                "type": "invalid_request_error",
                "code": "websocket_connection_limit_reached",
                "message": "Responses websocket connection limit reached (60 minutes). Create a new connection.",
            },
        },
        ("provider", 400, True),
    ),
    "a response that is not known": (
        {"status": 400, "error": {"code": "previous_response_not_found", "message": "No.", "param": None}},
        ("not-found", 400, None),
    ),
}


@pytest.mark.parametrize(("sent", "expected"), FRAMES.values(), ids=FRAMES)
def test_an_error_in_a_websocket(sent, expected):
    """
    OpenAI has the HTTP status beside the error there (openclaw/openclaw#122727).
    """
    *_, failed = load_dialect("openai-responses").decoder("m").feed_event({"type": "error", **sent})

    assert expected == (failed.error.kind, failed.error.status, failed.error.retryable)


ENDS_OF_PLANS = {
    "the time of a response and of its end": (1800000042, "Fri, 15 Jan 2027 08:00:00 GMT", 42.0),
    "an end that has passed": (1799999999, "Fri, 15 Jan 2027 08:00:00 GMT", 0.0),
    "no time of the response": (1800000042, None, None),
    "no time of the end": (None, "Fri, 15 Jan 2027 08:00:00 GMT", None),
    "a number that no clock has": (10**400, "Fri, 15 Jan 2027 08:00:00 GMT", None),
    "a time that no calendar has": (10**30, "Fri, 15 Jan 2027 08:00:00 GMT", None),
}


@pytest.mark.parametrize(("reset", "date", "expected"), ENDS_OF_PLANS.values(), ids=ENDS_OF_PLANS)
def test_when_a_plan_of_codex_ends(reset, date, expected):
    """
    Codex has the time at which a plan begins anew, in seconds, and no header for it.
    """
    fields = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_at": reset}
    headers = {} if date is None else {"date": date}
    error = OPENAI_ERRORS.read_http(429, headers, json.dumps({"error": fields}).encode())

    assert ("quota", expected) == (error.kind, error.retry_after_s)


def test_retry_info():
    """
    The retry delay is read from a google.rpc.RetryInfo among the details, which are kept.
    """
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    error = ERRORS.read({"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": details})

    assert (34.5, {"details": details}) == (error.retry_after_s, error.details)


DAY, MINUTE = [f"GenerateRequestsPer{each}PerProjectPerModel-FreeTier" for each in ("Day", "Minute")]
LIMITS = {
    "of a day, beside one of a minute": ([{"violations": [{"quotaId": MINUTE}, {"quotaId": DAY}]}], "quota"),
    "of a minute": ([{"violations": [{"quotaId": MINUTE}]}], "rate-limit"),
    "of a day, in the metadata": ([{"metadata": {"quota_limit": "Gemini25ProRequestsPerDay"}}], "quota"),
    "of a day, in another word": ([{"metadata": {"quota_limit": "DailyRequestsPerUser"}}], "quota"),
    "of a plan": ([{"reason": "QUOTA_EXHAUSTED", "domain": "cloudcode-pa.googleapis.com"}], "quota"),
    "of credits": ([{"reason": "INSUFFICIENT_G1_CREDITS_BALANCE"}], "quota"),
    "for now": ([{"reason": "RATE_LIMIT_EXCEEDED", "domain": "cloudcode-pa.googleapis.com"}], "rate-limit"),
}


@pytest.mark.parametrize("dialect", ["gemini-generate-content", "gemini-interactions"])
@pytest.mark.parametrize(("details", "kind"), LIMITS.values(), ids=LIMITS)
def test_limits_of_google(dialect, details, kind):
    """
    The limit of a day or of a plan is a quota, where the Gemini CLI does not ask again either (gemini-cli#8437).
    """
    details = [*details, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}]
    error = {"code": 429, "message": "exceeded", "status": "RESOURCE_EXHAUSTED", "details": details}
    read = load_dialect(dialect).http_error(429, {}, json.dumps([{"error": error}]).encode())

    assert (kind, 22, True if kind == "rate-limit" else None) == (read.kind, read.retry_after_s, read.retryable)
    assert read == attrs.evolve(ERRORS.read(ERRORS.write(read)), status=429)


WRITTEN = {
    "its own code": (
        ErrorInfo(kind="overloaded", message="m", code="overloaded_error", retryable=True),
        {"code": "overloaded_error", "message": "m"},
    ),
    "a status": (ErrorInfo(kind="provider", message="m", code="500", status=500), {"code": 500, "message": "m"}),
    "details": (ErrorInfo(kind="provider", message="m", details={"param": 1}), {"message": "m", "param": 1}),
}
NEAREST = {
    "the first code of the kind": ("rate-limit", None, "rate_limit_error"),
    "the code of the nearest kind": ("not-found", None, "invalid_request_error"),
    "the last resort": ("auth", None, "api_error"),
    "the code that the error has": ("auth", "-17", "-17"),
    "the first code of the kind, of an error with that of another wire": (
        "rate-limit",
        "throttlingException",
        "rate_limit_error",
    ),
}


@pytest.mark.parametrize(("error", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_writing(error, expected):
    """
    An error is written in the form that is read as the same.
    """
    assert expected == TABLE.write(error)
    assert TABLE.is_exact(error)


@pytest.mark.parametrize(("kind", "code", "word"), NEAREST.values(), ids=NEAREST)
def test_writing_the_nearest(kind, code, word):
    """
    An error that no form is read as is written with the nearest code.
    """
    error = ErrorInfo(kind=kind, message="m", code=code)

    assert {"code": word, "message": "m"} == TABLE.write(error)
    assert not TABLE.is_exact(error)


BESIDE = ErrorTable(
    codes={"api_error": ErrorKind.PROVIDER, "strange": ErrorKind.PROVIDER},
    fields=("type",),
    otherwise="api_error",
    beside=("request_id",),
    retryable=frozenset({"api_error"}),
)
DOCUMENT = {"error": {"type": "api_error", "message": "m", "param": "p"}, "request_id": "r1"}
WHOLE = ErrorInfo(
    kind="provider", message="m", code="api_error", retryable=True, details={"param": "p", "request_id": "r1"}
)


def test_fields_beside_the_object():
    """
    The id of a request is beside the object of its error, in events and in bodies of responses.
    """
    body = BESIDE.read_http(500, {}, json.dumps(DOCUMENT).encode())

    assert WHOLE == BESIDE.read_document(DOCUMENT)
    assert attrs.evolve(WHOLE, status=500) == body
    assert DOCUMENT == BESIDE.write_document(WHOLE)


def test_codes_that_may_be_tried_again():
    """
    A table may name codes after which the same request may succeed.
    """
    assert (True, None) == (BESIDE.read({"type": "api_error"}).retryable, BESIDE.read({"type": "strange"}).retryable)


NESTED = {
    "a code of the gateway alone": ("rate_limit_exceeded", "odd", ("rate-limit", "rate_limit_exceeded")),
    "both codes": ("rate_limit_exceeded", "context_length_exceeded", ("context-length", "context_length_exceeded")),
    "a code of the server behind it alone": ("odd", "rate_limit_exceeded", ("rate-limit", "rate_limit_exceeded")),
    "neither": ("odd", "strange", ("provider", "strange")),
    "one code": ("odd", None, ("provider", "odd")),
}


@pytest.mark.parametrize(("outer", "inner", "expected"), NESTED.values(), ids=NESTED)
def test_an_error_that_is_the_message_of_another(outer, inner, expected):
    """
    The code inside counts, unless it alone has no meaning.
    """
    text = json.dumps({"error": {"message": "busy", "code": inner}})
    error = OPENAI_ERRORS.read({"code": outer, "message": text})

    assert ("busy", *expected) == (error.message, error.kind, error.code)


LISTS = {
    "FastAPI": (
        {"detail": [{"loc": ["body", "messages", 0], "msg": "Field required", "input": "secret"}]},
        ("body.messages.0: Field required", None),
    ),
    "Mistral": (
        {"object": "error", "message": {"detail": [{"loc": ["body", "n"], "msg": "Not permitted"}]}},
        ("body.n: Not permitted", None),
    ),
    "Cloudflare": (
        {"success": False, "errors": [{"code": 7000, "message": "No route for that URI"}]},
        ("No route for that URI", "7000"),
    ),
    "FastAPI, an index and a message of too many digits": (
        {"detail": [{"loc": ["body", 10**4999], "msg": 10**4999}]},
        (f"body.1{'0' * 4999}: 1{'0' * 4999}", None),
    ),
    "MiniMax, a number of too many digits": (
        {"base_resp": {"status_code": 10**4999, "status_msg": "x"}},
        ("x", f"1{'0' * 4999}"),
    ),
    "a message beside a text": ({"message": "Not permitted", "detail": "n"}, ("Not permitted", None)),
}


@pytest.mark.parametrize(("document", "expected"), LISTS.values(), ids=LISTS)
def test_lists_of_faults(document, expected):
    """
    Servers that name what is wrong with each field of a request are understood, without the values of the fields.
    """
    error = load_dialect("openai-chat").http_error(422, {}, write_json(document))

    assert expected == (error.message, error.code)
    assert "secret" not in str(error)


CODES = {
    "a policy": (400, {"error": {"code": "cyber_policy", "message": "Flagged."}}, ("content-filter", None, "Flagged.")),
    "a plan": (429, {"error": {"type": "usage_not_included", "message": "No."}}, ("quota", None, "No.")),
    "a detail": (402, {"detail": {"code": "deactivated_workspace"}}, ("quota", None, "deactivated_workspace")),
    "a detail with a text": (402, {"detail": {"code": "no_seat", "message": "No."}}, ("quota", None, "No.")),
}


@pytest.mark.parametrize(("status", "document", "expected"), CODES.values(), ids=CODES)
def test_codes_of_codex(status, document, expected):
    """
    The service of Codex has codes of its own: what a plan lacks does not come with time (openai/codex, api_bridge.rs).

    That of a workspace is in a detail (codex2api#42), and was lost.
    """
    error = load_dialect("openai-responses").http_error(status, {}, json.dumps(document).encode())
    code = document["detail"]["code"] if "detail" in document else next(iter(document["error"].values()))

    assert (*expected, code) == (error.kind, error.retryable, error.message, error.code)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_a_code_beside_a_text(name):
    """
    An error of xAI is a text, with its code beside it; text-generation-inference has a type there.
    """
    body = {"code": "Some resource has been exhausted", "error": "Out of credits", "error_type": "quota"}
    error = load_dialect(name).http_error(429, {}, json.dumps(body).encode())

    assert ("Out of credits", body["code"], {"error_type": "quota"}) == (error.message, error.code, error.details)


@pytest.mark.parametrize("name", ["gemini-interactions", "gemini-generate-content"])
def test_a_key_of_google_that_is_not_valid(name):
    """
    It is answered as an invalid argument (400).
    """
    body = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}

    assert ErrorKind.AUTH is load_dialect(name).http_error(400, {}, json.dumps(body).encode()).kind


OF_ZAI = '{"code": 401, "msg": "token expired or incorrect", "success": false}'


@pytest.mark.parametrize("name", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize("streams", [False, True], ids=["document", "stream"])
def test_an_error_with_the_status_of_a_success(name, streams):
    """
    Z.ai answers so where the key or the path is wrong (recorded in public repositories): a stream was read as one that
    was cut, which is asked for again.
    """
    decoder = load_dialect(name).decoder("m1")
    events = (
        [*decoder.feed(OF_ZAI.encode()), *decoder.close()] if streams else decoder.feed_resource(json.loads(OF_ZAI))
    )

    error = events[-1].error
    assert ("auth", "token expired or incorrect", None) == (error.kind, error.message, error.retryable)


REFUSALS = {
    "a key of DeepSeek": (401, {"type": "authentication_error", "code": "invalid_request_error"}, "auth"),
    "no key": (401, {"type": "invalid_request_error", "code": None}, "auth"),
    "too many requests": (429, {"type": "invalid_request_error", "code": None}, "rate-limit"),
    "a fault of the request": (422, {"type": "invalid_request_error", "code": None}, "invalid-request"),
    "a failure that is a fault of the request": (500, {"type": "invalid_request_error"}, "invalid-request"),
    "new-api, no money": (403, {"type": "new_api_error", "code": "insufficient_user_quota"}, "quota"),
    "sub2api, no money": (403, {"code": "INSUFFICIENT_BALANCE"}, "quota"),
    "MiMo, no money": (402, {"type": "server_error"}, "quota"),
    "a timeout of Cloudflare": (524, {"type": None}, "timeout"),
    "a failure that is a limit": (429, {"type": "server_error"}, "rate-limit"),
    "new-api, no model": (503, {"type": "new_api_error", "code": "model_not_found"}, "not-found"),
    "Zen, no model": (401, {"type": "ModelError"}, "not-found"),
    "Zen, the limit of a user": (401, {"type": "UserLimitError"}, "quota"),
    "Zen, the free requests": (429, {"type": "FreeUsageLimitError"}, "quota"),
    "LiteLLM, a budget with words of its own": (429, {"type": "budget_exceeded", "code": "429"}, "quota"),
    "DashScope, a debt": (400, {"code": "Arrearage", "type": "Arrearage"}, "quota"),
    "Spark, no right": (200, {"code": 11200}, "auth"),
    "Spark, no right, as a text": (500, {"code": "11200"}, "auth"),
    "Spark, a day": (500, {"code": 11201}, "quota"),
    "Spark, requests of a second": (500, {"code": 11202}, "rate-limit"),
    "Spark, a refused prompt": (500, {"code": 10013}, "content-filter"),
    "Spark, a long prompt": (500, {"code": "10907"}, "context-length"),
    "Volcengine, a refused prompt": (
        400,
        {"code": "SensitiveContentDetected.Violence", "type": "BadRequest"},
        "content-filter",
    ),
    "Volcengine, a plan": (429, {"code": "AccountQuotaExceeded", "type": "TooManyRequests"}, "quota"),
    "a limit of the service behind a gateway": (503, {"code": 429}, "rate-limit"),
    "OpenAI, a refused image": (
        400,
        {"type": "image_generation_user_error", "code": "moderation_blocked"},
        "content-filter",
    ),
    "GitHub, a long prompt": (413, {"code": "tokens_limit_reached"}, "context-length"),
    "Qianfan, a long prompt": (400, {"code": "tokens_too_long", "type": "invalid_request_error"}, "context-length"),
    "Qianfan, many characters": (400, {"code": "characters_too_long"}, "context-length"),
    "Qianfan, a filter": (403, {"code": "system_unsafe", "type": "unsafe_request"}, "content-filter"),
    "Qianfan, a debt": (403, {"code": "account_overdue", "type": "access_denied"}, "quota"),
    "Qianfan, a model that is gone": (403, {"code": "model_offline", "type": "access_denied"}, "not-found"),
}


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic-messages"])
@pytest.mark.parametrize(("status", "fields", "kind"), REFUSALS.values(), ids=REFUSALS)
def test_codes_that_are_vague_or_of_gateways(name, status, fields, kind):
    """
    An invalid request beside another code or the status of a refusal is that; gateways have their codes on each wire.
    """
    error = load_dialect(name).http_error(status, {}, json.dumps({"error": {"message": "m", **fields}}).encode())

    assert (kind, True if kind in ("rate-limit", "timeout") else None) == (error.kind, error.retryable)


OF_OTHERS = {
    "a limit": (
        "bedrock-converse",
        {"throttlingException": {"message": "m"}},
        "rate_limit_error",
        "rate_limit_exceeded",
    ),
    "no capacity": (
        "gemini-generate-content",
        {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}},
        "overloaded_error",
        "server_is_overloaded",
    ),
    "no code": ("gemini-interactions", {"error": {"message": "m"}}, "api_error", "server_error"),
}


@pytest.mark.parametrize(("source", "frame", "of_claude", "of_openai"), OF_OTHERS.values(), ids=OF_OTHERS)
def test_errors_of_others_are_written_in_a_word_of_the_wire(source, frame, of_claude, of_openai):
    """
    A stream has no status: clients wait and ask again by the word alone.
    """
    events = load_dialect(source).decoder("m").feed_event(frame)
    words = {"anthropic-messages": of_claude, "openai-chat": of_openai, "openai-responses": of_openai}
    for name, word in words.items():
        emitter, failed = load_dialect(name).emitter(), fold(events).last
        last = [each for event in events for each in emitter.emit(event)][-1]
        written = last.get("response", last)["error"]

        assert (word, "m") == (written.get("type" if word == of_claude else "code"), written["message"])
        assert written == load_dialect(name).emit_resource(failed)["error"]
