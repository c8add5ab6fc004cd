"""
Messages of servers whose code is that of another error: whether money, a shorter prompt or time helps.
"""

import json

import pytest

from assistant_events.adapters import load_dialect
from assistant_events.adapters.error_phrases import PHRASES

LIMITS = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."

OPENAI_WITHOUT_MONEY = (
    "litellm.RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing "
    "details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes."
)

GEMINI_IN_A_MINUTE = (
    "litellm.RateLimitError: GeminiException - You exceeded your current quota, please check your plan and billing "
    "details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)

SERVERS = {
    "xAI, no capacity": (
        (
            "openai-responses",
            500,
            "The model is currently at capacity due to high demand. Please try again in a few minutes.",
            {"type": "api_error"},
        ),
        ("overloaded", True),
    ),
    "SGLang, a part without capacity": (
        ("openai-chat", 500, "Prefill server is overloaded", {}),
        ("overloaded", True),
    ),
    "LiteLLM, Claude without capacity": (
        (
            "openai-chat",
            500,
            'litellm.InternalServerError: AnthropicError - b\'{"error":{"type":"overloaded_error"}}\'',
            {"type": "internal_server_error", "param": None, "code": "500"},
        ),
        ("overloaded", True),
    ),
    "LiteLLM, Claude without capacity in the middle of an answer": (
        (
            "openai-responses",
            500,
            "litellm.InternalServerError: AnthropicError - Overloaded",
            {"code": "server_error"},
        ),
        ("overloaded", True),
    ),
    "LiteLLM, a server without capacity": (
        ("openai-chat", 500, "litellm.InternalServerError: OpenAIException - Overloaded", {"code": "500"}),
        ("overloaded", True),
    ),
    "NVIDIA, a model that is out of order": (
        ("openai-chat", 400, "Function id '3b9748d8': DEGRADED function cannot be invoked", {}),
        ("overloaded", True),
    ),
    "a Chinese server, a model that is out of order": (
        ("openai-chat", 400, "当前模型暂时无法使用,请稍后再试", {"type": "<nil>"}),
        ("overloaded", True),
    ),
    "OpenRouter, a server that is silent": (
        ("openai-chat", 500, "Upstream idle timeout exceeded", {}),
        ("timeout", True),
    ),
    "Codex, a stream that broke off": (
        ("openai-responses", 500, "stream read error", {"type": "upstream_error", "code": "stream_read_error"}),
        ("provider", True),
    ),
    "Groq, JSON of the model that is none": (
        (
            "openai-chat",
            400,
            "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
            {"type": "invalid_request_error", "code": "json_validate_failed", "failed_generation": "{"},
        ),
        ("provider", True),
    ),
    "CLIProxyAPI, a server that closed its stream": (
        (
            "openai-chat",
            400,
            "stream error: stream disconnected before completion: stream closed before response.completed",
            {"type": "invalid_request_error"},
        ),
        ("timeout", True),
    ),
    "CLIProxyAPI, its code of that": (
        ("openai-responses", 500, "stream error: unexpected EOF", {"code": "request_timeout"}),
        ("timeout", True),
    ),
    "Gemini, money that was paid before": (
        (
            "gemini-generate-content",
            429,
            "Your prepayment funds are depleted.",
            {"code": 429, "status": "RESOURCE_EXHAUSTED"},
        ),
        ("quota", None),
    ),
    "Z.ai behind a gateway, the hours of a plan": (
        (
            "openai-chat",
            429,
            "Usage limit reached for 5 hour. Your limit will reset at 2026-07-26 20:10:18",
            {"code": "rate_limit_exceeded"},
        ),
        ("quota", None),
    ),
    "a relay of new-api, no money": (
        ("openai-chat", 403, "quota insufficient", {"type": "new_api_error"}),
        ("quota", None),
    ),
    "MiniMax, a refused image": (
        (
            "openai-chat",
            500,
            "input new_sensitive, messages[220]'s content[1] image is sensitive, please check your input (1026)",
            {"type": "api_error"},
        ),
        ("content-filter", None),
    ),
    "MiniMax, a refused answer": (
        ("openai-chat", 500, "output new_sensitive (1027)", {"type": "api_error"}),
        ("content-filter", None),
    ),
    "OpenAI, a failure of the server that is the prompt's": (
        (
            "openai-responses",
            500,
            "Your input exceeds the model's context window. Please adjust your input and try again.",
            {"type": "server_error", "code": "server_error"},
        ),
        ("context-length", None),
    ),
    "Bedrock, too many tokens": (
        ("openai-chat", 400, "Input exceeds the max input token limit", {"type": "invalid_request_error"}),
        ("context-length", None),
    ),
    "DeepSeek, the names of its models": (
        (
            "openai-chat",
            400,
            "The supported API model names are deepseek-v4 or deepseek-v4-flash, but you passed deepseek-chat.",
            {"type": "invalid_request_error", "code": "invalid_request_error"},
        ),
        ("not-found", None),
    ),
    "Routeway, an unknown model": (
        ("openai-chat", 400, "No model found: abc", {"type": "invalid_request_error"}),
        ("not-found", None),
    ),
    "OpenRouter, what other requests reserve": (
        (
            "openai-chat",
            402,
            "This request would exceed your available credits given your current in-flight requests. Retry after …",
            {"code": 402, "metadata": {"reason": "in_flight_budget_exhausted", "error_type": "payment_required"}},
        ),
        ("rate-limit", True),
    ),
    "OpenRouter, an account without money": (
        (
            "openai-chat",
            402,
            "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
            {"code": 402, "metadata": {"error_type": "payment_required"}},
        ),
        ("quota", None),
    ),
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
    "Moonshot, no money, on the wire of Claude": (
        ("anthropic-messages", 429, "Your account is suspended", {"type": "exceeded_current_quota_error"}),
        ("quota", None),
    ),
    "Moonshot, a limit, in a stream of Claude's wire": (
        ("anthropic-messages", 200, "Your account reached its limit", {"type": "rate_limit_reached_error"}),
        ("rate-limit", True),
    ),
    "Moonshot, refused, on the wire of Claude": (
        ("anthropic-messages", 400, "It was considered high risk", {"type": "content_filter"}),
        ("content-filter", None),
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
            "Too many requests, please wait before trying again. You have sent too many requests.",
            {"type": "invalid_request_error"},
        ),
        ("rate-limit", True),
    ),
    "Fireworks, an account that is suspended": (
        (
            "openai-chat",
            412,
            "Account me is suspended, possibly due to reaching the monthly spending limit",
            {"code": "PRECONDITION_FAILED", "type": "error"},
        ),
        ("quota", None),
    ),
    "xAI, no credits any more": (
        ("openai-responses", 403, "You have run out of credits or need a Grok subscription.", {}),
        ("quota", None),
    ),
    "xAI, no credits yet": (
        ("openai-chat", 403, "Your newly created team doesn't have any credits or licenses yet.", {}),
        ("quota", None),
    ),
    "the gateway of Vercel, no card": (
        (
            "openai-chat",
            403,
            "AI Gateway requires a valid credit card on file to service requests.",
            {"type": "customer_verification_required"},
        ),
        ("quota", None),
    ),
    "OpenRouter, the free requests of a day": (
        (
            "openai-chat",
            429,
            "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
            {"code": 429},
        ),
        ("quota", None),
    ),
    "OpenRouter, the free requests of a minute": (
        ("openai-chat", 429, "Rate limit exceeded: free-models-per-min. ", {"code": 429}),
        ("rate-limit", True),
    ),
    "Cloudflare, the free tokens of a day": (
        (
            "openai-chat",
            429,
            "you have used up your daily free allocation of 10,000 neurons, please upgrade",
            {"code": 4006},
        ),
        ("quota", None),
    ),
    "Copilot, a week that is used up": (
        (
            "openai-chat",
            429,
            "You've reached your weekly rate limit. Please wait for your limit to reset on April 20, 2026.",
            {},
        ),
        ("quota", None),
    ),
    "LiteLLM, a budget": (
        (
            "openai-chat",
            400,
            "Budget has been exceeded! Current cost: 0.0010747, Max budget: 0.0",
            {"type": "auth_error", "param": None, "code": 400},
        ),
        ("quota", None),
    ),
    "LiteLLM as Anthropic, a budget": (
        (
            "anthropic-messages",
            400,
            "Budget has been exceeded! Current cost: 0.0010747, Max budget: 0.0",
            {"type": "auth_error", "param": None, "code": 400},
        ),
        ("quota", None),
    ),
    "Azure behind a gateway, a refused prompt": (
        (
            "openai-chat",
            400,
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            {"type": None, "code": "400"},
        ),
        ("content-filter", None),
    ),
    "Groq, too long": (
        (
            "openai-chat",
            400,
            "Please reduce the length of the messages or completion.",
            {"type": "invalid_request_error"},
        ),
        ("context-length", None),
    ),
    "Mistral, no capacity": (
        (
            "openai-chat",
            400,
            "Service tier capacity exceeded for this model.",
            {"type": "invalid_request_error", "param": None, "code": None},
        ),
        ("overloaded", True),
    ),
    "Volcengine, a limit that was set": (
        (
            "openai-chat",
            429,
            "Your account [2] has reached the set inference limit for the [m] model, and its service has been paused.",
            {"code": "SetLimitExceeded", "type": "TooManyRequests"},
        ),
        ("quota", None),
    ),
    "Groq, no capacity": (
        ("openai-chat", 498, "Flex tier capacity exceeded.", {"type": "flex"}),
        ("overloaded", True),
    ),
    "Claude at Bedrock, too many bytes": (
        ("bedrock-converse", 400, "The model returned the following errors: too many total text bytes: 9 > 8", {}),
        ("context-length", None),
    ),
    "the gateway of Vercel, too long": (
        (
            "openai-chat",
            400,
            "Input too long: 1200000 input tokens, limit is 1000000",
            {"type": "invalid_request_error"},
        ),
        ("context-length", None),
    ),
    "OpenAI behind a gateway, too long": (
        ("openai-chat", 400, "Input tokens exceed the configured limit of 272000 tokens.", {"code": 400}),
        ("context-length", None),
    ),
    "Gemini, cancelled under load": (
        ("gemini-generate-content", 499, "The operation was cancelled.", {"code": 499, "status": "CANCELLED"}),
        ("overloaded", True),
    ),
    "Gemini in Interactions, cancelled under load": (
        ("gemini-interactions", 499, "The operation was cancelled.", {"code": 499, "status": "CANCELLED"}),
        ("overloaded", True),
    ),
    "Azure, no capacity": (
        (
            "openai-responses",
            500,
            "The system is currently experiencing high demand and cannot process your request. Your request …",
            {"code": "no_capacity"},
        ),
        ("overloaded", True),
    ),
    "Codex, no capacity": (
        ("openai-responses", 400, "Selected model is at capacity. Please try a different model.", {}),
        ("overloaded", True),
    ),
    "OpenRouter, the limit of a key": (
        (
            "openai-chat",
            403,
            "Key limit exceeded (monthly limit). Manage it using https://openrouter.ai",
            {"code": 403},
        ),
        ("quota", None),
    ),
    "Volcengine, a plan that is used up": (
        (
            "openai-chat",
            429,
            "You have exceeded the 5-hour usage quota. It will reset at 2026-08-03 23:59:59 +0800 CST.",
            {"code": "AccountQuotaExceeded", "type": "TooManyRequests"},
        ),
        ("quota", None),
    ),
    "Volcengine, no money": (
        (
            "openai-chat",
            403,
            "The request failed because your account has an overdue balance.",
            {"code": "AccountOverdueError", "type": "Forbidden"},
        ),
        ("quota", None),
    ),
    "new-api, a word of the prompt": (
        ("openai-chat", 500, "sensitive words detected", {"code": "sensitive_words_detected", "type": "new_api_error"}),
        ("content-filter", None),
    ),
    "Z.ai, a refused prompt": (
        ("openai-chat", 400, "系统检测到输入或生成内容可能包含不安全或敏感内容", {"code": "1301"}),
        ("content-filter", None),
    ),
    "Bedrock, too long": (
        ("bedrock-converse", 400, "Input is too long for requested model.", {}),
        ("context-length", None),
    ),
    "a rate limit with the words of a length": (
        ("openai-chat", 429, "Too many tokens a minute for this context window", {"code": "rate_limit_exceeded"}),
        ("rate-limit", True),
    ),
    "OpenCode Go, a plan that is used up": (
        ("openai-chat", 429, "Subscription quota exceeded. You can continue using free models.", {}),
        ("quota", None),
    ),
    "xAI, no subscription": (
        (
            "openai-responses",
            403,
            "You have either run out of available resources or do not have an active Grok subscription.",
            {"code": "The caller does not have permission to execute the specified operation"},
        ),
        ("quota", None),
    ),
    "MiMo, no money": (
        ("openai-chat", 402, "Upstream request failed: Insufficient account funds", {"type": "server_error"}),
        ("quota", None),
    ),
    "MiMo, no money in a stream": (
        ("openai-chat", 500, "Upstream request failed: Insufficient account funds", {"type": "server_error"}),
        ("quota", None),
    ),
    "a proxy of Antigravity, a plan that is used up": (
        (
            "anthropic-messages",
            429,
            "Individual quota reached. Contact your administrator to enable overages. Resets in 71h15m27s.",
            {"type": "rate_limit_error"},
        ),
        ("quota", None),
    ),
    "a proxy of Antigravity, an overload that is none": (
        (
            "anthropic-messages",
            529,
            'Last error: HTTP 429: {"error": {"code": 429, "details": [{"reason": "QUOTA_EXHAUSTED"}]}}',
            {"type": "overloaded_error"},
        ),
        ("quota", None),
    ),
    "LiteLLM, a day of Gemini": (
        (
            "openai-chat",
            429,
            'VertexAIException - {"error": {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}}',
            {"type": "throttling_error", "code": "429"},
        ),
        ("quota", None),
    ),
    "Gemini, a model without a free tier": (
        (
            "gemini-generate-content",
            429,
            "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-3-pro.",
            {"code": 429, "status": "RESOURCE_EXHAUSTED"},
        ),
        ("quota", None),
    ),
    "a gateway, no money at OpenAI": (
        ("openai-chat", 429, 'API error (429): {"error": {"code": "insufficient_quota"}}', {"code": "429"}),
        ("quota", None),
    ),
    "OpenRouter, no money at the server behind it": (
        (
            "openai-chat",
            429,
            "Provider returned error",
            {"code": 429, "metadata": {"raw": '{"error":{"code":"insufficient_quota"}}', "provider_name": "OpenAI"}},
        ),
        ("quota", None),
    ),
    "SGLang, too long": (
        (
            "openai-chat",
            400,
            "Input length (700001 tokens) exceeds the maximum allowed length (536826 tokens). Use a shorter input.",
            {"type": "BadRequestError", "code": 400},
        ),
        ("context-length", None),
    ),
    "Z.ai, more tokens than it takes": (
        ("openai-chat", 400, "tokens in request more than max tokens allowed", {"code": "1210"}),
        ("context-length", None),
    ),
    "Moonshot, a conversation of too many bytes": (
        ("openai-chat", 400, "total message size 10176584 exceeds limit 2097152", {"type": "invalid_request_error"}),
        ("context-length", None),
    ),
    "Cohere, too long": (
        ("openai-chat", 400, "too many tokens: size limit exceeded by 1502 tokens. Try using shorter inputs.", {}),
        ("context-length", None),
    ),
    "Copilot, an item of another connection as a refused key": (
        ("openai-responses", 401, "input item ID does not belong to this connection", {"code": ""}),
        ("invalid-request", None),
    ),
    "SiliconFlow, no money": (
        ("openai-chat", 403, "Sorry, your account balance is insufficient", {"code": 30001}),
        ("quota", None),
    ),
    "Volcengine, a long prompt": (
        ("openai-chat", 400, "Total tokens of image and text exceed max message tokens.", {"code": "InvalidParameter"}),
        ("context-length", None),
    ),
    "SiliconFlow, a long prompt": (
        ("openai-chat", 400, "length of prompt_tokens (68957) must be less than max_seq_len (65536).", {"code": 20015}),
        ("context-length", None),
    ),
    "Novita, no money": (
        ("openai-chat", 403, "not enough balance", {"code": 403, "reason": "NOT_ENOUGH_BALANCE"}),
        ("quota", None),
    ),
    "Cohere, the requests of a month": (
        ("openai-chat", 429, "You are using a Trial key, which is limited to 1000 API calls / month.", {}),
        ("quota", None),
    ),
    "text-generation-inference, no room": (("openai-chat", 429, "Model is overloaded", {}), ("overloaded", True)),
    "LiteLLM, a long prompt": (
        ("openai-chat", 400, "litellm.BadRequestError: ContextWindowExceededError: XException - no", {"code": "400"}),
        ("context-length", None),
    ),
    "LiteLLM, a refused prompt": (
        ("openai-chat", 400, "litellm.ContentPolicyViolationError: AzureException - no", {"code": "400"}),
        ("content-filter", None),
    ),
    "StepFun, a refused prompt": (
        (
            "openai-chat",
            451,
            "The content you provided or machine outputted is blocked.",
            {"type": "censorship_blocked"},
        ),
        ("content-filter", None),
    ),
    "StepFun behind OpenRouter": (
        (
            "openai-chat",
            451,
            "Provider returned error",
            {
                "code": 451,
                "metadata": {
                    "raw": '{"error":{"message":"The content you provided or machine outputted is blocked."}}'
                },
            },
        ),
        ("content-filter", None),
    ),
    "Ollama, a model for plans": (
        (
            "anthropic-messages",
            403,
            "this model requires a subscription, upgrade for access: https://ollama.com/upgrade",
            {"type": "permission_error"},
        ),
        ("quota", None),
    ),
    "MiniMax, a model of another plan": (
        (
            "anthropic-messages",
            500,
            "your current token plan not support model, MiniMax-M2.7-highspeed (2061)",
            {"type": "api_error"},
        ),
        ("quota", None),
    ),
    "MiniMax, a refused prompt without its number": (
        ("anthropic-messages", 500, "input new_sensitive (1026)", {"type": "api_error"}),
        ("content-filter", None),
    ),
    "new-api, no money of a user": (
        ("anthropic-messages", 403, "用户额度不足, 剩余额度: $-0.000002 (request id: 1)", {"type": "new_api_error"}),
        ("quota", None),
    ),
    "new-api, no money for a request": (
        (
            "anthropic-messages",
            403,
            "预扣费额度失败, 用户剩余额度: ¥0.230000, 需要预扣费额度: ¥0.290000",
            {"type": "new_api_error"},
        ),
        ("quota", None),
    ),
    "new-api, no money of a key": (
        (
            "anthropic-messages",
            403,
            "token quota is not enough, token remain quota: $0.01, need quota: $0.02",
            {"type": "new_api_error"},
        ),
        ("quota", None),
    ),
    "new-api, the code of a key": (
        ("openai-chat", 403, "No.", {"type": "new_api_error", "code": "pre_consume_token_quota_failed"}),
        ("quota", None),
    ),
    "new-api, a prompt that Gemini blocks": (
        (
            "openai-chat",
            400,
            "request blocked by Gemini API: PROHIBITED_CONTENT",
            {"type": "prompt_blocked", "code": "prompt_blocked"},
        ),
        ("content-filter", None),
    ),
    "new-api, a prompt that xAI blocks": (
        ("openai-chat", 403, "No.", {"type": "new_api_error", "code": "violation_fee.grok.csam"}),
        ("content-filter", None),
    ),
    "LiteLLM, OpenAI without money": (
        (
            "openai-chat",
            429,
            OPENAI_WITHOUT_MONEY,
            {"type": "throttling_error", "code": "429"},
        ),
        ("quota", None),
    ),
    "LiteLLM, a limit of OpenAI": (
        (
            "openai-chat",
            400,
            "litellm.BadRequestError: OpenAIException - Billing hard limit has been reached",
            {"code": "400"},
        ),
        ("quota", None),
    ),
    "DashScope behind a gateway, a debt": (
        (
            "openai-chat",
            400,
            "Access denied, please make sure your account is in good standing.",
            {"code": "invalid_request"},
        ),
        ("quota", None),
    ),
    "DashScope, a free tier": (
        ("openai-chat", 403, "No.", {"code": "AllocationQuota.FreeTierOnly", "type": "AllocationQuota.FreeTierOnly"}),
        ("quota", None),
    ),
    "DashScope behind a gateway, a free tier": (
        ("openai-chat", 400, "The free tier of the model has been exhausted.", {"type": "invalid_request_error"}),
        ("quota", None),
    ),
    "DashScope behind a gateway, a refused prompt": (
        (
            "openai-chat",
            400,
            "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
            {"type": "invalid_request_error"},
        ),
        ("content-filter", None),
    ),
    "Volcengine, no plan": (
        (
            "openai-chat",
            401,
            "Your account does not have a valid coding plan subscription, or it has expired.",
            {"type": "Unauthorized"},
        ),
        ("quota", None),
    ),
    "Kimi, a period that is used up": (
        ("openai-chat", 403, "You've reached your usage limit for this period.", {"type": "access_terminated_error"}),
        ("quota", None),
    ),
    "ModelScope, a day": (
        ("openai-chat", 429, "You have exceeded today's quota for model Qwen/Qwen3-8B, please try again tomorrow.", {}),
        ("quota", None),
    ),
    "Hugging Face behind a gateway": (
        (
            "openai-chat",
            403,
            "You have depleted your monthly included credits. Subscribe to PRO.",
            {"type": "upstream_error"},
        ),
        ("quota", None),
    ),
    "LM Studio's cloud, a month": (("openai-chat", 429, "Monthly request limit exceeded.", {}), ("quota", None)),
    "Pawan, a model of another plan": (
        ("openai-chat", 403, "This model is not available on your current plan.", {}),
        ("quota", None),
    ),
    "OpenRouter behind a gateway, few credits": (
        ("openai-chat", 403, "This request requires more credits, or fewer max_tokens.", {"type": "upstream_error"}),
        ("quota", None),
    ),
    "OpenRouter behind a gateway, no credits": (
        (
            "openai-chat",
            403,
            "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
            {"type": "upstream_error"},
        ),
        ("quota", None),
    ),
    "OpenRouter, a prompt that is moderated": (
        (
            "openai-chat",
            403,
            'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence".',
            {"code": 403, "metadata": {"reasons": ["violence"]}},
        ),
        ("content-filter", None),
    ),
    "OpenRouter, no such model": (
        ("openai-chat", 400, "foo/bar is not a valid model ID", {"code": 400}),
        ("not-found", None),
    ),
    "OpenAI, a request about attacks": (
        (
            "openai-chat",
            400,
            "This content was flagged for possible cybersecurity risk.",
            {"type": "invalid_request_error"},
        ),
        ("content-filter", None),
    ),
    "Kiro, a long prompt": (
        (
            "anthropic-messages",
            400,
            "Improperly formed request. (CONTENT_LENGTH_EXCEEDS_THRESHOLD)",
            {"type": "invalid_request_error"},
        ),
        ("context-length", None),
    ),
    "a gateway, a long prompt": (
        (
            "openai-chat",
            400,
            "The prompt is over the maximum allowed number of input tokens.",
            {"type": "invalid_request_error"},
        ),
        ("context-length", None),
    ),
    "Codex on the wire of Claude, a plan": (
        ("anthropic-messages", 429, "The usage limit has been reached", {"type": "usage_limit_reached"}),
        ("quota", None),
    ),
    "Codex on the wire of Gemini, a plan without Codex": (
        ("gemini-generate-content", 429, "No.", {"status": "usage_not_included"}),
        ("quota", None),
    ),
    "Gemini on the wire of OpenAI, a wrong key": (
        (
            "openai-chat",
            400,
            "API key not valid. Please pass a valid API key.",
            {"code": 400, "status": "INVALID_ARGUMENT"},
        ),
        ("auth", None),
    ),
    "Gemini on the wire of OpenAI, an old key": (
        ("openai-chat", 400, "API key expired. Please renew the API key.", {"code": 400, "status": "INVALID_ARGUMENT"}),
        ("auth", None),
    ),
    "DeepSeek, no such model": (
        ("openai-chat", 400, "Model Not Exist", {"type": "invalid_request_error", "code": "invalid_request_error"}),
        ("not-found", None),
    ),
    "SiliconFlow, no such model": (
        ("openai-chat", 400, "Model does not exist. Please check it carefully.", {"code": 20012}),
        ("not-found", None),
    ),
    "Bedrock, no such model": (
        ("bedrock-converse", 400, "The provided model identifier is invalid.", {}),
        ("not-found", None),
    ),
    "Bedrock on the wire of Claude, no such model": (
        ("anthropic-messages", 400, "The provided model identifier is invalid.", {}),
        ("not-found", None),
    ),
    "Mistral, no such model": (
        ("openai-chat", 400, "Invalid model: x", {"type": "invalid_model", "code": "1500"}),
        ("not-found", None),
    ),
    "Z.ai, too many requests at once, without a status of its own": (
        ("openai-chat", 200, "Rate limit reached for requests", {"code": "1302"}),
        ("rate-limit", True),
    ),
    "ZenMux, a plan that is used up": (
        ("openai-chat", 403, "You have reached your subscription quota limit.", {"code": "403"}),
        ("quota", None),
    ),
    "Gemini, a project without money for the month": (
        (
            "gemini-generate-content",
            429,
            "Your project has exceeded its monthly spending cap.",
            {"code": 429, "status": "RESOURCE_EXHAUSTED"},
        ),
        ("quota", None),
    ),
    "Z.ai behind a gateway, a plan that is used up": (
        ("openai-chat", 429, "Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-03-04", {}),
        ("quota", None),
    ),
    "a limit without a code, in a stream": (
        ("openai-chat", 200, "Rate limit exceeded. Please slow down.", {}),
        ("rate-limit", True),
    ),
    "Moonshot, no capacity": (
        (
            "openai-chat",
            429,
            "The engine is currently overloaded, please try again later",
            {"type": "engine_overloaded_error"},
        ),
        ("overloaded", True),
    ),
    "NVIDIA, all its workers at work": (
        ("openai-chat", 200, "Worker local total request limit reached (48/48)", {}),
        ("overloaded", True),
    ),
    "CLIProxyAPI, all accounts at rest": (
        ("openai-chat", 200, "All credentials for model x are cooling down", {"code": "model_cooldown"}),
        ("rate-limit", True),
    ),
}

