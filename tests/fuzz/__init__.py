"""
Streams that no provider sends, fed to the decoder for any length of time: `python -m tests.fuzz`.
"""

from pathlib import Path

from tests.corpus import corpus_folder

__all__ = ["corpus_streams"]


def corpus_streams():
    """
    Return the recorded streams; none where nothing is shared beside this repository.
    """
    corpus = corpus_folder()
    return [] if corpus is None else [path.read_bytes() for path in _bodies(corpus)]


def _bodies(corpus: Path):
    return sorted((corpus / "gemini-interactions").glob("*.sse"))
