"""
Plain JSON and JSON text of everything that is stored or sent between processes.

Built on one cattrs converter. `dumps` and `loads` are for JSON text, `unstructure` and `structure` for plain JSON in
Python; `make_converter` and `configure_converter` are for classes of your own that hold events or messages.
"""

from assistant_events.converters.converter import configure_converter, make_converter, structure, unstructure
from assistant_events.converters.json_text import dumps, loads

__all__ = [
    "configure_converter",
    "dumps",
    "loads",
    "make_converter",
    "structure",
    "unstructure",
]
