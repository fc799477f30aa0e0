"""The files of the page, read once from a build, with their compressed forms."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["STATIC", "File", "make_file", "read_files"]

STATIC = Path(__file__).parent / "static"
"""Where `npm run build` in `web/` writes its output."""

INDEX = "index.html"

ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""The encodings that files may be available in, best first."""

MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}

FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


class File(NamedTuple):
    """A file of the page.

    Attributes:
        forms: its bytes by encoding; `identity` is uncompressed.
        etag: changes with its content.
        caching: how long a browser may keep it.
    """

    media: str
    forms: Mapping[str, bytes]
    etag: str
    caching: str


def read_files(folder: Path) -> dict[str, File]:
    """Read the files of a build, by URL path; empty if there is no build."""
    if not (folder / INDEX).is_file():
        return {}
    found = {}
    for path in sorted(folder.rglob("*")):
        media = MEDIA.get(path.suffix)
        if media is not None and path.is_file():
            name = path.relative_to(folder).as_posix()
            found["/" if name == INDEX else f"/{name}"] = _read(path, media, is_named_by_hash="/" in name)
    return found


def make_file(media: str, content: bytes, forms: Mapping[str, bytes] | None = None) -> File:
    """Return a file that browsers have to revalidate each time."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    return File(media, {**(forms or {}), "identity": content}, etag, ASK_AGAIN)


def _read(path: Path, media: str, *, is_named_by_hash: bool) -> File:
    packed = {encoding: path.with_name(path.name + suffix) for encoding, suffix in ENCODINGS.items()}
    forms = {encoding: other.read_bytes() for encoding, other in packed.items() if other.is_file()}
    file = make_file(media, path.read_bytes(), forms)
    return file._replace(caching=FOR_EVER) if is_named_by_hash else file
