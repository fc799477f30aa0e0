"""The README is true: its commands and its Python are run, its links lead somewhere, its examples work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def output_of(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("block", blocks("console"))
def test_the_commands_print_what_the_readme_shows(block: str) -> None:
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        assert output_of("sh", "-c", command) == shown


def test_the_python_prints_what_the_readme_shows() -> None:
    (code,), (shown, *_) = blocks("python"), blocks("text")
    assert output_of(sys.executable, "-c", code) == shown


def test_every_file_that_the_readme_links_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", README) if "://" not in link]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_replica_example_tells_the_story() -> None:
    assert output_of(sys.executable, "examples/replica.py").splitlines() == [
        "at first: New session",
        "said, not yet confirmed: Plans",
        "refused (the title is locked): New session",
    ]


def test_no_example_is_left_out_of_the_tests() -> None:
    tested = {"hello.jsonl", "replica.py"}
    assert {file.name for file in (ROOT / "examples").iterdir() if file.is_file()} == tested
