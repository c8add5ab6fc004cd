import copy
import hashlib
import json
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest

from . import corpus_folder
from .compare import USAGE, differences, error_differences, including

LONG = "ä" * 201
PICTURE = b"\x89PNG"


class Word(StrEnum):
    COMPLETED = "completed"
    STOP = "stop"
    SUCCESS = "success"


class TextPart(SimpleNamespace):
    pass


class ReasoningPart(SimpleNamespace):
    pass


class ToolPart(SimpleNamespace):
    pass


class MediaPart(SimpleNamespace):
    pass


class OpaquePart(SimpleNamespace):
    pass


class TextContent(SimpleNamespace):
    pass


class JsonContent(SimpleNamespace):
    pass


class MediaContent(SimpleNamespace):
    pass


def message():
    """
    Return a substitute with every part, frozen values where the library freezes.
    """
    return SimpleNamespace(
        status=Word.COMPLETED,
        finish_reason=Word.STOP,
        raw_finish_reason="completed",
        error=SimpleNamespace(kind="provider", message="boom", code="internal"),
        origin=SimpleNamespace(model="m-1", served_model="m-1"),
        run=SimpleNamespace(id="v1_a"),
        usage=SimpleNamespace(
            input_tokens=12, cache_read_tokens=4, cache_write_tokens=None, output_tokens=8, reasoning_tokens=5
        ),
        parts=[
            TextPart(
                text=LONG,
                citations=(SimpleNamespace(url="https://e.x/", title="E", start=0, end=None),),
                state=MappingProxyType({"annotations": ({"a": 1}, {"a": 2})}),
            ),
            ReasoningPart(text="", state=MappingProxyType({"signature": "c2ln"})),
            ToolPart(
                call_id="c1",
                name="search",
                input=MappingProxyType({"queries": ("a", 1), "deep": True}),
                provider_executed=True,
                status=Word.SUCCESS,
                output=(JsonContent(value=(MappingProxyType({"html": "<p>"}),)),),
                error=None,
                state=MappingProxyType({"signature": "S1"}),
                result_state=MappingProxyType({"signature": "S2"}),
            ),
            MediaPart(media_type="image/png", data=PICTURE, uri=None),
            MediaPart(media_type="video/mp4", data=None, uri="https://e.x/v"),
            OpaquePart(),
        ],
    )


EXPECTED = {
    "status": "completed",
    "finish_reason": "stop",
    "raw_finish_reason": "completed",
    "error_kind": "provider",
    "error_message": "boom",
    "error_code": "internal",
    "model": "m-1",
    "served_model": "m-1",
    "run_id": "v1_a",
    "usage": {
        "input": 8,
        "cache_read": 4,
        "cache_write": None,
        "output": 3,
        "reasoning": 5,
    },
    "parts": [
        {
            "type": "text",
            "text": {
                "sha256": hashlib.sha256(LONG.encode()).hexdigest()[:16],
                "length": 201,
                "start": "ä" * 40,
            },
            "annotations": 2,
            "citations": [{"url": "https://e.x/", "title": "E", "start": 0, "end": None}],
        },
        {"type": "reasoning", "text": "", "signature": "c2ln"},
        {
            "type": "tool",
            "call_id": "c1",
            "name": "search",
            "input": {"queries": ["a", 1], "deep": True},
            "provider_executed": True,
            "status": "success",
            "signature": "S1",
            "result_signature": "S2",
            "output": [{"html": "<p>"}],
            "error_kind": None,
        },
        {
            "type": "media",
            "media_type": "image/png",
            "bytes_sha256": hashlib.sha256(PICTURE).hexdigest(),
            "uri": None,
        },
        {
            "type": "media",
            "media_type": "video/mp4",
            "bytes_sha256": None,
            "uri": "https://e.x/v",
        },
        {"type": "opaque"},
    ],
}

COUNTS = {
    "both sides include their parts": ((8, 4, 2, 3, 5), (14, 4, 2, 8, 5)),
    "absent parts count as zero": ((8, None, None, 3, None), (8, None, None, 3, None)),
    "a side without its own count stays unknown": ((None, 4, None, None, 5), (None, 4, None, None, 5)),
}


@pytest.mark.parametrize(("apart", "together"), COUNTS.values(), ids=COUNTS)
def test_usage_is_derived(apart, together):
    """
    The counts of an expectation do not overlap; those of a message are derived from them.
    """
    assert dict(zip(USAGE, together, strict=True)) == including(dict(zip(USAGE, apart, strict=True)))


