"""
The wire form: everything that is stored or sent between processes, as plain JSON and back.

The only module that knows cattrs. `dumps` and `loads` are for JSON text, `unstructure` and `structure` for plain JSON
in Python; `make_converter` and `configure_converter` bring the same wire form to classes of your own.
"""

from assistant_events.converters.documents import dumps, loads, structure, unstructure
from assistant_events.converters.hooks import configure_converter, make_converter

__all__ = [
    "configure_converter",
    "dumps",
    "loads",
    "make_converter",
    "structure",
    "unstructure",
]
