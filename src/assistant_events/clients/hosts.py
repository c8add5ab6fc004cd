"""Properties of URLs that decide where a key and a prompt may go. Needs no extra."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit


def service_url(url: str) -> SplitResult | None:
    """
    Return the parts of the base URL of a service; `None` when it cannot be one.

    A base URL has a host, and neither user, password, query nor fragment: credentials in a URL end in logs.
    """
    try:
        parts = urlsplit(url)
        valid = parts.port != 0  # reading the port checks it
    except ValueError:
        return None
    if not valid or parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return None if "@" in parts.netloc or "?" in url or "#" in url else parts


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address is this machine. Names other than `localhost` are not resolved."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        name = host.rstrip(".").lower()
        return name == "localhost" or name.endswith(".localhost")


__all__ = ["is_loopback", "service_url"]
