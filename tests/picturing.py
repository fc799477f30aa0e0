"""Pictures for the documentation: AGENTHOST_PICTURES=docs/images keeps them, as small as they can be."""

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["keep_small", "pictures_folder"]

LARGEST = 150_000
"""How many bytes a picture that is kept may have."""


def pictures_folder(otherwise: Path) -> Path:
    """Return the folder that pictures go to."""
    folder = Path(os.environ.get("AGENTHOST_PICTURES", otherwise))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_small(path: Path) -> None:
    """Make a picture small, if it is one to keep."""
    if "AGENTHOST_PICTURES" not in os.environ:
        return
    shrink = shutil.which("pngquant")
    assert shrink, "pictures are kept as small as pngquant makes them: apt-get install pngquant"
    options = ["--force", "--strip", "--speed", "1", "--nofs"]
    subprocess.run([shrink, *options, "--output", path, "64", path], check=True)
    assert path.stat().st_size < LARGEST
