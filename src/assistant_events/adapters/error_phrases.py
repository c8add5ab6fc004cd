"""
What gateways write as codes, and servers in the messages of errors whose code is that of something else.

All are in lower case, with the source. The first phrase that is found wins. A phrase is a part of a sentence that no
other error has: not the name of a field or a model, and none that a limit of another thing has too ("exceeds max
length" may be that of a name).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from assistant_events.adapters.tables import by_word
from assistant_events.values import ErrorKind


def _by_phrase(phrases: Mapping[ErrorKind, tuple[str, ...]]) -> Mapping[str, ErrorKind]:
    return MappingProxyType({phrase: kind for kind, each in phrases.items() for phrase in each})


_OF_MINUTES: Final = _by_phrase(
    {
        ErrorKind.RATE_LIMIT: (
            "error-code#token-limit",  # DashScope (can1357/oh-my-pi#8496)
            "given your current in-flight requests",  # OpenRouter, as 402 (hermes-agent#102517, stella#4380)
        )
    }
)
"""Beside the code of a used-up quota."""

_OTHERS: Final = _by_phrase(
    {
        ErrorKind.QUOTA: (
            "insufficient balance",  # DeepSeek, MiniMax, Moonshot, Z.ai
            "credit balance is too low",  # Claude
            "extra usage",  # Claude: a plan (claude-code#45046, #45149, #64982); Kimi (openclaw#142656)
            "specified api usage limits",  # Claude: of a month (anthropics/claude-code#38035)
            "session usage limit",  # Ollama's cloud (continuedev/continue#11444), and these two
            "hourly usage limit",
            "weekly usage limit",
            "for this billing cycle",  # Kimi: a plan (NanmiCoder/cc-haha#1208)
            "usage limit exceeded",  # MiniMax: a plan (MiniMax-AI/MiniMax-M2.7#36)
            "monthly spending limit",  # xAI (continue#10373), Fireworks (pollinations/pollinations#12136)
            "run out of credits",  # xAI (Wei-Shaw/sub2api#4069)
            "have any credits",  # xAI (continuedev/continue#12670)
            "free allocated quota exceeded",  # DashScope (QwenLM/qwen-code#1742)
            "free quota has been exhausted",  # DashScope (axoviq-ai/synthadoc#215)
            "prepayment credits are depleted",  # Gemini (dyad-sh/dyad#3626)
            "prepayment funds are depleted",  # the same (google-gemini/gemini-cli#22994)
            "too many tokens per day",  # Bedrock (Ivy-Interactive/Ivy-Tendril#1756)
            "invalid_payment_instrument",  # Bedrock (Tracer-Cloud/opensre#1812)
            "no payment method",  # OpenCode Zen (anomalyco/opencode#37161)
            "subscription quota exceeded",  # the same (diegosouzapw/OmniRoute#1772)
            "subscription quota limit",  # ZenMux, as 403 (openclaw/openclaw#11164)
            "monthly spending cap",  # Gemini (openclaw/openclaw#74120)
            "monthly limit exhausted",  # Z.ai behind gateways (openclaw/openclaw#33785)
            "usage limit reached for",  # the same (code-yeongyu/oh-my-openagent#6349)
            "active grok subscription",  # xAI (NousResearch/hermes-agent: error_classifier.py)
            "insufficient account",  # MiMo (XiaomiMiMo/MiMo#99)
            "individual quota reached",  # Antigravity behind gateways (decolua/9router#1308)
            ", limit: 0, model:",  # Gemini: not in the free tier (BerriAI/litellm#33421)
            "credit card on file",  # the gateway of Vercel (arlanrakh/talk-to-girlfriend-ai#6)
            "free-models-per-day",  # OpenRouter (Gitlawb/openclaude#936)
            "key limit exceeded",  # OpenRouter, as 403 (gptme/gptme#1449)
            "daily free allocation",  # Cloudflare (diegosouzapw/OmniRoute#6980)
            "reached the set inference limit",  # Volcengine (volcengine/MineContext#328)
            "weekly rate limit",  # Copilot (github/copilot-cli#2828)
            "budget has been exceeded",  # LiteLLM (BerriAI/litellm#4208, #14144)
            "account balance is insufficient",  # SiliconFlow and AIHubMix, as 403 (manual of AIHubMix)
            "not enough balance",  # Novita, as 403
            "limited to 1000 api calls / month",  # Cohere
            "requires a subscription",  # Ollama's cloud, as 403 (ollama/ollama#15990)
            "current token plan not support",  # MiniMax, as 500 (liliMozi/openhanako#452)
            "额度不足",  # new-api, on the wire of Claude without its code (QuantumNous/new-api#6929), and the next two
            "预扣费额度失败",  # (QuantumNous/new-api#6306)
            "token quota is not enough",
            "quota insufficient",  # a relay of it, as 403 (can1357/oh-my-pi#4575)
            "this error, read the docs: https://platform.openai.com",  # OpenAI behind LiteLLM; Gemini has another page
            "billing hard limit",  # OpenAI (these from here on: LobeChat, errors/patterns.ts)
            "sure your account is in good",  # DashScope: a debt
            "free tier of the model has been exhausted",  # DashScope (APIParkLab/APIPark#394)
            "valid coding plan subscription",  # Volcengine
            "reached your usage limit",  # Kimi: a plan
            "exceeded today's quota",  # ModelScope
            "monthly included credits",  # Hugging Face behind new-api
            "monthly request limit",  # LM Studio's cloud
            "available on your current plan",  # Pawan
            "requires more credits",  # OpenRouter behind gateways, and the next
            "insufficient credits",
        ),
        ErrorKind.RATE_LIMIT: (
            "concurrent request limit",  # Kimi (Wei-Shaw/sub2api#6955)
            "too many requests",  # a proxy of Claude, in a stream (QwenLM/qwen-code#11215)
            "rate limit exceeded",  # of many, in a stream without a code (NousResearch/hermes-agent#61123)
        ),
        ErrorKind.OVERLOADED: (
            "experiencing high demand",  # Azure, in a stream (earendil-works/pi#9669, can1357/oh-my-pi#6503)
            "model is at capacity",  # Codex (PostHog/posthog#99118, coleam00/Archon#2425)
            "model is overloaded",  # text-generation-inference, in a stream, and as 429
            "is currently at capacity",  # xAI, in a stream (Cloudgeni-ai/opengeni#1643)
            "error - overloaded",  # any server behind LiteLLM 1.108, in a stream, and the next
            "exception - overloaded",
            "server is overloaded",  # of SGLang's parts, prefill and decode (anomalyco/opencode#26110)
            "degraded function cannot be invoked",  # NVIDIA, as 400 (Alishahryar1/free-claude-code#1012)
            "当前模型暂时无法使用",  # of Chinese servers, as 400 (router-for-me/CLIProxyAPI#2699)
            "total request limit reached",  # NVIDIA, also behind OpenRouter (anomalyco/opencode#35265)
        ),
        ErrorKind.CONTENT_FILTER: (
            "content exists risk",  # DeepSeek
            "flagged as potentially violating",  # OpenAI (openai/codex#38849)
            "content violates usage guidelines",  # xAI (Wei-Shaw/sub2api#5359)
            "blocked by content filtering policy",  # Claude (claude-code#58367)
            "content management policy",  # Azure behind gateways (Oaklight/argo-proxy#91, onyx-dot-app/onyx#10893)
            "contentpolicyviolationerror",  # LiteLLM, in front of any message (inspect_ai: _litellm_proxy_errors.py)
            "machine outputted is blocked",  # StepFun, as 451, also behind OpenRouter
            "your input was flagged",  # OpenRouter, as 403 (its manual)
            "input new_sensitive",  # MiniMax, as 500, and its output (NousResearch/hermes-agent#41110)
            "output new_sensitive",
            "may contain inappropriate content",  # DashScope and SenseNova (LobeChat, errors/patterns.ts, and the next)
            "flagged for possible cybersecurity risk",  # OpenAI
        ),
        ErrorKind.CONTEXT_LENGTH: (
            # More than the limit of a minute: a shorter one may succeed, and the same one never.
            "request too large for",  # OpenAI (vanna-ai/vanna-flask#11), Groq (continuedev/continue#10218)
            # Failures of the server.
            "prompt is too long",  # Claude, also in a stream of Bedrock
            "input is too long",  # Bedrock
            "too many total text bytes",  # Claude at Bedrock and Databricks (strands-agents/sdk-python#1528)
            "input tokens, limit is",  # the gateway of Vercel (charmbracelet/fantasy#299)
            "tokens exceed the configured limit",  # OpenAI behind gateways (letta: error_utils.py)
            "exceeds the available context size",  # llama.cpp
            "context size has been exceeded",  # llama.cpp (ggml-org/llama.cpp#19774)
            "context window is full",  # Kronk (ardanlabs/kronk#862)
            "context window exceeds limit",  # MiniMax, and these behind gateways (earendil-works/pi, overflow.ts)
            "exceeds the context window",  # OpenAI
            "model's context window",  # the same, with another sentence (code-yeongyu/senpi#1466)
            "exceeded max context length",  # Ollama
            "longer than the maximum model length",  # vLLM (xorbitsai/inference#3785)
            "maximum context length",  # OpenAI, vLLM, OpenRouter, Mistral
            "contextwindowexceedederror",  # LiteLLM, in front of any message (inspect_ai: _litellm_proxy_errors.py)
        ),
        ErrorKind.TIMEOUT: (
            "upstream idle timeout exceeded",  # OpenRouter, in a stream (archestra-ai/archestra#5511)
            "stream closed before response.completed",  # CLIProxyAPI, in a stream (router-for-me/CLIProxyAPI#3055)
        ),
    }
)

_CODES: Final = _by_phrase(
    {
        ErrorKind.QUOTA: (
            "insufficient_quota",  # OpenAI behind OpenRouter and others (everruns/everruns#1819)
            "quota_exhausted",  # Antigravity behind gateways (lbjlaq/Antigravity-Manager#541)
            "requestsperday",  # Gemini behind LiteLLM (BerriAI/litellm#9035)
        ),
        ErrorKind.OVERLOADED: ("overloaded_error",),  # Claude behind LiteLLM, as 500
    }
)
"""Codes in messages; in that of a wrong request they may be names of the app's own, as of a field of a tool."""

