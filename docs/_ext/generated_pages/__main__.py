"""Writes the generated text into the pages: `make pages`."""

from pathlib import Path

from generated_pages import fill

for page in sorted(Path(__file__).parents[2].rglob("*.md")):
    source = page.read_text()
    if (filled := fill(source)) != source:
        page.write_text(filled)
