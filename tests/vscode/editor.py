"""VS Code's server, whose windows talk to a host of ours in place of its own."""

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from serving import Lines
from vscode.installation import Installation

__all__ = ["SETTINGS", "editing"]

SETTINGS: dict[str, Any] = {
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "remote.autoForwardPorts": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
"""Nothing is asked of its makers, and no dialog stands before the chat."""

START_SECONDS = 60


def _environment(folder: Path, token: str) -> dict[str, str]:
    """Return an environment in which it keeps everything in a folder, and finds no extensions to fetch."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AGENTHOST_", "ELECTRON_", "NODE_", "VSCODE_", "XDG_"))
    }
    return {
        **kept,
        "EXTENSIONS_GALLERY": "{}",
        "HOME": str(folder / "home"),
        # By the environment, as all users of a machine can read what a command was given.
        "VSCODE_AGENT_HOST_BRIDGE_CONNECTION_TOKEN": token,
    }


@contextmanager
def editing(
    installation: Installation, folder: Path, host: str, token: str, work: Path, *, port: int = 0
) -> Iterator[str]:
    """Run VS Code's server with a bridge to a host, and return the address of a window on a folder.

    Args:
        installation: what to run.
        folder: where it keeps its data.
        host: the address of the host.
        token: what the host asks for; the bridge sends it as `?tkn=`.
        work: the folder to open.
        port: where it listens; 0 picks a free one.
    """
    user, own = folder / "data" / "User", secrets.token_urlsafe(24)
    (folder / "home").mkdir(parents=True, exist_ok=True)
    user.mkdir(parents=True, exist_ok=True)
    (user / "settings.json").write_text(json.dumps(SETTINGS, indent=2))
    token_file = folder / "connection-token"
    token_file.touch(mode=0o600)
    token_file.write_text(own)
    address = urlsplit(host)
    options = {
        "host": "127.0.0.1",
        "port": port,
        "connection-token-file": token_file,
        "server-data-dir": folder / "server",
        "user-data-dir": folder / "data",
        "extensions-dir": folder / "extensions",
        "telemetry-level": "off",
        "agent-host-bridge-host": address.hostname,
        "agent-host-bridge-port": address.port,
    }
    flags = ["--accept-server-license-terms", "--disable-workspace-trust", "--disable-experiments"]
    process = subprocess.Popen(
        [
            installation.node,
            installation.server,
            *(f"--{key}={value}" for key, value in options.items()),
            *flags,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env=_environment(folder, token),
    )
    assert process.stdout
    with process:
        lines = Lines(process.stdout)
        try:
            listens = lines.wait_for("Extension host agent listening on ", START_SECONDS).rpartition(" ")[2]
            query = urlencode({"tkn": own, "folder": str(work)})
            yield f"http://127.0.0.1:{listens}/?{query}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
            lines.rest()