_OF_ITEMS: Final = _by_phrase(
    {ErrorKind.INVALID_REQUEST: ("does not belong to this connection",)}  # Copilot, as 401 (opencode#31236)
)
"""Beside the code of a refused key."""

_FIRM: Final = MappingProxyType({**_OF_MINUTES, **_CODES, **_OTHERS})
"""Beside the codes of a rate limit, of a server that fails or has no capacity, and of a refused key."""

_LOOSE: Final = _by_phrase(
    {
        ErrorKind.CONTEXT_LENGTH: (
            "context length",  # Together, LM Studio
            "context window",
            "context size",  # llama.cpp
            "exceed context limit",  # Claude
            "input tokens exceeded",  # Nova
            "input token count",  # Gemini, Vertex, Titan
            "model token limit",  # Moonshot
            "input token length too long",  # the same (its manual, and letta: test_error_utils.py)
            "exceed model maximum",  # Bedrock's mantle (litellm: exception_mapping_utils.py)
            "prompt exceeds max length",  # Z.ai
            "`inputs` tokens +",  # text-generation-inference (huggingface/chat-ui#1149)
            "`inputs` must have less than",  # the same (meta-llama/llama#1103)
            "maximum prompt length",  # xAI (cline/cline#3120)
            "prompt token count of",  # Copilot (microsoft/vscode-copilot-release#6700)
            ">= n_ctx",  # LM Studio (anomalyco/opencode#11141)
            "range of input length",  # DashScope (anomalyco/opencode#45834)
            "reduce the length of the messages",  # Groq (earendil-works/pi, overflow.ts), Cerebras (cline/cline#5140)
            "allowed input length",  # Poolside (earendil-works/pi#4943)
            "tokens) exceeds the maximum allowed length",  # SGLang (NVIDIA-NeMo/Switchyard#426)
            "tokens in request more than max tokens allowed",  # Z.ai (anomalyco/opencode#27628)
            "total message size",  # Moonshot (MoonshotAI/kimi-code#476)
            "exceed max message tokens",  # Volcengine, as an invalid parameter (sipeed/picoclaw#183)
            "must be less than max_seq_len",  # SiliconFlow (chatboxai/chatbox#2060)
            "too many tokens: ",  # Cohere (Quansight/ragna#351, cohere-ai/sandbox-topically#4)
            "maximum allowed number of input tokens",  # (LobeChat, errors/patterns.ts)
            "content_length_exceeds_threshold",  # Kiro behind gateways (the same)
            "max input token limit",  # Bedrock (openclaw/openclaw#58839)
        ),
        ErrorKind.AUTH: (
            "organization has been disabled",  # Claude (anthropics/claude-code#19028)
            "credential is only authorized for use with",  # Claude (claude-code#24198)
            "please pass a valid api key",  # Gemini on the wire of OpenAI, and the next (continuedev/continue#11336)
            "please renew the api key",
        ),
        ErrorKind.OVERLOADED: ("capacity exceeded for this model",),  # Mistral (continuedev/continue#6185)
        ErrorKind.NOT_FOUND: (
            "requested model is not supported",  # Copilot (github/copilot-cli#639)
            "model not exist",  # DeepSeek (deepwn/addi#13), DashScope
            "model does not exist",  # SiliconFlow
            "is not a valid model id",  # OpenRouter
            "model identifier is invalid",  # Bedrock (pydantic/pydantic-ai: test_bedrock_streaming_error.yaml)
            "the supported api model names are",  # DeepSeek (NousResearch/hermes-agent#113272)
            "no model found:",  # Routeway (tashfeenahmed/freellmapi#1143)
        ),
    }
)

