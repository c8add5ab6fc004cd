"""
Streams of every shape that the wire has: what holds for any adapter is tried on each.
"""

from .notation import DONE, HEAD, D, E, F, J, R, T, U, answer, chunk, stream

ENCRYPTED = {"type": "reasoning.encrypted", "data": "gAAAAABsecret", "format": "openai-responses-v1", "index": 1}
PIXEL = "iVBORw0KGgo="


def twice(text, index, reasoning=None, **more):
    """
    Return a chunk of OpenRouter, with the same words in two fields.
    """
    detail = {"type": "reasoning.text", "text": text, "format": "unknown", "index": index, **more}
    words = text if reasoning is None else reasoning
    return D(role="assistant", content="", reasoning=words, reasoning_details=[detail])


def block(text, signature=None, **more):
    """
    Return a chunk of LiteLLM with a piece of a block of Claude, which it repeats in a field of its own.
    """
    blocks = [{"type": "thinking", "thinking": text, "signature": signature, **more}]
    return D(reasoning_content=text, thinking_blocks=blocks, provider_specific_fields={"thinking_blocks": blocks})


def piece(text=None, **delta):
    """
    Return a chunk of Portkey with a piece of a block of Claude, which has no type; a text is also the content.
    """
    block = {"index": 1, "delta": delta if text is None else {**delta, "text": text}}
    return D(content_blocks=[block], **({"content": text} if text else {}))


def summary(text, signature=""):
    """
    Return a chunk of Databricks with a piece of a thought of Claude.
    """
    pieces = [{"type": "summary_text", "text": text, "signature": signature}]
    return D(content=[{"type": "reasoning", "summary": pieces}])


def executed(index, query, **more):
    """
    Return a tool that Groq has run.
    """
    return {"index": index, "type": "search", "arguments": f'{{"query": "{query}"}}', **more}


DRAWN = '{"url":"https://u.example/i.jpg"}'


def drawn(**more):
    """
    Return the messages of an answer in which Mistral has run a tool, between two texts.
    """
    function = {"name": "generate_image", "arguments": '{"prompt":"a cat"}'}
    call = {"id": "imagecall", "type": "function", "function": function, "metadata": {"tool_type": "image"}}
    return [
        {"role": "assistant", "content": "I draw.", "tool_calls": [call], "index": 0},
        {"role": "tool", "tool_call_id": "imagecall", "content": DRAWN, "index": 1},
        {"role": "assistant", "content": "Here it is.", "index": 2, **more},
    ]


NO_CALL = {"index": 1, "id": "", "type": "", "function": {"name": "", "arguments": ""}}
NOTHING = {
    "function_call": {"name": "", "arguments": ""},
    "audio": {"id": "", "data": "", "expires_at": 0, "transcript": ""},
    "refusal": "",
    "tool_calls": [],
}

