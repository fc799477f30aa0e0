"""Files on a real disk, for the tests of `host/files`: a workspace, and a folder that nobody may see."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agenthost.host.files.files import FileLimits, Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.uris import uri_of

OUTSIDE = "nobody may read this"


@contextmanager
def opened(
    tmp_path: Path, policy: FilePolicy | None = None, limits: FileLimits | None = None
) -> Iterator[tuple[Files, Path, Path]]:
    """Make a workspace, where `data` is hidden, and a folder beside it with a file."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "file").write_text(OUTSIDE)
    files = Files(Grants(workspace, policy, hidden=[workspace / "data"]), limits)
    try:
        yield files, workspace, outside
    finally:
        files.close()


async def text_of(files: Files, path: Path) -> str:
    """Read a file as a client would."""
    return (await files.read(None, {"uri": uri_of(path)}))["data"]
