r"""Shells: which one is started, with what environment, and how bash and zsh report their commands.

Both read a script of ours first. It sources the user's own files and then adds two hooks, one before each
command and one before each prompt. The hooks print marks (`OSC 633 ; … ; NONCE`), which the scanner removes
from the output. The nonce is only in the script, not in the environment that programs inherit. The folder of
the script is readable by its owner alone, and is removed as soon as the shell has read it.
"""

import os
import pwd
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agenthost.host.programs.command import INHERITED

# A line that the user keeps out of the history, with a leading space, is not reported either. To tell such
# lines from repeated ones, the latter have to be in the history: that is all that changes for the user.
BASH = r"""
for __agenthost_file in /etc/bash.bashrc "$HOME/.bashrc"; do
    [[ -r $__agenthost_file ]] && . "$__agenthost_file"
done
unset __agenthost_file
__agenthost_nonce=@NONCE@
__agenthost_status=
__agenthost_number=
__agenthost_escape() {
    local text=${1:0:8192}
    text=${text//\\/\\\\}
    text=${text//;/\\x3b}
    text=${text//$'\n'/\\x0a}
    text=${text//$'\r'/\\x0d}
    text=${text//$'\t'/\\x09}
    text=${text//$'\e'/\\x1b}
    builtin printf '%s' "${text//$'\a'/\\x07}"
}
__agenthost_start() {
    local line number
    line=$(HISTTIMEFORMAT='' builtin history 1)
    [[ $line =~ ^\ *([0-9]+)[\*\ ]\ (.*)$ ]] && number=${BASH_REMATCH[1]} line=${BASH_REMATCH[2]}
    [[ $number == "$__agenthost_number" ]] && line=
    builtin printf '\e]633;E;%s;%s\a' "$(__agenthost_escape "$line")" "$__agenthost_nonce"
}
__agenthost_prompt() {
    local status=$? line
    [[ -n $__agenthost_status ]] && builtin printf '\e]633;D;%s;%s\a' "$status" "$__agenthost_nonce"
    __agenthost_status=1
    HISTCONTROL=${HISTCONTROL//ignoreboth/ignorespace}
    HISTCONTROL=${HISTCONTROL//ignoredups/}
    HISTCONTROL=${HISTCONTROL//erasedups/}
    line=$(HISTTIMEFORMAT='' builtin history 1)
    [[ $line =~ ^\ *([0-9]+) ]] && __agenthost_number=${BASH_REMATCH[1]}
    builtin printf '\e]633;P;Cwd=%s;%s\a' "$(__agenthost_escape "$PWD")" "$__agenthost_nonce"
    builtin printf '\e]633;A;%s\a' "$__agenthost_nonce"
    return "$status"
}
PROMPT_COMMAND=__agenthost_prompt${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
PS0='$(__agenthost_start)'${PS0-}
"""

ZSHENV = r"""
__agenthost_folder=$ZDOTDIR
ZDOTDIR=@ZDOTDIR@
[[ -r $ZDOTDIR/.zshenv ]] && . "$ZDOTDIR/.zshenv"
__agenthost_zdotdir=$ZDOTDIR
ZDOTDIR=$__agenthost_folder
"""

ZSHRC = r"""
if [[ $__agenthost_zdotdir == @ZDOTDIR@ ]]; then unset ZDOTDIR; else ZDOTDIR=$__agenthost_zdotdir; fi
[[ $HISTFILE == $__agenthost_folder/* ]] && HISTFILE=$__agenthost_zdotdir/${HISTFILE:t}
[[ -r $__agenthost_zdotdir/.zshrc ]] && . "$__agenthost_zdotdir/.zshrc"
unset __agenthost_zdotdir __agenthost_folder
typeset -g __agenthost_nonce=@NONCE@ __agenthost_status=
__agenthost_escape() {
    local text=${1[1,8192]}
    text=${text//\\/\\\\}
    text=${text//;/\\x3b}
    text=${text//$'\n'/\\x0a}
    text=${text//$'\r'/\\x0d}
    text=${text//$'\t'/\\x09}
    text=${text//$'\e'/\\x1b}
    builtin print -rn -- "${text//$'\a'/\\x07}"
}
__agenthost_start() {
    local line=$1
    [[ -o hist_ignore_space && $line == ' '* ]] && line=
    builtin printf '\e]633;E;%s;%s\a' "$(__agenthost_escape "$line")" "$__agenthost_nonce"
}
__agenthost_prompt() {
    local code=$?
    [[ -n $__agenthost_status ]] && builtin printf '\e]633;D;%s;%s\a' "$code" "$__agenthost_nonce"
    __agenthost_status=1
    builtin printf '\e]633;P;Cwd=%s;%s\a' "$(__agenthost_escape "$PWD")" "$__agenthost_nonce"
    builtin printf '\e]633;A;%s\a' "$__agenthost_nonce"
}
autoload -Uz add-zsh-hook
add-zsh-hook preexec __agenthost_start
add-zsh-hook precmd __agenthost_prompt
# First, so that the code is the command's and not another hook's.
precmd_functions=(__agenthost_prompt ${precmd_functions:#__agenthost_prompt})
"""


@dataclass(slots=True)
class Shell:
    """A shell to start. Without a nonce it does not report commands."""

    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    nonce: str | None = None
    folder: Path | None = None

    def remove_script(self) -> None:
        """Remove the script once the shell has read it, or never will."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def terminal_environment(host: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for a program: a few variables of the host, and those of a terminal."""
    passed = {name: value for name, value in host.items() if name in INHERITED or name.startswith("LC_")}
    return {**passed, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "agenthost"}


def user_shell(host: Mapping[str, str] = os.environ) -> str:
    """Return the user's shell."""
    shell = host.get("SHELL", "")
    if not shell:
        try:
            shell = pwd.getpwuid(os.getuid()).pw_shell
        except KeyError:
            shell = ""
    return shell if os.access(shell, os.X_OK) else "/bin/sh"


def interactive_shell(path: str, home: str) -> Shell:
    """Return an interactive shell. bash and zsh will report commands."""
    match Path(path).name:
        case "bash":
            nonce = secrets.token_hex(16)
            folder = _scripts({"bashrc": BASH.replace("@NONCE@", nonce)})
            return Shell([path, "--init-file", str(folder / "bashrc"), "-i"], {}, nonce, folder)
        case "zsh":
            nonce = secrets.token_hex(16)
            own = "'" + home.replace("'", "'\\''") + "'"
            scripts = {".zshenv": ZSHENV, ".zshrc": ZSHRC.replace("@NONCE@", nonce)}
            folder = _scripts({name: text.replace("@ZDOTDIR@", own) for name, text in scripts.items()})
            return Shell([path, "-i"], {"ZDOTDIR": str(folder)}, nonce, folder)
        case _:
            return Shell([path, "-i"])


def _scripts(texts: Mapping[str, str]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="agenthost-shell-"))  # mode 0700
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder
