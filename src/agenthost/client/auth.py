"""Authorization: how a client presents its API key."""

__all__ = ["bearer_headers"]


def bearer_headers(key: str | None) -> dict[str, str]:
    """Return the header that carries a key; none without a key.

    Raises:
        ValueError: the key cannot be sent in a header.
    """
    if key is None:
        return {}
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is made of printable ASCII characters, without spaces")
    return {"Authorization": f"Bearer {key}"}
