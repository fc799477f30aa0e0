"""`agenthost serve --model`: a model on one command, with tools for the workspace."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenthost.cli.agent_files import load_agents
from modelling import TITLE, model_service
from serving import ECHO, environment, run_serve, serving
from talking import said

FIXTURES = [
    {
        "match": {"userMessage": "duck", "hasToolResult": False},
        "response": {"toolCalls": [{"name": "read_file", "arguments": {"path": "duck.txt"}}]},
    },
    {"match": {"toolResultContains": "Quack"}, "response": {"content": "It says Quack."}},
]


def ask(url: str, *words: str) -> str:
    command = [sys.executable, "-m", "agenthost", "ask", "--url", f"{url}/aap", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(), timeout=60)
    return done.stdout.strip()


def test_a_model_is_served_with_one_command_and_reads_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "duck.txt").write_text("Quack\n")
    (tmp_path / "rules.md").write_text("Speak of ducks.")
    config = tmp_path / "agenthost.toml"
    with model_service(tmp_path, FIXTURES) as service:
        config.write_text(
            f'system = "@rules.md"\nbase_url = "{service.url}/v1"\n[model_settings]\ntemperature = 0.5\n'
        )
        words: list[str | Path] = ["--data", tmp_path / "data", "--workspace", workspace, "--config", config]
        with serving(*words, "--model", "gpt-4o", "--model", "gpt-4.1") as served:
            url = served.wait_url()
            assert ask(url, "--trust", "read_file", "What says the duck?") == "It says Quack."
            first, _ = service.requests("What says the duck?")
            assert served.stop(signal.SIGTERM) == 0
            # Nothing but our own log: the library says nothing, and sends nothing anywhere.
            assert [line for line in served.err.rest() if " agenthost." not in line] == []
    assert first["messages"][0] == {"role": "system", "content": "Speak of ducks."}
    assert first["temperature"] == 0.5
    assert TITLE not in json.dumps(first)


def test_an_invalid_model_name_is_refused_at_the_start() -> None:
    refused = run_serve("--model", "gpt5")
    assert refused.returncode == 2
    right = (
        "expected SERVICE:NAME, such as openai:gpt-5, anthropic:claude-sonnet-5 or google:gemini-3.5-flash"
    )
    assert refused.stderr == f"agenthost: --model: 'gpt5' is not the name of a model: {right}\n"
    slipped = run_serve("--model", "antropic:claude-sonnet-5")
    assert slipped.stderr.endswith(
        "'antropic:claude-sonnet-5': unknown service; did you mean anthropic:claude-sonnet-5?\n"
    )


def test_an_unknown_service_is_refused_at_the_start(tmp_path: Path) -> None:
    refused = run_serve("--model", "foo:gpt-5", "--data", tmp_path / "data")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("agenthost: --model: 'foo:gpt-5': unknown service; known are")
    assert refused.stderr.endswith("give its address (--base-url, or base_url)\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("gone", ["pydantic_ai", "openai"])
@pytest.mark.parametrize(
    ("called", "install"),
    [
        ("agenthost", "pip install 'agenthost[llm]'"),
        ("./run", "./run python -m pip install --editable '.[llm]'"),
    ],
)
def test_without_a_library_it_does_not_start_and_says_what_to_install(
    gone: str, called: str, install: str
) -> None:
    code = f"import sys; sys.modules[{gone!r}] = None; sys.argv[1:] = ['serve', '--model', 'openai:gpt-5']\n"
    code += "from agenthost.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment(_AGENTHOST_CALLED_AS=called),
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("agenthost: --model: ")
    assert done.stderr.endswith(f": {install}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--base-url", "http://127.0.0.1:9/v1"],
            "--base-url: no effect without --model SERVICE:NAME",
        ),
        (
            ["--key-env", "K", "--system", "x"],
            "--key-env, --system: no effect without --model SERVICE:NAME",
        ),
        (["--acp-env", "K"], "--acp-env: no effect without --acp [NAME=]COMMAND"),
    ],
)
def test_a_setting_that_no_agent_would_use_is_refused_where_nothing_else_is_served(
    words: list[str], sentence: str
) -> None:
    done = run_serve(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"agenthost: {sentence}\n")


def test_a_setting_that_no_agent_uses_is_reported_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    with serving(tmp_path / "echo.py", "--data", tmp_path, "--base-url", "http://127.0.0.1:9/v1") as served:
        told = served.err.wait_for("--base-url")
        assert told.endswith(
            "no effect without --model SERVICE:NAME; agents in files have settings of their own"
        )
        served.wait_url()


def test_the_example_asks_for_the_tide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"toolCalls": [{"name": "tide", "arguments": {"harbour": "Brest"}}]}
    fixtures = [
        {"match": {"userMessage": "Brest", "hasToolResult": False}, "response": asked},
        {"match": {"toolResultContains": "17:20"}, "response": {"content": "High tide is at 17:20."}},
    ]
    with model_service(tmp_path, fixtures) as service:
        monkeypatch.setenv("MODEL", "gpt-4o")
        monkeypatch.setenv("BASE_URL", f"{service.url}/v1")
        (pilot,) = load_agents([str(Path(__file__).parents[3] / "examples" / "model_agent.py")])
        heard = said(tmp_path, pilot, "When may I enter Brest?", tools={"tide": True})
    assert heard.text == "High tide is at 17:20."
