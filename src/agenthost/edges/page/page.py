"""The page as routes: its files, all of them in memory, and whether a key is needed.

The files are no secret, so they need no key. The page's WebSocket does, and a browser does not say why
it was refused; therefore `/access` says whether a key is needed, and whether the one sent along would do.
"""

from collections.abc import Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from agenthost.edges.access import ADMISSION
from agenthost.edges.page.files import ENCODINGS, MEDIA, STATIC, make_file, read_files
from agenthost.edges.page.plain import plain_page
from agenthost.wire.json import encode_json

__all__ = ["Page"]

ACCESS = "/access"
ASSETS = "/assets/"

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",  # what agents show is read over the connection
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""What the page may do: load from here alone, take no text for a script, be in no other page."""

SECURITY = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Page:
    """The files of the page, or a plain one that says that there are none.

    Attributes:
        is_built: whether there is a page.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        """Read what was built into a folder."""
        built = read_files(folder)
        self.is_built = bool(built)
        self._files = built or {"/": make_file(MEDIA[".html"], plain_page())}

    def serves(self, scope: Scope) -> bool:
        """Tell whether a request is for the page: such a one needs no key, and no host that is open."""
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        return is_read and (scope["path"] in self._files or scope["path"] == ACCESS)

    def routes(self, needs_key: Callable[[], bool]) -> list[Route]:
        """List what the page is served by, and how it learns whether a key is needed."""

        async def show_access(request: Request) -> Response:
            is_granted = request.scope.get(ADMISSION) is not None
            body = encode_json({"needsKey": needs_key(), "isGranted": is_granted})
            headers = {**SECURITY, "Cache-Control": "no-store"}
            return Response(body, headers=headers, media_type="application/json")

        paths = [path for path in self._files if not path.startswith(ASSETS)]
        return [
            Route(ACCESS, show_access, methods=["GET"]),
            *(Route(path, self._show, methods=["GET"]) for path in (*paths, ASSETS + "{name}")),
        ]

    async def _show(self, request: Request) -> Response:
        file = self._files.get(request.url.path)
        if file is None:
            raise HTTPException(404)
        headers = {**SECURITY, "Cache-Control": file.caching, "ETag": file.etag, "Vary": "Accept-Encoding"}
        if _is_held(request, file.etag):
            return Response(status_code=304, headers=headers)
        taken = _taken_encodings(request)
        encoding = next((one for one in ENCODINGS if one in taken and one in file.forms), "identity")
        if encoding != "identity":
            headers["Content-Encoding"] = encoding
        return Response(file.forms[encoding], headers={**headers, "Content-Type": file.media})


def _is_held(request: Request, etag: str) -> bool:
    """Tell whether the browser has this already. A proxy that compresses makes an ETag weak."""
    held = request.headers.get("if-none-match", "")
    return etag in [one.strip().removeprefix("W/") for one in held.split(",")]


def _taken_encodings(request: Request) -> set[str]:
    """Read what `Accept-Encoding` takes by name. What is not named can be done without."""
    taken = set()
    for one in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = one.partition(";")
        if weight.replace(" ", "").rstrip("0.") != "q=":
            taken.add(name.strip())
    return taken
