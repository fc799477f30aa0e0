"""Mounts: what lies below a path, found in one step, because turns come this way.

Starlette would do the same through five layers, each with a wrapper around the answer.
"""

from collections.abc import Awaitable, Mapping

from starlette._utils import get_route_path
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["HAS_BEGUN", "Mounts"]

HAS_BEGUN = "agenthost.has_begun"
"""The entry of the scope that says that an answer was begun, so that it cannot be another any more."""


class Mounts:
    """Applications by the paths that they are below; all other requests go to `rest`.

    Should one of them fail, `failed` answers if nothing was sent yet; the error goes on, to the server's log.
    """

    def __init__(self, mounted: Mapping[str, ASGIApp], rest: ASGIApp, failed: ASGIApp) -> None:
        # The longest first: `/aap/v1` is below `/aap` too.
        paths = sorted(mounted, key=len, reverse=True)
        self._mounted = [(f"{path}/", path, mounted[path]) for path in paths]
        self._rest = rest
        self._failed = failed

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request or a WebSocket."""
        if scope["type"] == "http":
            path = get_route_path(scope)
            for head, root, app in self._mounted:
                if path.startswith(head):
                    scope["root_path"] = scope.get("root_path", "") + root
                    return self._guarded(app, scope, receive, send)
        return self._rest(scope, receive, send)

    async def _guarded(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception:
            if not scope.get(HAS_BEGUN):
                await self._failed(scope, receive, send)
            raise
