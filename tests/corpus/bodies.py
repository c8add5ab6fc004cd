"""
The recorded bodies of the Interactions wire as tests use them.
"""

import json
from pathlib import Path

import pytest

from assistant_events.adapters import load_dialect

from . import corpus_folder

DIALECT = load_dialect("gemini-interactions")
NAME = "gemini_interactions"
EXPECTATIONS = {
    entry["file"]: entry for entry in json.loads((Path(__file__).parent / f"{NAME}.json").read_text(encoding="utf-8"))
}
STREAMS = [name for name, entry in EXPECTATIONS.items() if entry["form"] == "stream"]
RESOURCES = [name for name, entry in EXPECTATIONS.items() if entry["form"] == "resource"]
ERRORS = [name for name, entry in EXPECTATIONS.items() if entry["form"] == "http-error"]


def body_of(file):
    """
    Return a recorded body, or skip the test visibly.
    """
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no recorded bodies in ../shared/corpus")
    return (corpus / NAME.replace("_", "-") / file).read_bytes()


def stream_of(file):
    """
    Return a recorded stream as server-sent events; some recordings have only their data, one to a line.
    """
    body = body_of(file)
    if not file.endswith(".jsonl"):
        return body
    return b"".join(frame(json.loads(line), line) for line in body.splitlines() if line.strip())


def frame(event, data=None):
    """
    Return one server-sent event.
    """
    text = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass") if data is None else data
    return b"event: %b\ndata: %b\n\n" % (event["event_type"].encode(), text)


def events_of(body):
    """
    Return the parsed events of a stream, read by nothing of the library.
    """
    lines = body.decode("utf-8").replace("\r\n", "\n").split("\n")
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [json.loads(each) for each in data if each != "[DONE]"]
