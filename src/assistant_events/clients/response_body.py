"""The body of a response, read up to a limit: as it was sent, and decompressed."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from typing import Final, final

import httpx2

GZIP: Final = "gzip"
"""The one content encoding that is accepted, and only for documents."""


class BodyError(Exception):
    """A body that is not read to its end. The text is for users."""


def chunks_of(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Return the bytes of a response as they were sent: httpx decompresses a chunk in one piece of any size."""
    return response.aiter_bytes() if response.is_stream_consumed else response.aiter_raw()


@final
class Body:
    """
    The received part of a body.

    Args:
        encoding: Its content encoding; empty for none.

        sent_bytes: Maximum size as sent.

        inflated_bytes: Maximum size when decompressed.

    Raises:
        BodyError: The encoding is not `GZIP`.
    """

    def __init__(self, encoding: str, *, sent_bytes: int, inflated_bytes: int) -> None:
        if encoding not in ("", GZIP):
            raise BodyError(f"has the content encoding {encoding!r}, expected {GZIP!r} or none")
        self.data = bytearray()
        self._sent = 0
        self._sent_bytes = sent_bytes
        self._inflated_bytes = inflated_bytes
        self._inflater = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if encoding else None

    def add(self, chunk: bytes) -> None:
        """
        Add the next bytes.

        Raises:
            BodyError: There are too many, or they are not valid gzip. `data` holds what fits.
        """
        self._sent += len(chunk)
        if self._inflater is None:
            self.data += chunk[: max(self._sent_bytes - len(self.data), 0)]
        elif not self._inflater.eof:
            # Bytes behind the end do not belong to the document, and zlib would copy all of them for each chunk.
            room = self._inflated_bytes - len(self.data)
            try:
                # One byte beyond the limit shows whether there is more.
                inflated = self._inflater.decompress(chunk, room + 1)
            except zlib.error:
                raise BodyError("is not valid gzip") from None
            self.data += inflated[:room]
            if len(inflated) > room:
                raise BodyError(f"has more than {self._inflated_bytes} bytes when it is inflated")
        if self._sent > self._sent_bytes:
            raise BodyError(f"has more than {self._sent_bytes} bytes")


__all__ = ["GZIP", "Body", "BodyError", "chunks_of"]
