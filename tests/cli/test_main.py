"""The command line as a whole: help, version, unknown commands and options."""

import re
import subprocess
import sys

import pytest

from agenthost import __version__
from agenthost.cli.app.help import ORDER
from agenthost.settings import SETTINGS


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


def test_help_lists_commands_in_the_order_of_their_use() -> None:
    listed = agenthost("--help").stdout.partition("Commands:\n")[2]
    assert [line.split()[0] for line in listed.splitlines()] == ORDER


def test_help_names_the_program_as_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AGENTHOST_CALLED_AS", "./run")
    assert agenthost("serve", "--help").stdout.startswith("Usage: ./run serve ")


def test_the_options_of_serve_are_in_groups() -> None:
    shown = agenthost("serve", "--help").stdout
    groups = re.findall(r"^(\S.*):$\n((?:  .*\n?)+)", shown, re.MULTILINE)
    assert [name for name, _ in groups] == [
        "Arguments",
        "Agents",
        "Server",
        "Data",
        "Nodes",
        "Files",
        "Shells and programs",
        "Access",
        "Logs",
        "Options",
    ]
    options = {name: re.findall(r"^  (--[a-z-]+)", lines, re.MULTILINE) for name, lines in groups}
    assert options["Options"] == ["--help"]
    assert options["Agents"] == ["--model", "--base-url", "--key-env", "--system", "--acp", "--acp-env"]
    assert max(map(len, options.values())) <= 6
    declared = [one for one in SETTINGS.values() if not one.is_table]
    assert {name: options[name] for name in options if name not in ("Arguments", "Options")} == {
        group: [one.option for one in declared if one.group == group]
        for group in dict.fromkeys(one.group for one in declared)
    }
    flat = " ".join(shown.split())
    assert [one.name for one in declared if " ".join(one.summary.split()) not in flat] == []


def test_an_unknown_command_is_refused_with_the_closest_one() -> None:
    done = agenthost("redoce")
    assert done.returncode == 2
    assert "No such command 'redoce'. Did you mean 'reduce'?" in done.stderr


def test_a_missing_file_is_named() -> None:
    done = agenthost("reduce", "/no/such/file")
    assert done.returncode == 2
    assert "'/no/such/file' does not exist" in done.stderr


def test_an_unknown_option_is_refused_with_the_closest_one() -> None:
    done = agenthost("serve", "--prot", "1")
    assert done.returncode == 2
    assert "No such option: --prot" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("option", ["--full-sync", "--no-full-sync"])
def test_an_option_that_was_replaced_is_hidden_and_refused_with_its_successor(option: str) -> None:
    assert option not in agenthost("serve", "--help").stdout
    done = agenthost("serve", option)
    sentence = "--full-sync: this setting was replaced; use --sync (full, the default, or normal)"
    assert (done.returncode, done.stderr) == (2, f"agenthost: {sentence}\n")


@pytest.mark.parametrize(
    "words",
    [
        *((name,) for name in ORDER),
        *(("keys", name) for name in ("create", "list", "revoke")),
        *(("sessions", name) for name in ("list", "show", "export", "end", "delete")),
    ],
)
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    done = agenthost(*words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: agenthost {' '.join(words)} ")
    assert "<list" not in done.stdout  # the types of Python are nothing for users