SENTENCES = {
    "anthropic-messages": {
        "auth": ["This credential is only authorized for use with Claude Code and cannot be used for other requests."],
        "quota": ["Your credit balance is too low to access the Anthropic API."],
        "context-length": ["input length and `max_tokens` exceed context limit: 199999 + 21333 > 200000"],
    },
    "bedrock-converse": {
        "context-length": [
            "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            "Too many input tokens. Max input tokens: 8192, request input token count: 9279",
        ]
    },
    "gemini-generate-content": {
        "context-length": [
            "Unable to submit request because the input token count is 9 but model only supports up to 8.",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ]
    },
    "openai-chat": {
        "quota": [
            "you (me) have reached your session usage limit, please wait or upgrade to continue",
            "you (me) have reached your hourly usage limit, please upgrade to continue",
        ],
        "context-length": [
            "The input (9 tokens) is longer than the model's context length (8 tokens).",
            "Input token length too long",
            "prompt tokens (1050001) exceed model maximum (1050000)",
        ],
    },
}


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [(name, kind, text) for name, kinds in SENTENCES.items() for kind, texts in kinds.items() for text in texts],
)
def test_sentences(name, kind, text):
    """
    Services send the code of any other bad request, so the sentence decides.
    """
    body = {"message": text} if name == "bedrock-converse" else {"error": {"code": 400, "message": text}}

    assert kind == load_dialect(name).http_error(400, {}, json.dumps(body).encode()).kind


