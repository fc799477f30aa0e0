"""Programs that speak ACP, as `--acp` names them."""

import subprocess
import sys
from pathlib import Path

import pytest

from acp_acting import PROGRAMS
from agenthost.cli.acp_programs import ProgramError, acp_agents
from agenthost.settings import SettingsError, read_settings
from serving import run_serve, serving


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("gemini --acp", "gemini"),
        ("helper=gemini --acp", "helper"),
        ("/opt/tools/my agent --acp", "my"),
        ("'/opt/my tools/agent_x' acp", "agent-x"),
        ("npx -y @zed-industries/claude-code-acp@0.5", "claude-code-acp"),
        ("python3 -m agent", "agent"),
        ("./run.py", "run"),
        ("7up", "acp-7up"),
    ],
)
def test_an_agent_is_named_after_its_program(line: str, name: str) -> None:
    (agent,) = acp_agents([line], [])
    assert agent.name == name


def test_variables_are_passed_by_name_or_with_a_value() -> None:
    (agent,) = acp_agents(["gemini --acp"], ["GEMINI_API_KEY", "MODE=a=b"])
    assert agent.program.command.env == {"GEMINI_API_KEY": "$GEMINI_API_KEY", "MODE": "a=b"}


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["gemini --acp", "gemini --other"],
            "two programs would be called 'gemini'; give one another name: --acp",
        ),
        (["helper="], "a command names a program"),
        (["say 'hello"], "no closing quotation"),
    ],
)
def test_a_command_that_names_no_program_is_refused(lines: list[str], sentence: str) -> None:
    with pytest.raises(ProgramError, match=sentence):
        acp_agents(lines, [])


def test_programs_may_be_set_in_the_environment_and_in_a_file(tmp_path: Path) -> None:
    lines = "gemini --acp\nother=opencode acp, then\n"
    found = read_settings({}, {"AGENTHOST_ACP": lines, "AGENTHOST_ACP_ENV": "A,B=1"})
    assert (found.acp, found.acp_env) == (("gemini --acp", "other=opencode acp, then"), ("A", "B=1"))
    config = tmp_path / "settings.toml"
    config.write_text('acp = ["gemini --acp"]\n')
    assert read_settings({"config": str(config)}, {}).acp == ("gemini --acp",)
    with pytest.raises(SettingsError, match="expected names of variables"):
        read_settings({"acp_env": ["not a name"]}, {})


def test_serve_serves_a_program(tmp_path: Path) -> None:
    command = f"acting={sys.executable} {PROGRAMS / 'acting.py'}"
    given: list[str | Path] = ["--data", tmp_path, "--acp", command, "--acp-env", f"ACTING_HOME={tmp_path}"]
    with serving(*given) as served:
        url = served.wait_url()
        asked = [
            sys.executable,
            "-m",
            "agenthost",
            "ask",
            "say hello",
            "--agent",
            "acting",
            "--url",
            f"{url}/aap",
        ]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "hello")


def test_the_example_serves_the_program_of_its_variable(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "acp_program.py"
    with serving(
        "--data", tmp_path, example, ACP_COMMAND=f"{sys.executable} {PROGRAMS / 'echo.py'}"
    ) as served:
        asked = [sys.executable, "-m", "agenthost", "ask", "hello", "--url", f"{served.wait_url()}/aap"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "hello")


def test_serve_refuses_a_command_that_names_no_program(tmp_path: Path) -> None:
    done = run_serve("--data", tmp_path, "--acp", "say 'hello")
    assert (done.returncode, "no closing quotation" in done.stderr) == (2, True)
