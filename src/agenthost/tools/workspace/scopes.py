"""What an approval of a command for the whole session is good for. Pure.

For a plain command, one program and its words, it is good for that program, and where the first word says
what the program does (`git status`), for that word too. Anything a shell would make more of, and any program
that runs other programs, is approved exactly as it is, or not at all.
"""

import re

from agenthost.host.previews import Scope

__all__ = ["scope_of"]

WITH_WORDS = frozenset(
    {"apt", "brew", "bun", "cargo", "composer", "conda", "deno", "docker", "dotnet", "gem", "gh", "git"}
    | {"go", "gradle", "helm", "kubectl", "make", "mvn", "npm", "pip", "pip3", "pnpm", "poetry", "ruff"}
    | {"rustup", "systemctl", "terraform", "uv", "yarn"}
)
"""Programs whose first word says what they do."""

RUNNERS = frozenset(
    {"awk", "bash", "busybox", "chroot", "command", "csh", "dash", "doas", "env", "eval", "exec", "find"}
    | {"fish", "gawk", "ionice", "ksh", "lua", "nice", "node", "nohup", "npx", "parallel", "perl", "php"}
    | {"python", "python3", "ruby", "sed", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo"}
    | {"tar", "tclsh", "time", "timeout", "uvx", "vi", "vim", "watch", "xargs", "zsh", "."}
)
"""Programs that run what their arguments say, so that their name alone says nothing."""

RUNNING = frozenset({"bash", "dlx", "exec", "r", "run", "run-script", "sh", "shell", "tool", "x"})
"""First words with which such a program runs what the next ones say."""

# Words that no shell changes, and that end where a space is.
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+(?: +[A-Za-z0-9_./:@%+,=-]+)*")
_WORD = re.compile(r"[a-z][a-z0-9:_-]*")
LONGEST_LABEL = 60


def scope_of(command: str, **_others: object) -> Scope:
    """Give what an approval of this command for the session covers."""
    words = command.strip().split()
    if words and _PLAIN.fullmatch(command.strip()) and not _is_runner(words[0]):
        if words[0] not in WITH_WORDS:
            return _prefix(words[0])
        if len(words) > 1 and _WORD.fullmatch(words[1]) and words[1] not in RUNNING:
            return _prefix(f"{words[0]} {words[1]}")
    short = " ".join(words)
    shown = short if len(short) <= LONGEST_LABEL else f"{short[: LONGEST_LABEL - 1]}…"
    return Scope.exactly(command, f"exactly `{shown}`")


def _is_runner(program: str) -> bool:
    # With an assignment before it, or a path, it could be anything.
    name = program.rstrip("0123456789.") or program
    return "=" in program or "/" in program or program in RUNNERS or name in RUNNERS


def _prefix(words: str) -> Scope:
    return Scope(words, f"`{words} …`")
