"""Mounts: what lies below a path, found in one step, because turns come this way.

Starlette would do the same through five layers, each with a wrapper around the answer.
"""

from collections.abc import Mapping

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
        self._mounted = sorted(mounted.items(), key=lambda one: -len(one[0]))
        self._heads = tuple(f"{path}/" for path in mounted)
        self._rest = rest
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or a WebSocket."""
        path = get_route_path(scope)
        if scope["type"] != "http" or not path.startswith(self._heads):
            await self._rest(scope, receive, send)
            return
        root, app = next(one for one in self._mounted if path.startswith(f"{one[0]}/"))
        scope["root_path"] = f"{scope.get('root_path', '')}{root}"
        try:
            await app(scope, receive, send)
        except Exception:
            if not scope.get(HAS_BEGUN):
                await self._failed(scope, receive, send)
            raise
