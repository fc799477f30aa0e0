"""The command line as a whole: help, version, wrong words."""

import subprocess
import sys

from agenthost import __version__


def agenthost(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agenthost", *words], capture_output=True, text=True, check=False
    )


def test_version_names_the_program_and_its_version() -> None:
    assert agenthost("--version").stdout == f"agenthost {__version__}\n"


def test_help_lists_the_commands() -> None:
    shown = agenthost("--help").stdout
    assert "Usage: agenthost" in shown
    assert "reduce" in shown


def test_a_word_that_is_no_command_is_refused_with_the_nearest_one() -> None:
    done = agenthost("redoce")
    assert done.returncode == 2
    assert "No such command 'redoce'. Did you mean 'reduce'?" in done.stderr


def test_a_file_that_is_not_there_is_named() -> None:
    done = agenthost("reduce", "/no/such/file")
    assert done.returncode == 2
    assert "'/no/such/file' does not exist" in done.stderr