PHRASES: Final[Mapping[ErrorKind, Mapping[str, ErrorKind]]] = MappingProxyType(
    {
        ErrorKind.INVALID_REQUEST: MappingProxyType({**_OF_MINUTES, **_OTHERS, **_LOOSE}),
        ErrorKind.RATE_LIMIT: _FIRM,
        ErrorKind.OVERLOADED: _FIRM,
        ErrorKind.PROVIDER: _FIRM,
        ErrorKind.AUTH: MappingProxyType({**_FIRM, **_OF_ITEMS}),
        ErrorKind.QUOTA: _OF_MINUTES,
    }
)
"""By the kind of a code that servers send for other errors too, its phrases. An error without a code may have any."""

CODES: Final = by_word(
    {
        ErrorKind.QUOTA: "1113 1308 1310 1316"  # Z.ai: a balance, and plans (dirge-code/dirge#818, LionSR/TeXRA#9865)
        " 1304 1309 1311"  # Z.ai: a day, and plans (docs.z.ai: api-code; so are its other numbers below)
        " insufficient_balance"  # sub2api, as 403 (Wei-Shaw/sub2api#890), Venice
        " insufficient_user_quota"  # new-api, as 403 (popjane/free_chatgpt_api#78)
        " pre_consume_token_quota_failed"  # the same, of a key (QuantumNous/new-api: types/error.go, one-api)
        " budget_exceeded"  # LiteLLM, as 429 (BerriAI/litellm#36729)
        " usage_limit_reached usage_not_included"  # Codex, as 429, also behind gateways
        " accountquotaexceeded accountoverdueerror"  # Volcengine: a plan, as 429, and a balance, as 403 (its manual)
        # OpenCode Zen, as 401 but for the last two (anomalyco/opencode#42977, earendil-works/pi: retry.ts)
        " creditserror monthlylimiterror userlimiterror freeusagelimiterror gousagelimiterror"
        " exceeded_current_quota_error"  # Moonshot, as 429, on each of its wires (its manual)
        " arrearage"  # DashScope, as 400 (alibaba/spring-ai-alibaba#1146)
        " account_overdue"  # Qianfan, as 403 (its manual; so are its other words below)
        " allocationquota.freetieronly"  # DashScope, as 403 (666ghj/BettaFish#609)
        " payment_required"  # OpenRouter: the type of an error, here and below (openrouter 1.3, apierrortype.py)
        " 11201",  # Spark: a day; its other numbers below (langchain4j: SparkResponseErrorCode.java)
        # DashScope (QwenLM/qwen-code: its tests of the wires of OpenAI and Claude)
        ErrorKind.RATE_LIMIT: "throttling throttling.ratequota throttling.allocationquota 10007 11202 11203"  # Spark
        " 1302 1303 1305"  # Z.ai
        " rate_limit_reached_error"  # Moonshot
        " model_cooldown"  # CLIProxyAPI (openclaw/openclaw#17231)
        " rate_limit_exceeded",
        ErrorKind.CONTENT_FILTER: "sensitive_words_detected"  # new-api, as 500 (QuantumNous/new-api#6657)
        " prompt_blocked violation_fee.grok.csam"  # the same, of Gemini and xAI (QuantumNous/new-api: types/error.go)
        " 1301"  # Z.ai (langchain4j/langchain4j#1079)
        # Volcengine, as 400 (its manual)
        " sensitivecontentdetected sensitivecontentdetected.severeviolation sensitivecontentdetected.violence"
        " inputtextsensitivecontentdetected inputimagesensitivecontentdetected outputtextsensitivecontentdetected"
        " 10013 10014 10019"  # Spark
        " moderation_blocked"  # OpenAI, of a tool that makes images
        " unsafe_request"  # Qianfan: the type of an error, as 400 and 403
        " content_filter"  # Moonshot, as 400
        " content_policy_violation refusal",
        ErrorKind.OVERLOADED: "no_capacity"  # Azure (can1357/oh-my-pi#6503)
        " serveroverloaded"  # Volcengine, as 429
        " 10008 10110"  # Spark
        " engine_overloaded_error"  # Moonshot, as 429, and in a stream (MoonshotAI/kimi-cli#2571)
        " provider_overloaded provider_unavailable",
        ErrorKind.TIMEOUT: "timeout request_timeout",  # CLIProxyAPI (router-for-me/CLIProxyAPI#4527)
        ErrorKind.CONTEXT_LENGTH: "10907"  # Spark
        " context_length_exceeded token_limit_exceeded"
        " tokens_limit_reached"  # GitHub Models, as 413 (Aider-AI/aider#2296)
        " tokens_too_long characters_too_long",  # Qianfan, as 400
        ErrorKind.AUTH: "10015 10016 11200 11500"  # Spark
        " 1110 1111 1112 1121"  # Z.ai: an account that is locked, as 429
        " authentication permission_denied",
        ErrorKind.PROVIDER: "server_error",  # Moonshot
        ErrorKind.NOT_FOUND: "model_not_found"  # new-api, as 503 (NanmiCoder/cc-haha#43)
        " modelerror"  # Zen, as 401 (leookun/cursor-byok#94)
        " 1211"  # Z.ai
        " invalid_model"  # Mistral, Perplexity, as 400
        " model_offline"  # Qianfan, as 403
        " not_found",
        # OpenRouter: types beside the code of a server that failed
        ErrorKind.INVALID_REQUEST: "invalid_request invalid_prompt max_tokens_exceeded string_too_long unprocessable"
        " precondition_failed payload_too_large invalid_image image_too_large image_too_small image_not_found"
        " unsupported_image_format image_download_failed",
    }
)
"""Kind by a code of gateways, which is the same on each wire; also by a number."""