def test_no_usage_stays_none():
    """
    Without usage there is nothing to derive.
    """
    assert including(None) is None


CHANGES = [
    ("status", "status", "failed"),
    ("finish_reason", "finish_reason", None),
    ("raw_finish_reason", "raw_finish_reason", "weird"),
    ("error_kind", "error", None),
    ("error_kind", "error.kind", "timeout"),
    ("error_message", "error.message", "bang"),
    ("error_code", "error.code", None),
    ("model", "origin.model", "m-2"),
    ("served_model", "origin.served_model", None),
    ("run_id", "run", None),
    ("run_id", "run.id", "v1_b"),
    ("usage", "usage", None),
    ("usage", "usage.input_tokens", 9),
    ("usage", "usage.cache_read_tokens", None),
    ("usage", "usage.cache_write_tokens", 0),
    ("usage", "usage.output_tokens", 4),
    ("usage", "usage.reasoning_tokens", 6),
    ("parts", "parts", ()),
    ("parts[0].text", "parts.0.text", "ä" * 200 + "b"),
    ("parts[0].text", "parts.0.text", "ä" * 200 + "\ud83d"),
    ("parts[0].annotations", "parts.0.state", {}),
    ("parts[0].citations", "parts.0.citations", ()),
    ("parts[0].citations", "parts.0.citations.0.url", None),
    ("parts[0].citations", "parts.0.citations.0.title", "F"),
    ("parts[0].citations", "parts.0.citations.0.start", 1),
    ("parts[0].citations", "parts.0.citations.0.end", 5),
    ("parts[1].text", "parts.1.text", "hm"),
    ("parts[1].signature", "parts.1.state", {"signature": ""}),
    ("parts[2].call_id", "parts.2.call_id", "c2"),
    ("parts[2].name", "parts.2.name", "find"),
    ("parts[2].input", "parts.2.input", None),
    ("parts[2].input", "parts.2.input", {"queries": ("a", 1), "deep": 1}),
    ("parts[2].input", "parts.2.input", {"queries": ("a", 1, 2), "deep": True}),
    ("parts[2].provider_executed", "parts.2.provider_executed", False),
    ("parts[2].status", "parts.2.status", "called"),
    ("parts[2].signature", "parts.2.state", {}),
    ("parts[2].result_signature", "parts.2.result_state", {"signature": "S1"}),
    ("parts[2].output", "parts.2.output", ()),
    ("parts[2].output", "parts.2.output", (TextContent(text="<p>"),)),
    ("parts[2].output", "parts.2.output", (MediaContent(), MediaContent())),
    ("parts[2].error_kind", "parts.2.error", SimpleNamespace(kind="no-result")),
    ("parts[3].media_type", "parts.3.media_type", "image/jpeg"),
    ("parts[3].bytes_sha256", "parts.3.data", b"\x89PNX"),
    ("parts[3].uri", "parts.3.uri", "https://e.x/p"),
    ("parts[4].bytes_sha256", "parts.4.data", PICTURE),
    ("parts[4].uri", "parts.4.uri", None),
    ("parts", "parts.5", ReasoningPart(text="", state={})),
]


def change(thing, path, value):
    """
    Set what the dotted *path* names inside *thing* to *value*.
    """
    *way, last = path.split(".")
    for name in way:
        thing = thing[int(name)] if name.isdigit() else getattr(thing, name)
    if last.isdigit():
        thing[int(last)] = value
    else:
        setattr(thing, last, value)


def leaves(value, path=()):
    """
    Yield the path and the value of everything in *value* that holds nothing else.
    """
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def altered(path, value):
    """
    Return a copy of the expectation with *value* at *path*.
    """
    changed = copy.deepcopy(EXPECTED)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


LEAVES = dict(leaves(EXPECTED))
STATED = [path for path, value in LEAVES.items() if value is not None and path[-1] != "type"]
SILENT = {("model",), ("error_message",), ("error_code",)}


def test_what_is_as_expected_is_no_difference():
    """
    Frozen and plain values, enums and strings, digests and long texts are the same.
    """
    assert [] == differences(message(), EXPECTED)