SAMPLES = {
    "sources of Claude and steps of a search": answer(
        D(reasoning_steps=[{"thought": "Look for it", "type": "web_search"}]),
        D(reasoning_steps=[{"thought": "Read the page", "type": "fetch_url_content"}]),
        T("It "),
        T("rains."),
        *[
            D(content="", provider_specific_fields={"citation": {"type": "web_search_result_location", **source}})
            for source in (
                {"url": "https://a.example", "title": "Weather", "cited_text": "Rain all day"},
                {"url": "https://b.example", "title": "More weather", "cited_text": "It was wet"},
            )
        ],
    ),
    "plain text": answer(T("Hel"), T("lo"), T(" world")),
    "without a mark": stream(
        D(role="assistant", content=""),
        T("Hello"),
        F(chunk={"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}),
    ),
    "reasoning": answer(R("Let"), R(" me see"), T("Yes.")),
    "an encrypted copy of a thought": answer(
        R("Let"),
        D(reasoning_content="\n\n__ENCRYPTED_REASONING__id=rs_1\ngAAA==", reasoning_encrypted=True),
        *(R(" me see"), T("Yes.")),
    ),
    "reasoning again": answer(R("One", "reasoning"), T("two"), R("three", "reasoning"), T("four")),
    "reasoning details": answer(
        *[
            D(
                content="",
                reasoning=text,
                reasoning_details=[
                    {"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0}
                ],
            )
            for text in ("Let", " me see")
        ],
        D(reasoning_details=[{"type": "reasoning.text", "text": "", "signature": "EqQBCkgIChABGAI", "index": 0}]),
        T("Yes."),
    ),
    "encrypted reasoning": answer(
        D(
            reasoning="So",
            reasoning_details=[
                {"type": "reasoning.summary", "summary": "So", "format": "openai-responses-v1", "index": 0}
            ],
        ),
        T("Yes."),
        D(reasoning="", reasoning_details=[{**ENCRYPTED, "id": "rs_0123456789"}]),
    ),
    "reasoning in two fields": answer(
        *[twice(text, 0) for text in ("1", " 2", ' "3"\n', " 4", " 5", " 6", " 7", " 8")],
        *[twice(" 9", 0, "and so on")] * 6,
        twice(" 10", 0),
        *[twice(text, 1) for text in ("a", "b", "c", "d", "e")],
        twice("", 1, signature="EqQBCkgIChABGAI"),
        *[twice(text, 0, signature=None) for text in ("11", "12", "13", "14", "15", "16")],
        *[T(text) for text in ("Y", "e", "s", ".")],
    ),
    "blocks of LiteLLM": answer(
        *[block("Let"), block(" me see"), block("", "MA=="), block("and"), block(" again"), block("", "MQ==")],
        D(thinking_blocks=[{"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"}]),
        T("Yes."),
    ),
    "blocks of Portkey": answer(
        *[piece(thinking="", signature=""), piece(thinking="Let"), piece(thinking=" me see"), piece(signature="MA==")],
        *[piece(data="EmwKAhgB"), piece(text=""), piece("Wa"), piece("it. ")],
        *[piece(thinking="", signature=""), piece(signature="MQ=="), piece("Yes.")],
        finish_reason="end_turn",
    ),
    "redacted blocks of LiteLLM": answer(
        *[D(thinking_blocks=[{"type": "redacted_thinking", "data": data}]) for data in ("EmwKAhgB", "EmwKAhgC")],
        T("Yes."),
    ),
    "redacted block of LiteLLM behind a text": answer(
        R("Let me see"), D(thinking_blocks=[{"type": "redacted_thinking", "data": "EmwKAhgB"}]), T("Yes.")
    ),
    "two summaries of Databricks": answer(
        D(
            content=[
                {
                    "type": "reasoning",
                    "summary": [
                        {"type": "summary_text", "text": text, "signature": signature}
                        for text, signature in (("One", "MA=="), ("Two", "MQ=="))
                    ],
                }
            ]
        ),
        T("Yes."),
    ),
    "summaries of Databricks": answer(summary("Let"), summary(" me see"), summary("", "MA=="), T("Ye"), T("s.")),
    "thinking in arrays": answer(
        *[
            D(content=[{"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}])
            for text, more in [(text, {}) for text in "abcdefg"]
            + [(text, {"closed": False}) for text in "hijklmn"]
            + [(text, {"closed": True}) for text in "opqrstu"]
        ],
        *[D(content=[{"type": "text", "text": text}]) for text in "Yes.!"],
    ),
    "content in arrays": answer(
        D(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], "closed": True}]),
        D(content=[{"type": "text", "text": "2 + 2"}]),
        T(" = 4"),
        D(content=[{"type": "reference", "reference_ids": [1, 2]}]),
    ),
    "calls by turns": answer(
        J("", 0, "call_00001", "f", type="function"),
        J("", 1, "call_00002", "g", type="function"),
        J('{"a"', 0),
        J('{"b"', 1),
        J(":1}", 0),
        J(":2}", 1),
        finish_reason="tool_calls",
    ),
    "calls at one index": answer(
        J('{"a":1}', 0, "call_00001", "f"),
        J('{"a":2}', 0, "call_00002", "f"),
        J('{"a":3}', 0, "call_00003", "f"),
    ),
    "calls without an index": answer(
        J('{"a":', None, "call_00001", "f"), J("1}", None), J('{"a":2}', None, "call_00002", "g")
    ),
    "call in the last chunk": stream(
        F("tool_calls", tool_calls=[{"index": 0, "id": "call_00001", "function": {"name": "f", "arguments": "{}"}}]),
        DONE,
    ),
    "call without an id": answer(J("{", None, None, "f"), J("}", None), finish_reason="tool_calls"),
    "call with a late name": answer(J('{"a":1', 0, "call_00001"), J("}", 0, None, "f"), finish_reason="tool_calls"),
    "call without a name": answer(J('{"a":1}', 0, "call_00001"), T("Hm.")),
    "signed call": answer(
        J(
            '{"a":1}',
            0,
            "call_00001",
            "f",
            type="function",
            extra_content={"google": {"thought_signature": "AVSoXO4lu90Bn7Ix"}},
        ),
        finish_reason="tool_calls",
    ),
    "signed text": answer(T("Yes."), D(extra_content={"google": {"thought_signature": "AVSoXO4lu90Bn7Ix"}})),
    "custom tool": answer(
        D(tool_calls=[{"index": 0, "id": "call_00001", "type": "custom", "custom": {"name": "sql", "input": ""}}]),
        D(tool_calls=[{"index": 0, "custom": {"input": "SELECT"}}]),
        D(tool_calls=[{"index": 0, "custom": {"input": " 1"}}]),
        finish_reason="tool_calls",
    ),
    "old function": answer(
        D(function_call={"name": "f", "arguments": ""}),
        D(function_call={"arguments": '{"a":1}'}),
        finish_reason="function_call",
    ),
    "input that was cut": answer(J('{"a":', 0, "call_00001", "f"), finish_reason="length"),
    "executed tool": answer(
        R("Searching", "reasoning"),
        D(executed_tools=[{"index": 0, "type": "search", "arguments": '{"query": "q"}'}]),
        D(
            executed_tools=[
                {
                    "index": 0,
                    "type": "search",
                    "arguments": '{"query": "q"}',
                    "output": "Title: found",
                    "search_results": {"results": [{"url": "https://u.example", "score": 0.875}]},
                }
            ]
        ),
        T("It is so."),
    ),
    "two thoughts and two calls": answer(
        twice("First of all", 0),
        D(reasoning_details=[{"type": "reasoning.text", "text": "", "signature": "EqQBZmlyc3Qtc2ln", "index": 0}]),
        twice("Then again", 1),
        D(reasoning_details=[{"type": "reasoning.text", "text": "", "signature": "EqQBc2Vjb25kLXM=", "index": 1}]),
        *[
            J(f'{{"a":"{words}"}}', at, f"call_0000{at}", "f", extra_content={"google": {"thought_signature": seal}})
            for at, words, seal in ((0, "one", "AVSoXO4lu90Bn7Ix"), (1, "two", "AVSoXO4lu90Bn7Iy"))
        ],
        finish_reason="tool_calls",
    ),
    "tool in messages": answer(*[D(**each) for each in drawn()]),
    "two executed tools": stream(
        D(executed_tools=[executed(0, "one"), executed(1, "two")]),
        D(executed_tools=[executed(0, "one", output="What came first")]),
        D(executed_tools=[executed(1, "two", output="What came then")]),
        T("So it is."),
        F("max_tokens"),
        U(prompt_tokens_details={"cached_tokens": 4}, completion_tokens_details={"reasoning_tokens": 3}),
        DONE,
    ),
    "citations": answer(
        T("It is so."),
        D(
            annotations=[
                {
                    "type": "url_citation",
                    "url_citation": {"url": "https://u.example", "title": "Title", "start_index": 0, "end_index": 5},
                }
            ]
        ),
    ),
    "refusal": answer(D(refusal=""), D(refusal="I'm"), D(refusal=" sorry.")),
    "audio": answer(
        D(audio={"id": "audio_00001", "transcript": ""}),
        D(audio={"data": "AAEC", "transcript": "Hello"}),
        D(audio={"data": "AwQF", "transcript": " you"}),
        D(audio={"expires_at": 1790000999}),
    ),
    "image": answer(
        T("Here."), D(images=[{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}])
    ),
    "log probabilities": answer(
        *[
            D(content=text, choice={"logprobs": {"content": [{"token": text, "logprob": value, "bytes": [72]}]}})
            for text, value in (("Hel", -0.25), ("lo", -0.125))
        ]
    ),
    "filters of Azure": stream(
        {**HEAD, "id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        T("Hello"),
        {**HEAD, "choices": [{"index": 0, "delta": None, "content_filter_results": {"hate": {"severity": "safe"}}}]},
        F(),
        DONE,
    ),
    "usage in each chunk": stream(
        *[
            D(content=text, chunk={"usage": {"prompt_tokens": 4, "completion_tokens": at, "total_tokens": 4 + at}})
            for at, text in enumerate("abcdefgh", 1)
        ],
        F(),
        DONE,
    ),
    "padding": stream(*[{**T(text), "obfuscation": "x" * at} for at, text in enumerate("abcdefgh")], F(), U(), DONE),
    "image of Portkey": answer(
        piece(thinking="Let me draw"),
        piece("A cat: "),
        piece(type="image_url", image_url={"url": f"data:image/png;base64,{PIXEL}"}),
    ),
    "padding of choices": stream(
        *[
            D(content=text, choice={"obfuscation": "x" * at}, chunk={"obfuscation": "y"})
            for at, text in enumerate("abcdef")
        ],
        F(choice={"obfuscation": "kQ3"}),
        U(),
    ),
    "other choices": stream(T("a"), {**HEAD, "choices": [{"index": 1, "delta": {"content": "b"}}]}, F(), DONE),
    "facts of servers": stream(
        D(content="Hello", chunk={"provider": "Some Host", "x_groq": {"id": "req_00001"}}),
        F(choice={"native_finish_reason": "completed"}, chunk={"x_groq": {"seed": 7}, "service_tier": "default"}),
        chunk(citations=["https://u.example"], usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
        DONE,
    ),
    "keepalive": stream({"type": "keepalive", "sequence_number": 59}, {"type": "ping"}, T("Hello"), F(), DONE),
    "a call that comes twice": stream(
        T("\n"),
        *[J('{"number": 9}', id="call_00001", name="square_root")] * 2,
        F("tool_calls"),
        DONE,
    ),
    "empty fields of Tencent": stream(
        D(reasoning_content="Hm", content="", **NOTHING),
        D(reasoning_content="", content="Yes.", **NOTHING),
        J('{"a":', 0, "call_00001", "f"),
        D(tool_calls=[{"index": 0, "function": {"arguments": "1}"}}, NO_CALL]),
        F("tool_calls", content="", reasoning_content="", **NOTHING),
        DONE,
    ),
    "other reasons behind a call": stream(
        J("", id="call_00001", name="square_root"),
        D("tool_calls", tool_calls=[{"index": 0, "function": {"arguments": '{"number": 9}'}}]),
        F("tool_calls", choice={"matched_stop": 151645}),
        F("stop", chunk={"usage": {"prompt_tokens": 210, "completion_tokens": 25, "total_tokens": 235}}),
        DONE,
    ),
    "error first": stream(E(type="server_error", code=None)),
    "error after text": stream(
        D(content="He", chunk={"provider": "p"}),
        E("Token limit reached", code=400, metadata={"provider_name": "p"}),
        DONE,
    ),
    "error in a choice": stream(
        D(content="Hello", annotated=True),
        D("error", {"error": {"code": 502, "message": "Upstream idle timeout"}}, content=""),
        DONE,
    ),
    "error as a reason": stream(T("He"), F("error"), DONE),
    "without a reason to finish": stream(T("Hello")),
    "mark alone": stream(T("Hello"), DONE),
}
