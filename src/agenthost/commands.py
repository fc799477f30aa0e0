"""Commands in hints for people, as they have to type them: in a clone, or after an install."""

import os
import re
import shlex

__all__ = ["CLONE", "command", "install_command", "program_name"]

CLONE = "./run"
"""The name of the program in a clone, where the script `./run` puts it into the environment."""

_EXTRA = re.compile(r"agenthost(\[.+\])")


def program_name() -> str:
    """Return what people type to run this program."""
    return os.environ.get("_AGENTHOST_CALLED_AS", "agenthost")


def command(*words: str) -> str:
    """Return one of our commands, as it is typed in a shell."""
    return f"{program_name()} {shlex.join(words)}"


def install_command(package: str) -> str:
    """Return the command that installs a package, or one of our extras (`agenthost[llm]`)."""
    if program_name() != CLONE:
        return f"pip install {shlex.quote(package)}"
    extra = _EXTRA.fullmatch(package)
    what = f"--editable {shlex.quote(f'.{extra[1]}')}" if extra else shlex.quote(package)
    return f"{CLONE} python -m pip install {what}"
