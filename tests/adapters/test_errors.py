"""
Tables of errors: objects of a wire, bodies of HTTP responses, and the way back.
"""

import json

import attrs
import pytest

from assistant_events.adapters import load_dialect
from assistant_events.adapters.errors import ErrorTable, retry_after_s
from assistant_events.adapters.gemini_interactions.vocabulary import ERRORS
from assistant_events.adapters.openai_errors import ERRORS as OPENAI_ERRORS
from assistant_events.values import ErrorInfo, ErrorKind

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
    "an empty array": (b"[]", "HTTP 503"),
}


@pytest.mark.parametrize(("body", "message"), BODIES.values(), ids=BODIES)
def test_bodies(body, message):
    """
    The message is found in every form of body; the status alone gives the kind.
    """
    assert ErrorInfo(kind="overloaded", message=message, status=503, retryable=True) == TABLE.read_http(503, {}, body)


LIMITS = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."

SERVERS = {
    "Claude, the limit of a month": (
        ("anthropic-messages", 400, LIMITS, {"type": "invalid_request_error"}),
        ("quota", None),
    ),
    "Claude, paid usage alone": (
        (
            "anthropic-messages",
            429,
            "Extra usage is required for long context requests.",
            {"type": "rate_limit_error"},
        ),
        ("quota", None),
    ),
    "Claude, a plan that is used up": (
        (
            "anthropic-messages",
            400,
            "You're out of extra usage. Add more at claude.ai/settings/usage and keep going.",
            {"type": "invalid_request_error"},
        ),
        ("quota", None),
    ),
    "Claude, an app that no plan covers": (
        (
            "anthropic-messages",
            400,
            "Third-party apps now draw from your extra usage, not your plan limits.",
            {"type": "invalid_request_error"},
        ),
        ("quota", None),
    ),
    "Gemini, credits that are used up": (
        (
            "gemini-generate-content",
            429,
            "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage it.",
            {"code": 429, "status": "RESOURCE_EXHAUSTED"},
        ),
        ("quota", None),
    ),
    "Bedrock, a day that is used up": (
        (
            "bedrock-converse",
            429,
            "Too many tokens per day, please wait before trying again.",
            {"code": "throttlingException"},
        ),
        ("quota", None),
    ),
    "Bedrock, an account that pays nothing": (
        (
            "bedrock-converse",
            403,
            "Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.",
            {"code": "accessDeniedException"},
        ),
        ("quota", None),
    ),
    "Bedrock, too many tokens for now": (
        ("bedrock-converse", 429, "Too many tokens, please wait before trying again.", {"code": "throttlingException"}),
        ("rate-limit", True),
    ),
    "Kimi, a plan that is used up": (
        (
            "anthropic-messages",
            403,
            "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle.",
            {"type": "permission_error"},
        ),
        ("quota", None),
    ),
    "Kimi, too many requests at once": (
        (
            "anthropic-messages",
            403,
            "You've reached your concurrent request limit. Please wait for your ongoing requests to finish.",
            {"type": "permission_error"},
        ),
        ("rate-limit", True),
    ),
    "Kimi, a week that is used up": (
        (
            "anthropic-messages",
            403,
            "You've reached your weekly (7-day) usage limit. Now purchase extra usage or upgrade your plan.",
            {"type": "access_terminated_error"},
        ),
        ("quota", None),
    ),
    "Kimi, an app that is not allowed": (
        (
            "anthropic-messages",
            403,
            "Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code.",
            {"type": "access_terminated_error"},
        ),
        ("auth", None),
    ),
    "Zen, no card": (
        (
            "anthropic-messages",
            401,
            "No payment method. Add a payment method here: https://opencode.ai/workspace/w/billing",
            {"type": "CreditsError"},
        ),
        ("quota", None),
    ),
    "Claude, a refused answer": (
        ("anthropic-messages", 400, "Output blocked by content filtering policy", {"type": "invalid_request_error"}),
        ("content-filter", None),
    ),
    "DeepSeek, no money": (
        ("openai-chat", 402, "Insufficient Balance", {"type": "unknown_error", "code": "invalid_request_error"}),
        ("quota", None),
    ),
    "DeepSeek, a refused prompt": (
        ("openai-chat", 400, "Content Exists Risk", {"code": "invalid_request_error"}),
        ("content-filter", None),
    ),
    "MiniMax, no money": (
        ("openai-chat", 429, "insufficient balance (1008)", {"http_code": "429", "type": "insufficient_balance_error"}),
        ("quota", None),
    ),
    "MiniMax as Anthropic, no money": (
        ("anthropic-messages", 500, "insufficient balance (1008)", {"type": "api_error"}),
        ("quota", None),
    ),
    "MiniMax as Anthropic, another failure": (
        ("anthropic-messages", 500, "unknown error (1000)", {"type": "api_error"}),
        ("provider", True),
    ),
    "Z.ai, no money": (
        ("openai-chat", 429, "余额不足或无可用资源包,请充值。", {"code": "1113"}),
        ("quota", None),
    ),
    "Z.ai as Anthropic, no money": (
        (
            "anthropic-messages",
            429,
            "[1113][Insufficient balance or no resource package. Please recharge.]",
            {"type": "rate_limit_error", "code": "1113"},
        ),
        ("quota", None),
    ),
    "Z.ai as Anthropic, no money, in Chinese": (
        ("anthropic-messages", 429, "余额不足或无可用资源包,请充值。", {"type": "1113"}),
        ("quota", None),
    ),
    "Z.ai, a plan that is used up": (
        (
            "openai-chat",
            429,
            "已达到 5小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。",
            {"code": "1308"},
        ),
        ("quota", None),
    ),
    "Z.ai as Anthropic, a week that is used up": (
        ("anthropic-messages", 429, "Weekly/Monthly Limit Exhausted.", {"type": "1310"}),
        ("quota", None),
    ),
    "MiniMax as Anthropic, a plan that is used up": (
        (
            "anthropic-messages",
            429,
            "usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (0/0 used) (2056)",
            {"type": "rate_limit_error"},
        ),
        ("quota", None),
    ),
    "Z.ai, too many requests": (
        ("openai-chat", 429, "High concurrency usage of this API", {"code": "1302"}),
        ("rate-limit", True),
    ),
    "Z.ai, too long": (("openai-chat", 400, "Prompt exceeds max length", {"code": "1261"}), ("context-length", None)),
    "Moonshot, no money": (
        ("openai-chat", 429, "Your account is suspended", {"type": "exceeded_current_quota_error"}),
        ("quota", None),
    ),
    "Moonshot, too long": (
        (
            "openai-chat",
            400,
            "Invalid request: Your request exceeded model token limit: 262144",
            {"type": "invalid_request_error"},
        ),
        ("context-length", None),
    ),
    "DashScope, too long": (
        (
            "openai-chat",
            400,
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
            {"code": "invalid_parameter_error"},
        ),
        ("context-length", None),
    ),
    "DashScope, a refused prompt": (
        ("openai-chat", 400, "Input data may contain inappropriate content.", {"code": "data_inspection_failed"}),
        ("content-filter", None),
    ),
    "llama.cpp, too long": (
        (
            "openai-chat",
            400,
            "the request exceeds the available context size, try increasing it",
            {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192},
        ),
        ("context-length", None),
    ),
    "Claude at a gateway, too long": (
        ("openai-chat", 400, "prompt is too long: 202345 tokens > 200000 maximum", {"code": 400}),
        ("context-length", None),
    ),
    "Claude, an organization that is disabled": (
        ("anthropic-messages", 400, "This organization has been disabled.", {"type": "invalid_request_error"}),
        ("auth", None),
    ),
    "Copilot, a model that it does not have": (
        (
            "anthropic-messages",
            400,
            "The requested model is not supported.",
            {"code": "model_not_supported", "param": "model", "type": "invalid_request_error"},
        ),
        ("not-found", None),
    ),
    "Copilot, too long": (
        (
            "anthropic-messages",
            400,
            "prompt token count of 138898 exceeds the limit of 64000",
            {"code": "model_max_prompt_tokens_exceeded"},
        ),
        ("context-length", None),
    ),
    "xAI, too long": (
        (
            "openai-chat",
            400,
            "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
            {"code": "Client specified an invalid argument"},
        ),
        ("context-length", None),
    ),
    "Poolside, too long": (
        (
            "openai-chat",
            400,
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            {"code": 400},
        ),
        ("context-length", None),
    ),
    "Claude behind OpenRouter, too long": (
        (
            "openai-chat",
            400,
            "Provider returned error",
            {"code": 400, "metadata": {"raw": '{"error":{"message":"prompt is too long: 213462 tokens"}}'}},
        ),
        ("context-length", None),
    ),
    "a provider behind OpenRouter, without words": (
        ("openai-chat", 400, "Provider returned error", {"code": 400, "metadata": {"raw": None}}),
        ("invalid-request", None),
    ),
    "LM Studio, too long": (
        ("openai-chat", 400, "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", {}),
        ("context-length", None),
    ),
    "OpenAI, more than a minute has": (
        (
            "openai-chat",
            429,
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389.",
            {"type": "tokens", "code": "rate_limit_exceeded"},
        ),
        ("context-length", None),
    ),
    "Groq, more than a minute has left": (
        (
            "openai-chat",
            429,
            "Rate limit reached for model `llama` on tokens per minute (TPM): Limit 12000, Used 4437, Requested 9854.",
            {"type": "tokens", "code": "rate_limit_exceeded"},
        ),
        ("rate-limit", True),
    ),
    "OpenAI, a refused prompt": (
        (
            "openai-responses",
            400,
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            {"type": "invalid_request_error", "code": "invalid_prompt"},
        ),
        ("content-filter", None),
    ),
    "xAI, a refused prompt": (
        ("openai-chat", 403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO", {}),
        ("content-filter", None),
    ),
    "Ollama, a week that is used up": (
        ("openai-chat", 429, "you (me) have reached your weekly usage limit, upgrade for higher limits: https://…", {}),
        ("quota", None),
    ),
    "text-generation-inference, too long": (
        ("openai-chat", 422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545", {}),
        ("context-length", None),
    ),
    "text-generation-inference, too long with its answer": (
        (
            "openai-chat",
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 and 2047",
            {},
        ),
        ("context-length", None),
    ),
    "Copilot on Chat, too long": (
        ("openai-chat", 400, "prompt token count of 138898 exceeds the limit of 64000", {"code": "", "type": ""}),
        ("context-length", None),
    ),
    "OpenRouter, too long for the server behind it": (
        (
            "openai-chat",
            400,
            "Provider returned error",
            {
                "code": 400,
                "metadata": {"raw": '{"error":{"message":"This model\'s maximum context length is 10 …"}}'},
            },
        ),
        ("context-length", None),
    ),
    "OpenRouter, refused by the server behind it": (
        ("openai-chat", 400, "Provider returned error", {"code": 400, "metadata": {"raw": "no", "provider_name": "Z"}}),
        ("invalid-request", None),
    ),
    "DashScope, the tokens of a minute": (
        (
            "openai-chat",
            429,
            "You exceeded your current quota. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit",
            {"type": "insufficient_quota", "code": "insufficient_quota"},
        ),
        ("rate-limit", True),
    ),
    "xAI, no credits": (
        (
            "openai-chat",
            429,
            "Your team 1 has either used all available credits or reached its monthly spending limit.",
            {},
        ),
        ("quota", None),
    ),
    "DashScope, a free quota": (
        ("openai-chat", 429, "Free allocated quota exceeded.", {"code": "insufficient_quota"}),
        ("quota", None),
    ),
    "DashScope, a free quota alone": (
        (
            "openai-chat",
            403,
            "The free quota has been exhausted. To continue accessing the model on a paid basis, pay.",
            {"type": "AllocationQuota.FreeTierOnly", "code": "AllocationQuota.FreeTierOnly"},
        ),
        ("quota", None),
    ),
    "a proxy of Claude, too many requests": (
        (
            "anthropic-messages",
            400,
            '{"message":"Too many requests, please wait before trying again. You have sent too many requests."}',
            {"type": "invalid_request_error"},
        ),
        ("rate-limit", True),
    ),
    "Bedrock, too long": (
        ("bedrock-converse", 400, "Input is too long for requested model.", {}),
        ("context-length", None),
    ),
    "a rate limit with the words of a length": (
        ("openai-chat", 429, "Too many tokens a minute for this context window", {"code": "rate_limit_exceeded"}),
        ("rate-limit", True),
    ),
}


@pytest.mark.parametrize(("sent", "expected"), SERVERS.values(), ids=SERVERS)
def test_codes_of_something_else(sent, expected):
    """
    Servers that send the code of another error are known by their message: whether money, a shorter prompt or time
    helps is what an app asks.
    """
    name, status, message, fields = sent
    error = load_dialect(name).http_error(status, {}, json.dumps({"error": {"message": message, **fields}}).encode())

    assert (*expected, message, status) == (error.kind, error.retryable, error.message, error.status)


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
    "of a plan": ([{"reason": "QUOTA_EXHAUSTED", "domain": "cloudcode-pa.googleapis.com"}], "quota"),
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
}


@pytest.mark.parametrize(("document", "expected"), LISTS.values(), ids=LISTS)
def test_lists_of_faults(document, expected):
    """
    Servers that name what is wrong with each field of a request are understood, without the values of the fields.
    """
    error = load_dialect("openai-chat").http_error(422, {}, json.dumps(document).encode())

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


OVERFLOWS = {
    "Context size has been exceeded.": ("context-length", None),  # llama.cpp#19774
    "the request exceeds the available context size. try increasing the context size": ("context-length", None),
    "unable to process request: the context window is full.": ("context-length", None),  # ardanlabs/kronk#862
    "The context window could not be allocated.": ("provider", True),
}


@pytest.mark.parametrize(("message", "expected"), OVERFLOWS.items(), ids=list(OVERFLOWS))
def test_a_context_that_overflows_as_a_failure_of_the_server(message, expected):
    """
    llama.cpp has a server error with the status 500 for it, which was to be tried again as it is.
    """
    body = json.dumps({"error": {"code": 500, "message": message, "type": "server_error"}}).encode()
    error = load_dialect("openai-chat").http_error(500, {}, body)

    assert expected == (error.kind, error.retryable)


TOO_LONG = {
    "bedrock-converse": [
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9279",
    ],
    "gemini-generate-content": [
        "Unable to submit request because the input token count is 9 but model only supports up to 8."
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TOO_LONG.items() for text in texts])
def test_prompts_that_are_too_long(name, text):
    """
    Services send the code of any other bad request, so the sentence decides.
    """
    body = {"message": text} if name == "bedrock-converse" else {"error": {"code": 400, "message": text}}

    assert ErrorKind.CONTEXT_LENGTH is load_dialect(name).http_error(400, {}, json.dumps(body).encode()).kind


@pytest.mark.parametrize("name", ["gemini-interactions", "gemini-generate-content"])
def test_a_key_of_google_that_is_not_valid(name):
    """
    It is answered as an invalid argument (400).
    """
    body = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}

    assert ErrorKind.AUTH is load_dialect(name).http_error(400, {}, json.dumps(body).encode()).kind
