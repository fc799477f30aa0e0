"""What an approval of a command for the whole session is good for: exactly that command. Pure.

Nothing wider can be told from a command line: options of harmless programs write files and run other
programs (`git log --output=…`, `git grep -O…`, `sort --compress-program=…`). Every command at once may be
approved only where a sandbox holds them; see `host.consent`.
"""

from agenthost.host.previews import Scope

__all__ = ["scope_of"]

LONGEST_LABEL = 60


def scope_of(command: str, **_others: object) -> Scope:
    """Return what an approval of this command for the session covers."""
    short = " ".join(command[: 2 * LONGEST_LABEL].split())
    shown = short if len(short) <= LONGEST_LABEL else f"{short[: LONGEST_LABEL - 1]}…"
    return Scope.exactly(command, f"exactly `{shown}`", is_command=True)
