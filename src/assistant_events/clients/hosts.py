"""Properties of URLs that decide where a key and a prompt may go, and the proxies between. Needs no extra."""

from __future__ import annotations

from base64 import b64encode
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies


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
    """Return whether a host name or address is this machine. Names other than `localhost` are not resolved."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        name = host.rstrip(".").lower()
        return name == "localhost" or name.endswith(".localhost")


def proxy_secrets() -> list[str]:
    """Return the passwords of the proxies of the environment, as they are written there and as they are sent."""
    secrets: list[str] = []
    for url in getproxies().values():
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
        except ValueError:
            continue
        if parts.password:
            user, password = unquote(parts.username or ""), unquote(parts.password)
            secrets += [parts.password, password, b64encode(f"{user}:{password}".encode()).decode()]
    return secrets
