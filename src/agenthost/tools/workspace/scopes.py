"""The scope of an approval of a command for the session: exactly that command. Pure.

A command line does not show which other commands are harmless: options of harmless programs write files and
run other programs (`git log --output=…`, `git grep -O…`, `sort --compress-program=…`). All commands can be
approved at once only if they run in a sandbox.
"""

from agenthost.host.authoring.scope import Scope

__all__ = ["command_scope"]

MAX_LABEL_CHARACTERS = 60


def command_scope(command: str, **_others: object) -> Scope:
    """Return the scope of an approval of this command."""
    short = " ".join(command[: 2 * MAX_LABEL_CHARACTERS].split())
    shown = short if len(short) <= MAX_LABEL_CHARACTERS else f"{short[: MAX_LABEL_CHARACTERS - 1]}…"
    return Scope.exactly(command, f"exactly `{shown}`", is_command=True)
