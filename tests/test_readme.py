"""The README is true: its commands and its Python are run, its links lead somewhere, its examples work."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from serving import ask, serving

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


def test_a_first_call_gets_the_answer_that_the_readme_shows(tmp_path: Path) -> None:
    (command,) = blocks("sh")
    shown = next(block for block in blocks("text") if block.startswith("event: "))
    with serving("--data", tmp_path, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=str(tmp_path)) as served:
        here = command.replace("http://127.0.0.1:8642", served.wait_url())
        here = here.replace("./run token", f"./run token --data '{tmp_path}'")
        assert output_of("sh", "-c", here) == shown


def test_the_server_says_what_the_readme_shows(tmp_path: Path) -> None:
    shown = next(block for block in blocks("text") if block.startswith("$ ./run serve")).splitlines()
    with serving("--data", tmp_path, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=str(tmp_path)) as served:
        first = served.out.wait_for("listens on ")
        assert first.rpartition(":")[0] == shown[1].rpartition(":")[0]
        page = served.out.wait_for("page")
        assert page.rpartition(":")[0] == shown[2].rpartition(":")[0]
        assert page.partition("#")[2].startswith(shown[2].partition("#")[2].removesuffix("…"))
        assert served.out.wait_for("agents") == shown[3]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`\./run serve (examples/[^ `]+)", README))))
def test_what_the_readme_serves_can_be_served(tmp_path: Path, path: str) -> None:
    with serving(ROOT / path, "--data", tmp_path) as served:
        served.wait_url()


def test_the_first_agent_runs_by_the_command_that_the_readme_shows() -> None:
    """Word by word, in a clone. A port that is taken is told, which is an answer, too."""
    (command,) = re.findall(r"`(\./run python [^`]+)` serves it on port 8787", README)
    with serving(command=["sh", "-c", f"cd '{ROOT}' && exec {command} 2>&1"]) as served:
        first = served.out.wait_for("8787")
        if "is in use" not in first:
            assert first.endswith(" listens on http://127.0.0.1:8787")
            shown = served.out.wait_for("try ").split()
            assert shown == ["try", "./run", "chat", "http://127.0.0.1:8787", "--agent", "timekeeper"]


def test_an_application_runs_by_the_command_that_the_readme_shows(tmp_path: Path) -> None:
    (command,) = re.findall(r"`(\./run python examples/aap[^`]+)`", README)
    with serving("--data", tmp_path) as served:
        assert "count -> 12" in output_of("sh", "-c", f"{command} {served.wait_url()}/aap")


def test_what_the_readme_installs_can_be_installed() -> None:
    """`scripts/build_check.py` does it; here, that these are the words."""
    (line,) = re.findall(r"^\./run page && pip install '\.\[(.+)\]'$", README, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(line.split(",")) <= set(project["optional-dependencies"])


def test_commands_of_the_readme_and_of_the_examples_are_those_of_a_clone() -> None:
    texts = {path.name: path.read_text() for path in (ROOT / "examples").rglob("*.py")} | {
        "README.md": README
    }
    for name, text in texts.items():
        assert re.findall(r"(?<!\./run )\bpython (?:examples|benchmarks)/\S+", text) == [], name
        others = re.findall(r"\bagenthost (?:chat|ask|token|keys|sessions|reduce|serve .*examples)\b", text)
        assert others == [], name
        files = re.findall(r"\./run (?:python|serve|reduce) ((?:examples|benchmarks)/[^ `\n]+)", text)
        assert [file for file in files if not (ROOT / file).exists()] == [], name


def test_both_protocols_are_linked_where_they_are_named_first() -> None:
    for name, link in (("AAP", "docs/aap.md"), ("AHP", "https://microsoft.github.io/agent-host-protocol/")):
        assert f"**[{name}]({link})**" in README


def test_the_first_agent_is_the_file_that_the_readme_shows() -> None:
    (code,) = blocks("python")
    assert (ROOT / "examples" / "timekeeper.py").read_text().endswith(code)
    assert len(re.findall(r"^(?!$|from|def clock|    return f| {4}\"\"\").+", code, re.MULTILINE)) <= 10


def test_the_agent_in_toml_is_the_file_that_the_readme_shows() -> None:
    (shown,) = blocks("toml")
    assert tomllib.loads(shown) == tomllib.loads((ROOT / "examples/agents/researcher.toml").read_text())


@pytest.mark.parametrize(
    ("example", "agent", "tool", "message", "answer"),
    [
        ("timekeeper.py", "timekeeper", "clock", "UTC", r"It is \d\d:\d\d\."),
        ("step.py", "dictionary", "look_up", "host", r"\*\*host\*\*: one who receives"),
    ],
)
def test_the_agents_of_the_examples_answer(
    tmp_path: Path, example: str, agent: str, tool: str, message: str, answer: str
) -> None:
    with serving("--data", tmp_path, ROOT / "examples" / example) as served:
        url = served.wait_url()
        config = {"name": agent, "tools": [{"name": tool, "trust": True}]}
        made = ask(url, "/aap/sessions", "POST", body={"agent": config}).json
        turn = {"messages": [{"role": "user", "content": message}]}
        told = ask(url, f"/aap/sessions/{made['sessionId']}/turns", "POST", body=turn).json
    assert told["stopReason"] == "end_turn"
    assert re.fullmatch(answer, told["messages"][-1]["content"])


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
    tested = {"hello.jsonl", "replica.py", "timekeeper.py", "step.py"}
    tested |= {"renamer.py", "subagents.py"}  # tests/tools
    tested |= {"text_agent.py", "pydantic_agent.py", "langgraph_agent.py"}  # tests/agents/adapters
    tested |= {"model_agent.py"}  # tests/agents
    tested |= {"acp_program.py"}  # tests/cli
    elsewhere = {path.name for path in (ROOT / "examples").glob("a[ah]p_*.py")}  # tests/client
    found = {file.name for file in (ROOT / "examples").iterdir() if file.is_file()}
    assert found - elsewhere == tested