@pytest.mark.parametrize(("sent", "expected"), SERVERS.values(), ids=SERVERS)
def test_codes_of_something_else(sent, expected):
    """
    Servers that send the code of another error are known by their message: whether money, a shorter prompt or time
    helps is what an app asks.
    """
    name, status, message, fields = sent
    error = load_dialect(name).http_error(status, {}, json.dumps({"error": {"message": message, **fields}}).encode())

    assert (*expected, message, status) == (error.kind, error.retryable, error.message, error.status)


TYPES = {
    "context_length_exceeded": (400, "context-length", None),
    "token_limit_exceeded": (400, "context-length", None),
    "provider_overloaded": (502, "overloaded", True),
    "provider_unavailable": (502, "overloaded", True),
    "rate_limit_exceeded": (502, "rate-limit", True),
    "payment_required": (400, "quota", None),
    "refusal": (400, "content-filter", None),
    "content_policy_violation": (403, "content-filter", None),
    "permission_denied": (502, "auth", None),
    "not_found": (400, "not-found", None),
    "timeout": (502, "timeout", True),
    "invalid_request": (400, "invalid-request", None),
    "unmapped": (502, "provider", None),
}


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize("kind", TYPES)
def test_the_type_of_an_error_of_openrouter(dialect, kind):
    """
    It is stable in all of its APIs, beside the code of the provider that answered (openrouter 1.3, apierrortype.py).
    """
    status, *expected = TYPES[kind]
    sent = {"code": status, "message": "Provider returned error", "metadata": {"error_type": kind}}
    error = load_dialect(dialect).http_error(status, {}, json.dumps({"error": sent}).encode())

    assert expected == [error.kind, error.retryable]


