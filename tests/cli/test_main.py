"""The command line as a whole: help, version, wrong words."""

import re
import subprocess
import sys

import pytest

from agenthost import __version__
from agenthost.cli.help import ORDER
from agenthost.settings import Settings, as_option

TABLES = {"limits", "model_settings", "agents"}
"""Settings that only a file can hold."""


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


def test_help_begins_with_what_is_needed_first() -> None:
    listed = agenthost("--help").stdout.partition("Commands:\n")[2]
    assert [line.split()[0] for line in listed.splitlines()] == ORDER


def test_help_names_the_program_as_it_was_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AGENTHOST_CALLED_AS", "./run")
    assert agenthost("serve", "--help").stdout.startswith("Usage: ./run serve ")


def test_the_options_of_serve_are_in_groups() -> None:
    shown = agenthost("serve", "--help").stdout
    groups = re.findall(r"^(\S.*):$\n((?:  .*\n?)+)", shown, re.MULTILINE)
    assert [name for name, _ in groups] == [
        "Arguments",
        "Agents",
        "Server",
        "Data and files",
        "Shells and programs",
        "Access",
        "Logs",
        "Options",
    ]
    options = {name: re.findall(r"^  (--[a-z-]+)", lines, re.MULTILINE) for name, lines in groups}
    assert options["Options"] == ["--help"]
    assert options["Agents"] == ["--model", "--base-url", "--key-env", "--system", "--acp", "--acp-env"]
    assert max(map(len, options.values())) <= 6
    assert {option for listed in options.values() for option in listed} - {"--help", "--config"} == {
        as_option(name) for name in Settings.__struct_fields__ if name not in TABLES
    }


def test_a_word_that_is_no_command_is_refused_with_the_nearest_one() -> None:
    done = agenthost("redoce")
    assert done.returncode == 2
    assert "No such command 'redoce'. Did you mean 'reduce'?" in done.stderr


def test_a_file_that_is_not_there_is_named() -> None:
    done = agenthost("reduce", "/no/such/file")
    assert done.returncode == 2
    assert "'/no/such/file' does not exist" in done.stderr
