"""
The tables of what becomes of state when a conversation moves: each cell is a run, and the runs cover every pair.
"""

import sys
from pathlib import Path

import pytest

from assistant_events.adapters import dialect_names, load_dialect

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "_ext"))

from generated_pages import continuity

DIALECTS = [dialect for name in dialect_names() if (dialect := load_dialect(name)).encoder]
KINDS = [(dialect, kind) for dialect in DIALECTS for kind in continuity.SAMPLES.get(dialect.name, ("", "", {}))[2]]


def test_every_dialect_has_samples():
    """
    No installed dialect that writes requests is missing.
    """
    assert [] == [dialect.name for dialect in DIALECTS if dialect.name not in continuity.SAMPLES]


@pytest.mark.parametrize(("source", "kind"), KINDS, ids=[f"{dialect.name}: {kind}" for dialect, kind in KINDS])
def test_nothing_is_lost_on_the_way_back(source, kind):
    """
    To the model that issued it, all state returns unchanged.
    """
    assert "kept" == continuity.outcome(source, continuity.SAMPLES[source.name][2][kind], source)


MOVES = {
    ("anthropic-messages", "reasoning with its signature", "bedrock-converse"): "kept",
    ("bedrock-converse", "reasoning with its signature", "anthropic-messages"): "kept",
    ("anthropic-messages", "encrypted reasoning", "bedrock-converse"): "kept",
    ("bedrock-converse", "encrypted reasoning", "anthropic-messages"): "kept",
    ("anthropic-messages", "reasoning with its signature", "openai-chat"): "dropped: other provider",
    ("anthropic-messages", "citations of a text", "openai-responses"): "translated: other provider",
    ("openai-responses", "encrypted reasoning", "anthropic-messages"): "dropped: other provider",
    ("openai-chat", "a call of the app, and its id", "anthropic-messages"): "translated: other provider",
    ("gemini-interactions", "the stored answer", "openai-responses"): "dropped: other provider",
}


@pytest.mark.parametrize("move", MOVES, ids=" ".join)
def test_moves(move):
    """
    What another provider cannot read is not sent to it; what the same model reads elsewhere is.
    """
    source, kind, target = move
    document = continuity.SAMPLES[source][2][kind]

    assert MOVES[move] == continuity.outcome(load_dialect(source), document, load_dialect(target))


def test_a_cell_can_be_dropped():
    """
    State that a policy does not let go is found missing: the tables are not a list of wishes.
    """
    document = continuity.SAMPLES["openai-responses"][2]["encrypted reasoning"]
    source = load_dialect("openai-responses")

    assert "dropped: other model" == continuity.outcome(source, document, source, "another-model")