@pytest.mark.parametrize("kind", TYPES)
def test_the_type_of_an_error_of_openrouter_in_a_response(kind):
    """
    Responses has it beside the error, whose code is one of OpenAI (openrouter 1.3, openresponsesresult.py).
    """
    error = {"code": "server_error", "message": "Provider returned error"}
    sent = {"id": "r", "object": "response", "status": "failed", "error": error, "error_type": kind}
    frame = {"type": "response.failed", "sequence_number": 1, "response": sent}
    *_, failed = load_dialect("openai-responses").decoder("m").feed_event(frame)
    _, *expected = TYPES[kind]

    assert (expected if kind != "unmapped" else ["provider", True]) == [failed.error.kind, failed.error.retryable]


@pytest.mark.parametrize("kind", TYPES)
def test_the_type_of_an_error_of_openrouter_in_an_error_of_claude(kind):
    """
    The wire of Claude has it beside the type of that wire (anomalyco/opencode#49099).
    """
    sent = {"type": "error", "error": {"type": "api_error", "message": "Provider returned error", "error_type": kind}}
    error = load_dialect("anthropic-messages").http_error(502, {}, json.dumps(sent).encode())
    _, *expected = TYPES[kind]

    assert (expected if kind != "unmapped" else ["provider", True]) == [error.kind, error.retryable]


