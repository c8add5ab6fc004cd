"""
Events that google-genai has parsed and an application has dumped to plain JSON: a decoder reads them as it reads the
wire.
"""

import base64

import pytest

from assistant_events.adapters import load_dialect

PNG = b"\x89PNG"
DREAM = {"type": "dream", "depth": 2, "about": {"sheep": None}}
IMAGE = {"type": "image", "data": base64.b64encode(PNG).decode(), "mime_type": "image/png"}
STEPS = [
    DREAM,
    {"type": "model_output", "content": [{"type": "text", "text": "Hi"}, IMAGE]},
    {"type": "function_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo", "days": None}},
]


@pytest.mark.parametrize("how", [{}, {"mode": "json"}, {"exclude_none": True}], ids=["plain", "json", "without nulls"])
@pytest.mark.parametrize("version", ["1.75", "2.19", "2.34", "3.4"])
def test_dumped_events_are_read_as_the_wire(google_genai, provider, version, how):
    """
    Neither the nulls of 1.75 nor what 2.19 and 2.34 wrap as unknown become content, and nothing is lost.
    """
    mock = provider({"Go": {"steps": STEPS}})
    decoder = load_dialect("gemini-interactions").decoder("a1")
    for event in google_genai(version, "sync", mock.url).dump(how=how, model="gemini-3.6-flash", input="Go"):
        decoder.feed_event(event)
    dream, text, image, call = decoder.message.parts

    # google-genai 1.75 takes an unknown type for a text, and dumps nulls for the fields of one.
    assert DREAM == {key: value for key, value in dream.state["step"].items() if value is not None}
    assert ("text", "Hi", {"i": 1}) == (text.type, text.text, text.state)
    assert ("media", PNG, "image/png") == (image.type, image.data, image.media_type)
    assert {"city": "Oslo", "days": None} == call.arguments
