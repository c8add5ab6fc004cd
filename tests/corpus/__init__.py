"""
Recorded provider responses and what they have to fold to.

The bodies lie outside the repository, in `../shared/corpus` beside it; only the
expectations are kept here.
"""

from pathlib import Path

__all__ = ["corpus_folder"]


def corpus_folder() -> Path | None:
    """
    Return the folder of recorded bodies, one sub-folder for each dialect.

    None when nothing is shared beside this repository; tests then skip with a reason.
    """
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
    return folder if folder.is_dir() else None