@pytest.mark.parametrize(("field", "path", "value"), CHANGES, ids=[f"{c[1]}-{i}" for i, c in enumerate(CHANGES)])
def test_a_changed_message_is_a_difference(field, path, value):
    """
    A change in a message is reported under the field that it touches.
    """
    changed = message()
    change(changed, path, value)

    assert field in {line.split(":")[0] for line in differences(changed, EXPECTED)}


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_a_changed_expectation_is_a_difference(path):
    """
    No value of an expectation can be another one without being noticed.
    """
    other = 99 if path[0] == "usage" else "reasoning" if LEAVES[path] == "opaque" else "opaque"

    assert differences(message(), altered(path, other))


@pytest.mark.parametrize("path", STATED, ids=lambda path: ".".join(map(str, path)))
def test_null_is_a_difference_unless_the_body_says_nothing(path):
    """
    Null means absence, except for three fields that a body may lack.
    """
    found = differences(message(), altered(path, None))

    assert (path in SILENT) is not bool(found)


def test_every_field_of_the_expectation_has_a_change():
    """
    The table of changes leaves no compared field out.
    """
    named = {field for field, _, _ in CHANGES}
    fields = {key for key in EXPECTED if key != "parts"}
    for place, part in enumerate(EXPECTED["parts"]):
        fields |= {f"parts[{place}].{key}" for key in part if key != "type"}

    assert set() == {f for f in fields - named if f != "parts[4].media_type"}


def test_a_missing_or_added_part_is_a_difference():
    """
    The number and the order of parts count.
    """
    shorter, longer, turned = message(), message(), message()
    shorter.parts.pop()
    longer.parts.append(OpaquePart())
    turned.parts.reverse()

    for changed in (shorter, longer, turned):
        assert [line for line in differences(changed, EXPECTED) if "parts:" in line]


def test_a_part_without_a_fixed_place_is_found_by_its_call():
    """
    A part with place "any" may be anywhere, but has to be there and be right.
    """
    expected = altered(("parts", 2, "place"), "any")
    moved, wrong, gone = message(), message(), message()
    moved.parts.append(moved.parts.pop(2))
    wrong.parts[2].name = "find"
    gone.parts.pop(2)

    assert [] == differences(moved, expected)
    assert 1 == len(differences(wrong, expected))
    assert ["parts[2]: no call 'c1' anywhere"] == differences(gone, expected)


def test_texts_of_a_tool_are_its_raw_output():
    """
    One text is a string, several contents are a list.
    """
    text = altered(("parts", 2, "output"), "18")
    one, two = message(), message()
    one.parts[2].output = (TextContent(text="18"),)
    two.parts[2].output = (TextContent(text="18"), JsonContent(value=1))

    assert [] == differences(one, text)
    assert ["parts[2].output: expected '18', got ['18', 1]"] == differences(two, text)


@pytest.mark.parametrize("field", ["kind", "message", "code"])
def test_a_changed_http_error_is_a_difference(field):
    """
    Kind, message and code of an HTTP error are compared.
    """
    expected = {"http_status": 429, "kind": "rate-limit", "message": "m", "code": "c"}
    error = SimpleNamespace(kind="rate-limit", message="m", code="c")

    assert [] == error_differences(error, expected)
    setattr(error, field, "other")
    assert 1 == len(error_differences(error, expected))


FILES = sorted(Path(__file__).parent.glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_expectations_are_complete_and_in_order(file):
    """
    Entries are in the order of their files, and none lacks a compared field.
    """
    entries = json.loads(file.read_text(encoding="utf-8"))
    names = [entry["file"] for entry in entries]
    fields = {part["type"]: {*part, "place"} for part in EXPECTED["parts"]}

    assert sorted(names) == names
    for entry in entries:
        assert entry["messages"] or entry["form"] == "http-error"
        for one in entry["messages"]:
            assert EXPECTED.keys() == one.keys()
            for part in one["parts"]:
                assert fields[part["type"]] == {*part, "place"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_expectations_belong_to_the_recorded_bodies(file):
    """
    Every recorded body has its entry, and it is the body that was read for it.
    """
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no recorded bodies in ../shared/corpus")
    entries = json.loads(file.read_text(encoding="utf-8"))
    bodies = corpus / file.stem.replace("_", "-")
    actual = {body.name: hashlib.sha256(body.read_bytes()).hexdigest()[:12] for body in bodies.iterdir()}

    assert actual == {entry["file"]: entry["sha256"] for entry in entries}
