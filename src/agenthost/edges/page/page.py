"""The routes of the page: its files, all in memory, and `/access`.

The files are public, so they need no key. The page's WebSocket does, and a browser does not tell a page why
it was refused. So `/access` says whether a key is required, and whether the one that was sent is valid. It
also tells a client that is admitted which grants it lacks, so that the page does not offer what they allow.
"""

from collections.abc import Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from agenthost.core.decisions.grants import GRANTS, Rights
from agenthost.edges.access import ADMISSION, Admission
from agenthost.edges.page.files import ENCODINGS, MEDIA, STATIC, make_file, read_files
from agenthost.edges.page.placeholder import placeholder_page
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["Page"]

ACCESS = "/access"
ASSETS = "/assets/"

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",  # images of agents are read over the WebSocket
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""The page may only load from this server, treats no text as a script, and cannot be framed."""

SECURITY = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Page:
    """The files of the page, or a placeholder if it was not built.

    Attributes:
        is_built: whether the page was built.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        """Read the build in a folder."""
        built = read_files(folder)
        self.is_built = bool(built)
        self._files = built or {"/": make_file(MEDIA[".html"], placeholder_page())}

    def serves(self, scope: Scope) -> bool:
        """Return whether a request is for the page. It needs no key, and the host need not be open."""
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        return is_read and (scope["path"] in self._files or scope["path"] == ACCESS)

    def routes(self, needs_key: Callable[[], bool]) -> list[Route]:
        """Return the routes of the files, and of `/access`."""

        async def show_access(request: Request) -> Response:
            admission: Admission | None = request.scope.get(ADMISSION)
            answer: JsonObject = {"needsKey": needs_key(), "isGranted": admission is not None}
            if admission is not None:
                answer["withheld"] = _withheld(admission.caller.rights)
            body = encode_json(answer)
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
        if _is_cached(request, file.etag):
            return Response(status_code=304, headers=headers)
        taken = _accepted_encodings(request)
        encoding = next((one for one in ENCODINGS if one in taken and one in file.forms), "identity")
        if encoding != "identity":
            headers["Content-Encoding"] = encoding
        return Response(file.forms[encoding], headers={**headers, "Content-Type": file.media})


def _withheld(rights: Rights) -> JsonObject:
    """Return the grants that a client lacks, and why: `off` on this host, or not in its `key`."""
    missing = [grant for grant in GRANTS if grant in rights.off or grant not in rights.grants]
    return {grant: "off" if grant in rights.off else "key" for grant in missing}


def _is_cached(request: Request, etag: str) -> bool:
    """Return whether the browser has this already. A proxy that compresses weakens the ETag."""
    held = request.headers.get("if-none-match", "")
    return etag in [one.strip().removeprefix("W/") for one in held.split(",")]


def _accepted_encodings(request: Request) -> set[str]:
    """Return the encodings that `Accept-Encoding` names, without those with weight 0."""
    taken = set()
    for one in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = one.partition(";")
        if weight.replace(" ", "").rstrip("0.") != "q=":
            taken.add(name.strip())
    return taken
