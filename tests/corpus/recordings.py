"""
Recorded answers of a dialect: their frames, their events, and what official clients made of them.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from assistant_events.adapters import JsonArray, JsonLines, load_dialect

from . import corpus_folder

ENDS = {
    "anthropic-messages": r'"type": ?"message_stop"',
    "bedrock-converse": r"(?!)",  # none: no capture holds several answers
    "gemini-generate-content": r"(?!)",  # none: no frame is marked as the last, and no capture holds several answers
    "openai-chat": r"^data: ?\[DONE\]",
    "openai-responses": r'"type": ?"response\.(completed|incomplete|failed)"',
}
"""By dialect, the frame that ends an answer: a capture may hold several answers, one behind the other."""


FRAMINGS = {"jsonl": JsonLines, "array": JsonArray}
"""By form, the framing of recorded streams in another form than server-sent events."""

REQUESTS = {"bedrock-converse": {"modelId": "m", "toolConfig": {"tools": []}}}
"""By dialect, what a request needs beside its model, so that calls are sent as calls."""

EDITED = {"braintrust-js.flue-v0-8-latest.5.sse"}
"""Recordings whose deltas are not what the whole says: a path was replaced in one of them alone."""


@dataclass(frozen=True)
class Answer:
    """
    One recorded answer: the whole of a file, or a part of it.
    """

    dialect: str
    form: str
    """How it is written: `sse`, `jsonl` or `json`, the ending of its file; `array` for a stream in one JSON array."""

    body: bytes

    def events(self, *, message_id="a1", fast=True, **options):
        """
        Return the events of the answer, which the decoder has read without a note.
        """
        dialect = load_dialect(self.dialect)
        if self.form == "json":
            return dialect.decode_resource(json.loads(self.body), message_id, **options)
        decoder = dialect.decoder(message_id, framing=FRAMINGS.get(self.form), **options)
        decoder.fast = fast
        events = decoder.feed(self.body) + decoder.close()
        assert decoder.failure is None
        assert [] == [note for note in decoder.notes if note.code != "other-choice"]
        return events

    def frames(self):
        """
        Return the frames of a stream, or the document alone, read by nothing of the library.
        """
        if self.form == "json":
            return [json.loads(self.body)]
        if self.form == "array":
            return json.loads(self.body)
        lines = self.body.decode().splitlines()
        if self.form == "sse":
            # llama.cpp ends a stream with a field `error`.
            lines = [line.partition(":")[2] for line in lines if line.startswith(("data:", "error:"))]
        return [json.loads(line) for line in lines if line.strip() not in ("", "[DONE]")]


@cache
def answers(dialect):
    """
    Return the recorded answers by name: that of the file, for the second and later ones of a file with a number.
    """
    return {
        name if number == 1 else f"{name}#{number}": Answer(dialect, form_of(name, part), part)
        for name, body in files(dialect).items()
        if "http-error" not in name
        for number, part in enumerate([body] if name.endswith(".json") else parts(body, ENDS[dialect]), 1)
    }


@cache
def files(dialect):
    """
    Return the recorded bodies by the names of their files; none when nothing is shared beside this repository.
    """
    corpus = corpus_folder()
    return {} if corpus is None else {path.name: path.read_bytes() for path in sorted((corpus / dialect).iterdir())}


def form_of(name, body):
    """
    Return the form of the body of a file.
    """
    return "array" if body.lstrip()[:1] == b"[" else name.rpartition(".")[2]


def parts(body, end):
    """
    Return the answers of a capture, each to the line that ends it. What is behind the last end belongs to it.
    """
    is_end, at, ends = re.compile(end.encode()).search, 0, []
    for line in body.splitlines(keepends=True):
        at += len(line)
        if is_end(line):
            ends.append(at)
    return [body[start:stop] for start, stop in pairwise([0, *ends[:-1], len(body)])]


@cache
def opinions(dialect):
    """
    Return what the official client made of a recorded answer, by the name of the answer.
    """
    corpus = corpus_folder()
    if corpus is None:
        return {}
    lines = (corpus / "expected" / f"{dialect}.jsonl").read_text(encoding="utf-8").splitlines()
    return {opinion["file"]: opinion for opinion in map(json.loads, lines)}


@cache
def conversations(dialect):
    """
    Return the recorded conversations by file: the accepted requests, each with its answer.
    """
    corpus = corpus_folder()
    found = [] if corpus is None else sorted((corpus / "turns" / dialect).iterdir())
    return {
        path.name: [
            (each["request"], _answer(dialect, each["response"])) for each in json.loads(path.read_bytes())["exchanges"]
        ]
        for path in found
    }


def _answer(dialect, response):
    if "file" not in response:
        body = response["body"].encode()
        return Answer(dialect, form_of(response["format"], body), body)
    name = response["file"].rpartition("/")[2]
    return Answer(dialect, form_of(name, files(dialect)[name]), files(dialect)[name])
