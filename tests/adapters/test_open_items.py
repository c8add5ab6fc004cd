"""
What is known of an item while its frames come.
"""

from assistant_events.adapters.open_items import OpenItem


def item(**fields):
    return OpenItem(decoder=None, kind="text", role="text", field="text", state={}, fields=fields)


def test_an_array_that_comes_in_pieces_grows_in_place():
    """
    A copy for each piece would cost the square of their number.
    """
    found = item()
    found.append("logprobs", [1])
    first = found.fields["logprobs"]
    found.append("logprobs", [2, 3])

    assert found.fields["logprobs"] is first
    assert [1, 2, 3] == first


def test_an_array_of_a_frame_is_not_changed():
    """
    It belongs to the caller, also that of a repetition in the middle.
    """
    given, repeated = [1], [1, 2]
    found = item(logprobs=given)
    found.append("logprobs", [2])
    found.learn({"logprobs": repeated})
    found.append("logprobs", [3])

    assert ([1], [1, 2], [1, 2, 3]) == (given, repeated, found.fields["logprobs"])
