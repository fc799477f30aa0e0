"""Commands that people are told to type, in the words that work where they are: a clone, or an install."""

import os
import re
import shlex

__all__ = ["CLONE", "called_as", "command", "install"]

CLONE = "./run"
"""What a clone calls us by; it says so in the environment."""

_EXTRA = re.compile(r"agenthost(\[.+\])")


def called_as() -> str:
    """Return what people type to call us: `./run` tells."""
    return os.environ.get("_AGENTHOST_CALLED_AS", "agenthost")


def command(*words: str) -> str:
    """Return a command of ours, as it would be typed in a shell."""
    return f"{called_as()} {shlex.join(words)}"


def install(package: str) -> str:
    """Return the command that installs a package, or one of our extras (`agenthost[llm]`)."""
    if called_as() != CLONE:
        return f"pip install {shlex.quote(package)}"
    extra = _EXTRA.fullmatch(package)
    what = f"--editable {shlex.quote(f'.{extra[1]}')}" if extra else shlex.quote(package)
    return f"{CLONE} python -m pip install {what}"
