"""VS Code against a host: `./run vscode [AGENTS …] [--workspace DIR] [--port N] [--check] [--keep DIR]`."""

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from vscode.editor import editing
from vscode.hosts import RunningHost
from vscode.installation import VERSION, install
from vscode.workspaces import fill

SCREEN = """
VS Code {version} runs against a host of ours; both only on this machine.

  1. Open   {url}
  2. Choose {agent} where "Local" stands, below the field for messages at the right.
  3. Try    Hello
            /edit app.py print("good morning")     shows the change, and asks
            /call run {{"command": "ls -l"}}         shows a terminal
            /wait 30                               cancel it
            /help                                  lists more

  workspace   {work}
  host        {host}   its bridge sends the host's token
  messages    {wire}   all of them, secrets masked

Ctrl-C ends both.
"""

LONGEST = 2_000
"""How many characters of what went wrong are shown."""


def main() -> int:
    """Run VS Code against a host, for somebody to look at, or to be checked."""
    parser = argparse.ArgumentParser(
        prog="./run vscode",
        description="Run the real VS Code, in a browser, against a host; the first time it is installed.",
    )
    parser.add_argument("agents", nargs="*", metavar="AGENTS", help="as for serve (default: the demo agent)")
    parser.add_argument("--workspace", metavar="DIR", help="the folder to open (default: a new one)")
    parser.add_argument("--port", type=int, default=0, help="where VS Code listens (default: any)")
    parser.add_argument("--check", action="store_true", help="go through all that has to work, and end")
    parser.add_argument("--keep", metavar="DIR", help="keep messages and pictures in this folder")
    given = parser.parse_args()
    if given.check and (given.agents or given.workspace):
        parser.error("--check brings its own agents and its own workspace")
    installation = install()
    if installation is None:
        return 2
    with ExitStack() as stack:
        new = stack.enter_context(tempfile.TemporaryDirectory(prefix="agenthost-vscode-"))
        folder = Path(new)
        kept = Path(given.keep) if given.keep else folder
        kept.mkdir(parents=True, exist_ok=True)
        work = Path(given.workspace).resolve() if given.workspace else fill(folder / "work")
        host = stack.enter_context(RunningHost(folder, work, *given.agents, wire=kept / "wire.jsonl"))
        url = stack.enter_context(
            editing(installation, folder / "editor", host.url, host.token, work, port=given.port)
        )
        if given.check:
            return _check(url, host, kept)
        agent = "your agent" if given.agents else '"Demo"'
        print(
            SCREEN.format(version=VERSION, url=url, agent=agent, work=work, host=host.url, wire=host.wire),
            flush=True,
        )
        try:
            while True:
                time.sleep(60)
        except KeyboardInterrupt:
            print()
    return 0


def _check(url: str, host: RunningHost, kept: Path) -> int:
    """Go through the story, and say of each step that it holds."""
    # Playwright is of what checks need, not of what runs a host.
    from playwright.sync_api import Error  # noqa: PLC0415

    from vscode.story import tell  # noqa: PLC0415
    from vscode.window import opened  # noqa: PLC0415

    pictures = kept / "pictures"
    try:
        with opened(url, pictures) as window:
            tell(window, host, lambda line: print(line, flush=True))
    except (AssertionError, Error) as error:
        print(
            f"{str(error).strip()[:LONGEST]}\n\nThe last picture is {pictures / 'failed.png'}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
