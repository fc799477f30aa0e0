"""Where VS Code is installed: `scripts/vscode.sh` sees to it, once for this user."""

import subprocess
from pathlib import Path

__all__ = ["SCRIPT", "VERSION", "Installation", "find", "install"]

SCRIPT = Path(__file__).parents[2] / "scripts" / "vscode.sh"

VERSION = "1.139.1"
"""The version of VS Code inside the package."""


class Installation:
    """A folder with VS Code's server, and the Node.js that runs it."""

    def __init__(self, folder: Path) -> None:
        self.node = folder / "node" / "bin" / "node"
        self.server = folder / "package" / "lib" / "vscode" / "out" / "server-main.js"


def find() -> Installation | None:
    """Return what is installed; nothing is fetched."""
    done = subprocess.run([SCRIPT, "--installed"], capture_output=True, text=True, check=False)
    return Installation(Path(done.stdout.strip())) if done.returncode == 0 else None


def install() -> Installation | None:
    """Install it, unless it is there. The script says what it does, and why it fails."""
    done = subprocess.run([SCRIPT], stdout=subprocess.PIPE, text=True, check=False)
    return Installation(Path(done.stdout.strip())) if done.returncode == 0 else None
