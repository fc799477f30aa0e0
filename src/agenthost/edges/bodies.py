"""Bodies of requests: read whole, within a limit."""

from starlette.types import Receive, Scope

from agenthost.errors import NotJson, TooLarge
from agenthost.wire.json import check_density

__all__ = ["read_body"]


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Read the body of a request.

    Raises:
        TooLarge: it is larger than `limit`; a body that says so is not read at all.
        NotJson: the peer left before it was whole, or it holds too many values.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise TooLarge("the body", limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise NotJson("the request ended before its body was whole")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise TooLarge("the body", limit)
        chunks.append(chunk)
        if not message.get("more_body", False):
            body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
            check_density(body)
            return body