LABELS = {
    "content_policy_violation": ("content-filter", None),
    "context_length_exceeded": ("context-length", None),
    "insufficient_quota": ("quota", None),
    "invalid_request_error": ("invalid-request", None),
}


@pytest.mark.parametrize(("code", "expected"), LABELS.items(), ids=LABELS)
def test_the_code_in_a_message_of_opencode_zen(code, expected):
    """
    It is of the server behind the gateway, whose own code is that of any wrong request.
    """
    message = f"Error from provider (Console): Upstream request failed: [{code}] No."
    sent = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    error = load_dialect("openai-chat").http_error(400, {}, json.dumps(sent).encode())

    assert expected == (error.kind, error.retryable)


OVERFLOWS = {
    "Context size has been exceeded.": ("context-length", None),  # llama.cpp#19774
    "the request exceeds the available context size. try increasing the context size": ("context-length", None),
    "Your input exceeds the context window of this model. Please adjust your input and try again.": (
        "context-length",
        None,
    ),
    "invalid params, context window exceeds limit (2013)": ("context-length", None),
    "prompt too long; exceeded max context length by 9 tokens": ("context-length", None),
    "Requested token count exceeds the model's maximum context length of 131072 tokens": ("context-length", None),
    "The decoder prompt (length 21535) is longer than the maximum model length of 16384.": ("context-length", None),
    "unable to process request: the context window is full.": ("context-length", None),  # ardanlabs/kronk#862
    "prompt is too long: 210000 tokens > 200000 maximum": ("context-length", None),  # Claude in a stream of Bedrock
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


HARMLESS = {
    "a long name of a tool": (
        ("openai-chat", 400, "String 'tools.0.function.name' exceeds max length 64.", {"code": "1210"}),
        "invalid-request",
    ),
    "too many images": (
        (
            "gemini-generate-content",
            400,
            "Unable to submit request because it has 17 images but model only supports up to 16.",
            {"code": 400, "status": "INVALID_ARGUMENT"},
        ),
        "invalid-request",
    ),
    "a long answer": (
        (
            "gemini-generate-content",
            400,
            "maxOutputTokens exceeds the maximum number of tokens of the model.",
            {"code": 400, "status": "INVALID_ARGUMENT"},
        ),
        "invalid-request",
    ),
    "an input that vLLM quotes": (
        (
            "openai-chat",
            400,
            "[{'type': 'extra_forbidden', 'msg': 'No', 'input': 'Why are there too many requests?'}]",
            {"type": "BadRequestError", "code": 400},
        ),
        "invalid-request",
    ),
    "an input that pydantic quotes": (
        (
            "openai-chat",
            400,
            "1 validation error for Text\n0\n  No [type=list_type, input_value='The context window', input_type=str]",
            {"type": "BadRequestError", "code": 400},
        ),
        "invalid-request",
    ),
    **{
        f"a field of a tool that is called {name}": (
            ("openai-chat", 400, f"Invalid schema of f: '{name}' is required.", {"type": "invalid_request_error"}),
            "invalid-request",
        )
        for name in ("requestsPerDay", "quota_exhausted", "insufficient_quota")
    },
    "a limit of a minute of Gemini behind LiteLLM": (
        (
            "openai-chat",
            429,
            GEMINI_IN_A_MINUTE,
            {"type": "throttling_error", "code": "429"},
        ),
        "rate-limit",
    ),
    "a code of money behind that of a limit": (
        ("openai-chat", 429, 'Too many requests: {"code": "insufficient_quota"}', {}),
        "quota",
    ),
    "requests without money": (
        ("openai-chat", 429, "Too many requests for your current quota.", {"code": "insufficient_quota"}),
        "quota",
    ),
}


@pytest.mark.parametrize(("sent", "kind"), HARMLESS.values(), ids=HARMLESS)
def test_messages_with_the_words_of_another_error(sent, kind):
    """
    A limit of names, images or answers is not that of the context, a quota is not a limit of requests, and what is
    quoted of a request is of neither.
    """
    name, status, message, fields = sent
    error = load_dialect(name).http_error(status, {}, json.dumps({"error": {"message": message, **fields}}).encode())

    assert kind == error.kind


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FULL = {"error": {"code": "context_length_exceeded", "message": "Too long."}}
UNCODED = {"error": {"message": "Slow down.", "type": "requests", "param": None, "code": None}}

WRAPPED = {
    "the text of Claude's own": (
        "anthropic-messages",
        {"type": "error", "error": {"type": "error", "message": json.dumps(OVERLOADED)}},
        ("overloaded", "overloaded_error", "Overloaded"),
    ),
    "a text beside the name of a gateway": (  # NousResearch/hermes-agent#97427
        "openai-chat",
        {"errorMessage": json.dumps(FULL) + "\n", "errorCode": "UPSTREAM_LLM_ERROR", "statusCode": 400},
        ("context-length", "context_length_exceeded", "Too long."),
    ),
    "an object, of a guardrail of LiteLLM": (  # BerriAI/litellm#36598
        "anthropic-messages",
        {"type": "error", "error": {"type": "guardrail_error", "message": {"error": "Violated policy", "id": 1}}},
        ("content-filter", "guardrail_error", "Violated policy"),
    ),
    "the text of a message alone": (  # QwenLM/qwen-code#11215
        "anthropic-messages",
        {"error": {"type": "invalid_request_error", "message": '{"message":"Too many requests, please wait."}'}},
        ("rate-limit", "invalid_request_error", "Too many requests, please wait."),
    ),
    "an error without a code inside": (
        "openai-chat",
        {"error": {"message": json.dumps(UNCODED), "code": "rate_limit_exceeded"}},
        ("rate-limit", "rate_limit_exceeded", "Slow down."),
    ),
    "a number alone inside": (
        "openai-chat",
        {"error": {"message": '{"error": {"message": "Busy.", "code": 404}}', "code": "rate_limit_exceeded"}},
        ("rate-limit", "rate_limit_exceeded", "Busy."),
    ),
    "an error of another wire inside": (
        "gemini-generate-content",
        {"error": {"message": '{"message": "Busy.", "status": "error"}', "code": 503, "status": "UNAVAILABLE"}},
        ("overloaded", "UNAVAILABLE", "Busy."),
    ),
    "an error inside another one inside": (
        "openai-chat",
        {"error": {"message": json.dumps({"message": json.dumps(FULL), "code": "bad_gateway"}), "code": 500}},
        ("context-length", "context_length_exceeded", "Too long."),
    ),
    "no error inside": (
        "openai-chat",
        {"error": {"message": '{"a": 1}', "code": "model_not_found"}},
        ("not-found", "model_not_found", '{"a": 1}'),
    ),
    "no JSON": ("openai-chat", {"error": {"message": "{no"}}, ("invalid-request", None, "{no")),
}


@pytest.mark.parametrize(("name", "body", "expected"), WRAPPED.values(), ids=WRAPPED)
def test_an_error_as_the_message_of_another(name, body, expected):
    """
    Gateways put the error of the service into the message of their own, whose code means less.
    """
    error = load_dialect(name).http_error(400, {}, json.dumps(body).encode())

    assert expected == (error.kind, error.code, error.message)


def test_each_phrase_has_a_message():
    """
    Each phrase is in a message above; none is in another, which would never be reached.
    """
    sentences = [text for kinds in SENTENCES.values() for texts in kinds.values() for text in texts]
    text = "\n".join([*[sent[2] for sent, _ in SERVERS.values()], *sentences, *OVERFLOWS]).lower()
    phrases = {phrase for each in PHRASES.values() for phrase in each}

    assert [] == [phrase for phrase in phrases if phrase not in text]
    for each in map(list, PHRASES.values()):
        assert [] == [phrase for i, phrase in enumerate(each) if any(earlier in phrase for earlier in each[:i])]
