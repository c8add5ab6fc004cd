"""Media and their addresses, such as `data:image/png;base64,…` (RFC 2397), which holds them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Iterable
from typing import Final

import attrs

from assistant_events.adapters.json_fields import base64_bytes
from assistant_events.messages import MediaPart
from assistant_events.values import Content, MediaContent

IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Media types of the images that models of Anthropic and OpenAI see."""

_IMAGES_ALONE: Final = frozenset({"azure", "openai"})
"""Providers that refuse any other: “supported image formats: ['image/jpeg', …]” (open-webui#30100, BMP and SVG)."""

AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""OpenAI's name of the format by media type, of the audio that its models hear."""

DOCUMENTS: Final = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
"""Usual extension of a file by its media type."""

_PRESENTATION: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_EXTENSIONS: Final = {**DOCUMENTS, _PRESENTATION: "pptx"}

FILES: Final = ("file-", "file_")
"""Beginnings of the ids of files: of OpenAI, and of Anthropic and xAI."""

_PRIVATE: Final = (*FILES, "gs://", "s3://")
"""Beginnings of addresses that one provider alone reads: files of OpenAI and Anthropic, objects of Google and AWS."""

NO_FILES: Final = frozenset({"huggingface", "llama.cpp", "lmstudio", "ollama", "vllm"})
"""Servers of the APIs of OpenAI that refuse a request with a file (LibreChat#16234, kilocode#11878, vllm#46562)."""

NO_CHAT_FILES: Final = NO_FILES | {"azure", "deepseek"}
"""
Those of Chat Completions: “Invalid Value: 'file'. This model does not support file content types.” (Azure:
pydantic-ai#4035, openai-python#2826), “unknown variant `file`, expected `text`” (DeepSeek).
"""

TEXT_RESULTS: Final = frozenset({"huggingface", "llama.cpp", "lmstudio"})
"""Those of which the result of a call is a text alone (lmstudio-bug-tracker#2248, llama.cpp#23380, responses.js)."""

_HEAD: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")


def media_url(media: MediaContent | MediaPart) -> str | None:
    """Return the URL of media: their address, or one that holds them; `None` when they have neither."""
    return media.uri if media.data is None else f"data:{media.media_type};base64,{b64encode(media.data).decode()}"


def read_data_url(url: str) -> tuple[str, bytes] | None:
    """Return media type and bytes of a URL that holds base64; `None` for any other."""
    head = _HEAD.match(url)
    data = None if head is None else base64_bytes(url[head.end() :])
    return None if head is None or not data else (head[1], data)


def sees_image(image: MediaContent, provider: str) -> bool:
    """Return whether a server of Chat Completions reads an image: not by the id of a file, and no server reads SVG."""
    if image.data is None and (image.uri or "").startswith(FILES):
        return False
    return image.media_type in IMAGES or (provider not in _IMAGES_ALONE and image.media_type != "image/svg+xml")


def audio_field(audio: MediaContent, provider: str) -> dict[str, str] | str | None:
    """
    Return audio as Chat Completions has it: data and format, or one string for Mistral, the data or their address.

    That string is what its manual and its client have.
    """
    form, data = AUDIO.get(audio.media_type), b64encode(audio.data or b"").decode()
    if form is None or (not data and (provider != "mistral" or (audio.uri or "").startswith(FILES))):
        return None
    return data or audio.uri if provider == "mistral" else {"data": data, "format": form}


def images_in(content: Iterable[Content]) -> list[MediaContent]:
    """Return the images of `IMAGES` in content."""
    return [each for each in content if isinstance(each, MediaContent) and each.media_type in IMAGES]


def image_type(form: str | None) -> str:
    """Return the media type of an image of this format; PNG without one."""
    return "image/svg+xml" if form == "svg" else f"image/{form or 'png'}"


def bare_type(media_type: str) -> str:
    """Return a media type in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()


def file_name(media_type: str) -> str:
    """Return a name for a file, for services that know its type from the extension alone."""
    from mimetypes import guess_extension  # few need it, and all import this module

    kind = bare_type(media_type)
    extension = _EXTENSIONS.get(kind) or guess_extension(kind) or kind.rpartition("/")[2]
    return f"file.{extension.removeprefix('.')}"


def file_fields(
    media: MediaContent | MediaPart, provider: str, refusing: Collection[str] = NO_FILES
) -> dict[str, str] | None:
    """Return the fields that APIs of OpenAI have for a file: bytes and name, id, or address; `None` if one has none."""
    url = media_url(media) or ""
    if provider in refusing:
        return None
    if media.data is not None:
        return {"filename": file_name(media.media_type), "file_data": url}
    return {"file_id" if url.startswith(FILES) else "file_url": url}


def usual_media(media: MediaContent) -> MediaContent:
    """Return media with their bytes, if the address holds them, and with the usual name of their type."""
    media_type, data = read_data_url(media.uri or "") or (media.media_type, media.data)
    if (plain := bare_type(media_type))[:6] == "image/":
        media_type = "image/jpeg" if plain == "image/jpg" else plain
    if (media_type, data) == (media.media_type, media.data):
        return media
    return attrs.evolve(media, media_type=media_type, data=data, uri=None if data else media.uri)


def is_readable(media: MediaContent, own: tuple[str, ...], provider: str) -> bool:
    """Return whether an address, if any, is public or begins as one of *own*, which the provider reads."""
    uri = media.uri or ""
    return uri.startswith(FILES if provider == "xai" else own) or not uri.startswith(_PRIVATE)
