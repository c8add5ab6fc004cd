"""Text made harmless."""

import json

from assistant_events.cli.terminal_safe import one_line, shortened, size_of, visible, visible_json

DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]


def test_every_control_character_is_spelled():
    """
    Of the control characters only tab and line feed stay; other letters are left alone.
    """
    for code in [*range(0x20), *range(0x7F, 0xA0), *DIRECTIONS, 0x2028, 0x2029, 0xD800, 0xDC80, 0xDFFF]:
        character = chr(code)
        assert (visible(character) == character) == (character in "\t\n"), code

    assert "Grüße, 世界 🐋 e\u0301" == visible("Grüße, 世界 🐋 e\u0301")
    assert "\\x9b \\u061c" == visible("\x9b \u061c")
    assert "a\nb" == visible("a\r\nb")
    assert "a\\nb c\\x00" == one_line("a\nb\tc\0")


def test_json_says_the_same():
    """
    JSON text with escapes is the same JSON.
    """
    value = {"a": "\x9b \u202e \x7f ö"}
    text = visible_json(json.dumps(value, ensure_ascii=False))

    assert "\x9b" not in text
    assert value == json.loads(text)


def test_sizes_and_lengths():
    """
    Sizes have a unit, and what is left out is counted.
    """
    assert ["0 B", "999 B", "1.0 kB", "2.5 MB", "3.0 GB"] == [
        size_of(count) for count in (0, 999, 1000, 2_500_000, 3_000_000_000)
    ]
    assert ["abc", "ab… (2,000 more characters)"] == [shortened("abc", 3), shortened("ab" + "c" * 2000, 2)]
