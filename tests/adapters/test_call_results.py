"""
The output of a call of the provider: read, and written as it came.
"""

import pytest

from assistant_events.adapters.call_results import output_value, read_output, tool_error
from assistant_events.messages import CallStatus, ToolPart
from assistant_events.values import JsonContent, MediaContent, TextContent

OUTPUTS = {
    "nothing": (None, None, ()),
    "text": ("found", None, TextContent("found")),
    "empty text": ("", "image/png", TextContent("")),
    "JSON": ([{"url": "u"}], None, JsonContent([{"url": "u"}])),
    "false": (False, None, JsonContent(False)),
    "image": ("AAAA", "image/webp", MediaContent(media_type="image/webp", data=b"\0\0\0")),
    "text without a media type": ("AAAA", None, TextContent("AAAA")),
    "no base64": ("AAA.", "image/png", TextContent("AAA.")),
    "base64 of another form": ("AAA", "image/png", TextContent("AAA")),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs(name):
    """
    Each value has the content of its kind, which is written as the same value.
    """
    value, media_type, content = OUTPUTS[name]
    call = ToolPart(
        message_id="a1", call_id="c1", name="f", status=CallStatus.SUCCESS, provider_executed=True, output=content
    )

    assert content == read_output(value, media_type)
    assert value == output_value(call)


def test_the_error_of_an_mcp_server():
    """
    One of a tool has content, as its result would have; one of the protocol has a message.
    """
    texts = [{"type": "text", "text": "No such page."}, {"type": "image"}, {"type": "text", "text": "Try another."}]
    errors = [{"type": "mcp_tool_execution_error", "content": texts}, {"type": "http_error", "message": "Not found"}]

    assert ["No such page.\nTry another.", "Not found"] == [tool_error({"error": each}).message for each in errors]
