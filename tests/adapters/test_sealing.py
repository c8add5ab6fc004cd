"""
What only a provider can read leaves its JSON, and is put back at its place.
"""

import copy

import pytest

from assistant_events.adapters.sealing import join_sealed, split_sealed

CASES = {
    "in an array": (
        [{"url": "u", "secret": "a"}, {"url": "v", "secret": "b"}],
        [{"url": "u"}, {"url": "v"}],
        {"/0/secret": "a", "/1/secret": "b"},
    ),
    "below other keys": ({"a": {"b": [1, {"secret": {"x": 1}}]}}, {"a": {"b": [1, {}]}}, {"/a/b/1/secret": {"x": 1}}),
    "keys with slashes": ({"a/b~c": {"secret": 1}}, {"a/b~c": {}}, {"/a~1b~0c/secret": 1}),
    "a key like an escape": ({"~1": {"secret": 1}}, {"~1": {}}, {"/~01/secret": 1}),
    "nothing sealed": ({"a": [None, True]}, {"a": [None, True]}, {}),
    "no object": ("secret", "secret", {}),
}


@pytest.mark.parametrize(("value", "shown", "sealed"), CASES.values(), ids=CASES)
def test_split_and_joined(value, shown, sealed):
    """
    Sealed fields are listed by their place, once, and put back there.
    """
    assert (shown, sealed) == split_sealed(value, lambda key: key == "secret")
    assert value == join_sealed(copy.deepcopy(shown), sealed)


@pytest.mark.parametrize(
    "place", ["/1/secret", "/2/secret", "/0/x/y/secret", "/x/secret", "/0/url/secret", "secret", ""]
)
def test_a_place_that_is_gone(place):
    """
    What has no place any more is left out.
    """
    assert [{"url": "u"}] == join_sealed([{"url": "u"}], {place: "a"})


@pytest.mark.parametrize("place", ["secret", ""])
def test_a_place_that_is_no_pointer(place):
    """
    It names nothing in an object, either.
    """
    assert {"url": "u"} == join_sealed({"url": "u"}, {place: "a"})
