"""Lines for a stream without a reader."""

import io
import os
import threading

import pytest

from assistant_events.cli.background_writer import MAX_LINE, MAX_WAITING, BackgroundWriter


class Slow(io.StringIO):
    """A stream without a descriptor, whose reader begins on a signal."""

    def __init__(self):
        super().__init__()
        self.reads = threading.Event()
        self.is_written = threading.Event()

    def write(self, text):
        self.is_written.set()
        assert self.reads.wait(30)
        return super().write(text)


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    with os.fdopen(reader, encoding="utf-8") as read, os.fdopen(writer, "w", encoding="utf-8") as write:
        yield read, write


def test_lines_in_their_order(pipe):
    """
    Lines come in their order, the last of them before the block ends; what cannot be encoded is spelled out.
    """
    read, write = pipe
    with BackgroundWriter(write) as lines:
        for line in ("one", "two é", "half \ud83d"):
            lines.write(line)
    write.close()

    assert ["one", "two é", "half \\ud83d"] == read.read().splitlines()


def test_writing_never_waits():
    """
    Without a reader, lines wait up to a bound; those beyond it are counted and reported.
    """
    stream = Slow()
    with BackgroundWriter(stream) as lines:
        lines.write("first")
        assert stream.is_written.wait(30)
        for number in range(MAX_WAITING + 7):
            lines.write(f"{number}")
        stream.reads.set()
    lines._thread.join(30)

    assert ["first", *map(str, range(MAX_WAITING)), "(7 lines left out: they were not read)"] == (
        stream.getvalue().splitlines()
    )


def test_what_was_left_out_is_told_at_its_place():
    """
    Lines that come after some were left out follow the line that reports the gap.
    """
    stream = Slow()
    lines = BackgroundWriter(stream)
    for number in range(MAX_WAITING + 2):
        lines.write(f"{number}")
    lines._waiting.clear()
    lines.write("last")
    stream.reads.set()
    with lines:
        pass
    lines._thread.join(30)

    assert "(2 lines left out: they were not read)\nlast\n" == stream.getvalue()


def test_a_pipe_that_is_full(pipe):
    """
    The end does not wait for a reader that never comes.
    """
    read, write = pipe
    with BackgroundWriter(write) as lines:
        for _ in range(MAX_WAITING):
            lines.write("x" * 1_000)

    assert lines._thread.is_alive()
    read.close()
    lines._thread.join(30)
    assert not lines._thread.is_alive()


def test_a_reader_that_is_gone(pipe):
    """
    When the reader is gone, lines go nowhere, and nothing is raised.
    """
    read, write = pipe
    read.close()
    with BackgroundWriter(write) as lines:
        lines.write("one")
        lines.write("two")


def test_a_stream_that_is_closed():
    """
    Lines for a closed stream go nowhere, and nothing is raised.
    """
    stream = io.StringIO()
    stream.close()
    with BackgroundWriter(stream) as lines:
        lines.write("one")
    lines._thread.join(30)


def test_a_stream_without_a_descriptor():
    """
    Each line is written through its buffer at once.
    """
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with BackgroundWriter(stream) as lines:
        lines.write("one")
    lines._thread.join(30)

    assert b"one\n" == stream.buffer.getvalue()


def test_the_encoding_of_the_stream():
    """
    Lines have the encoding of their stream, also past its buffer.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read:
        with os.fdopen(writer, "w", encoding="latin-1") as write, BackgroundWriter(write) as lines:
            lines.write("é €")
        assert b"\xe9 \\u20ac\n" == read.read()


def test_a_descriptor_that_takes_a_part(pipe, monkeypatch):
    """
    What the operating system did not take of a line is written next.
    """
    read, write = pipe
    whole = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: whole(descriptor, data[:3]))
    with BackgroundWriter(write) as lines:
        lines.write("one two three")
    lines._thread.join(30)
    monkeypatch.undo()
    write.close()

    assert "one two three\n" == read.read()


def test_a_long_line(pipe):
    """
    Of a long line the beginning is written, and how much more there is.
    """
    read, write = pipe
    with BackgroundWriter(write) as lines:
        lines.write("x" * (MAX_LINE + 5))
    write.close()

    assert f"{'x' * MAX_LINE}… (5 more characters)\n" == read.read()
