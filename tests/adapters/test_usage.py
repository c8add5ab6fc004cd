"""
Tables of token counts: read, written, and what a wire cannot express.
"""

import pytest

from assistant_events.adapters.gemini_interactions.vocabulary import USAGE
from assistant_events.adapters.usage import UsageTable
from assistant_events.values import Usage

APART = UsageTable(
    counts={
        "input_tokens": "input",
        "output_tokens": "output",
        "cache_read_tokens": "read",
        "cache_write_tokens": "written",
        "reasoning_tokens": "out.thoughts",
    },
    apart={"input_tokens": ("read", "written", "tools")},
    total="total",
)
"""A wire that counts the cache apart from the input, and reasoning as a part of the output."""

READ = {
    "all counts": (
        {"input": 10, "read": 4, "written": 2, "output": 9, "out": {"thoughts": 5}},
        Usage(input_tokens=16, output_tokens=9, cache_read_tokens=4, cache_write_tokens=2, reasoning_tokens=5),
    ),
    "absent parts count as zero and stay unknown": (
        {"input": 10, "written": 2, "output": 9},
        Usage(input_tokens=12, output_tokens=9, cache_write_tokens=2),
    ),
    "a side without its own count is unknown": (
        {"read": 4, "out": {"thoughts": 5}},
        Usage(cache_read_tokens=4, reasoning_tokens=5),
    ),
    "reasoning of another tokenizer": (
        {"input": 1, "output": 16, "out": {"thoughts": 19}},
        Usage(input_tokens=1, output_tokens=16, reasoning_tokens=19),
    ),
    "reasoning of twice the output": (
        {"input": 1, "output": 9, "out": {"thoughts": 18}},
        Usage(input_tokens=1, output_tokens=9, reasoning_tokens=18),
    ),
    "reasoning beyond the output": (
        {"input": 1, "output": 9, "out": {"thoughts": 19}},
        Usage(input_tokens=1, output_tokens=28, reasoning_tokens=19),
    ),
    "a total alone": ({"total": 7}, Usage()),
    "a part without a field of ours": ({"input": 10, "tools": 3}, Usage(input_tokens=13)),
    "wrong types count as missing": ({"input": "1", "output": -1, "read": True, "out": 5}, Usage()),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_reading(fields, expected):
    """
    Each side includes its parts, and the fields are the details.
    """
    usage = APART.read(fields)

    assert fields == usage.details
    assert expected == Usage() + usage


WRITTEN = {
    "parts are subtracted": (
        Usage(input_tokens=16, output_tokens=9, cache_read_tokens=4, cache_write_tokens=2, reasoning_tokens=5),
        {"input": 10, "read": 4, "written": 2, "output": 9, "out": {"thoughts": 5}, "total": 25},
    ),
    "never below zero": (Usage(input_tokens=3, cache_read_tokens=4), {"input": 0, "read": 4}),
    "unknown counts are not written": (Usage(output_tokens=2), {"output": 2}),
    "nothing": (Usage(), {}),
}


@pytest.mark.parametrize(("usage", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_writing(usage, expected):
    """
    The same rows write what they read.
    """
    assert expected == APART.write(usage)


def test_details_are_written_as_they_came():
    """
    The provider's own fields are written while they give the same counts.
    """
    fields = {"input": 10, "tools": 3, "odd": [1]}
    usage = APART.read(fields)

    assert fields == APART.write(usage)
    assert {"input": 1} == APART.write(Usage(input_tokens=1, details=fields))


@pytest.mark.parametrize(
    ("usage", "exact"),
    [
        (Usage(input_tokens=16, output_tokens=9, cache_read_tokens=4, reasoning_tokens=5), True),
        (Usage(input_tokens=3, output_tokens=4, reasoning_tokens=9), False),
        (Usage(input_tokens=3, cache_write_tokens=1), False),
    ],
    ids=["expressible", "more reasoning than output", "a count without a field"],
)
def test_exactness(usage, exact):
    """
    A table knows what its wire cannot express.
    """
    assert exact is USAGE.is_exact(usage)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"counts": {"inputs": "in"}}, "^counts: expected only input_tokens, .*reasoning_tokens, got 'inputs'$"),
        (
            {"counts": {}, "apart": {"cached": ("c",)}},
            "^apart: expected only input_tokens, output_tokens, got 'cached'$",
        ),
    ],
)
def test_a_count_that_usage_does_not_have(table, sentence):
    """
    A table with a name that is none of `Usage` is refused.
    """
    with pytest.raises(ValueError, match=sentence):
        UsageTable(**table)
