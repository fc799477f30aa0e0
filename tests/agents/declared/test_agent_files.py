"""Agents in TOML: what is built of them, and what is said of what is wrong in them."""

from pathlib import Path
from types import ModuleType

import pytest

from agenthost.agents.acp import AcpAgent
from agenthost.agents.declared import AgentFileError, DeclaredAgent, read_agent_file
from agenthost.agents.model import ModelAgent
from agenthost.cli.agent_files import LoadError, load_agents

MODEL = 'model = "openai:gpt-5"\n'


def no_module(name: str) -> ModuleType:
    raise AssertionError(f"{name} is not to be loaded")


def read(folder: Path, text: str, name: str = "coder.toml") -> list[DeclaredAgent]:
    file = folder / name
    file.write_text(text)
    return read_agent_file(file, no_module)


def refused(folder: Path, text: str) -> str:
    """Return the error for a file, without its name."""
    with pytest.raises(AgentFileError) as caught:
        read(folder, text)
    said = str(caught.value)
    assert said.startswith(f"{folder / 'coder.toml'}: ")
    return said.removeprefix(f"{folder / 'coder.toml'}: ")


def test_a_file_declares_an_agent_named_like_it(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Be kind.")
    text = f"""
        title = "Coder"
        description = "Writes code."
        version = "2"
        {MODEL}
        models = ["anthropic:claude-sonnet-5"]
        system_file = "prompt.md"
        context_tokens = 9000
        mask_errors = true
        tools = ["workspace"]
        subagents = ["other"]
        [settings]
        temperature = 0.5
        [options.tone]
        type = "select"
        choices = ["warm", "cold"]
        default = "cold"
        [options.token]
        type = "secret"
        [mcp.files]
        command = ["server", "--fast"]
        env = {{ TOKEN = "$TOKEN" }}
        tools = ["read"]
        trust = ["read"]
    """
    (written,) = read(tmp_path, text)
    agent = written.agent
    assert isinstance(agent, ModelAgent)
    assert (agent.name, agent.title, agent.version) == ("coder", "Coder", "2")
    assert [model.id for model in agent.models] == ["openai:gpt-5", "anthropic:claude-sonnet-5"]
    assert (agent.system, agent.settings, agent.context_tokens) == ("Be kind.", {"temperature": 0.5}, 9000)
    assert agent.mask_errors
    options = [(one.name, one.kind, one.default) for one in agent.options]
    assert options == [("tone", "select", "cold"), ("token", "secret", "")]
    assert {"read_file", "edit_file", "run", "other"} <= agent.toolset.keys()
    assert [source.name for source in agent.sources] == ["files"]
    assert written.needs == {"other"}


def test_several_agents_are_in_one_file_and_a_program_is_one_too(tmp_path: Path) -> None:
    text = f"""
        [agents.one]
        {MODEL}
        [agents.two]
        acp = "some-agent --acp"
        title = "Two"
        env = {{ KEY = "$KEY" }}
        mode = "default"
        [agents.two.mcp.files]
        command = "mcp-files ."
    """
    one, two = read(tmp_path, text)
    assert [one.agent.name, two.agent.name] == ["one", "two"]
    assert isinstance(two.agent, AcpAgent)
    assert (two.agent.program.command.line, two.agent.program.mode) == ("some-agent --acp", "default")
    assert two.agent.program.mcp_servers == ({"name": "files", "command": "mcp-files ."},)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("titel = 'x'\n" + MODEL, "titel: there is no such key; did you mean title?"),
        (MODEL + "[mcp.x]\ncomand = 'y'", "mcp.x.comand: there is no such key; did you mean command?"),
        ("zzz = 1", "zzz: there is no such key; there are title, description, version, model, models"),
        (MODEL + "title = 5", "title: expected a string, found the number 5"),
        (MODEL + "tools = [1]", "tools[0]: expected a string, found the number 1"),
        (MODEL + "settings = 'warm'", "settings: expected a table, found a string"),
        (MODEL + "title = 2026-01-01", "title: expected a string, found a date"),
        (
            MODEL + "[mcp.x]\ncommand = 'y'\nenv = { A = 1 }",
            "mcp.x.env.A: expected a string, found the number 1",
        ),
        (
            MODEL + "[options.o]\ntype = 'choice'",
            "options.o.type: expected 'secret' or 'select' or 'text', found 'choice'",
        ),
        ("title = 'x'", 'an agent is either a model = "openai:gpt-5", or a program'),
        (MODEL + "acp = 'x'", "not both"),
        ("model = 'gpt'", "'gpt' is not the name of a model: expected SERVICE:NAME"),
        ("acp = 'x'\ntools = ['workspace']", "tools: a program (acp) brings its own"),
        ('acp = "\'x"', "is not a command"),
        (
            "acp = 'x'\n[mcp.y]\ncommand = 'z'\ntrust = true",
            "mcp.y.trust: the program (acp) decides how it uses the server",
        ),
        ("acp = 'x'\n[mcp.y]", "mcp.y: MCP server 'y' needs either a command or a url"),
        (MODEL + "mode = 'x'", "mode: only a program"),
        (MODEL + "cwd = 'x'", "cwd: only a program (acp, or an [mcp] server) takes it"),
        (
            MODEL + "tools = ['files']",
            'tools[0]: expected "workspace", "module:function" or "file.py:function"',
        ),
        (MODEL + "[mcp.x]", "mcp.x: MCP server 'x': give either a command to run or a url, not both"),
        (MODEL + "[options.o]\ntype = 'select'", "options.o: a select needs choices"),
        (MODEL + "[options.o]\nchoices = ['a']", 'options.o.choices: only type = "select" has choices'),
        (
            MODEL + "[options.o]\ntype = 'secret'\ndefault = 'x'",
            "options.o.default: a secret cannot have a default",
        ),
        (
            MODEL + "[options.o]\ntype = 'select'\nchoices = ['a']\ndefault = 'b'",
            "option 'o': default 'b' is not one of ('a',)",
        ),
        (
            MODEL + "system = 'x'\nsystem_file = 'y'",
            "system_file: there is also a system; use only one of them",
        ),
        (MODEL + "system_file = 'none.md'", "cannot be read: No such file or directory"),
        (MODEL + "tools = ['workspace']\nsubagents = ['run']", "two tools are called 'run'"),
        ("agents = 5", "agents: expected a table for each agent: [agents.NAME]"),
        ("[agents.'a b']\n" + MODEL, "agents.a b: 'a b' is not a valid agent name"),
        ("port = 1\n[agents.a]\n" + MODEL, "port: there is no such key; there are agents"),
        ("model = ", "it is not TOML: "),
    ],
)
def test_an_error_names_its_location_and_what_would_be_right(
    tmp_path: Path, text: str, sentence: str
) -> None:
    assert sentence in refused(tmp_path, text)


def test_python_tools_are_found_next_to_the_file_and_missing_ones_named(tmp_path: Path) -> None:
    (tmp_path / "extra.py").write_text("def ping() -> str:\n    return 'pong'\n\nboth = [ping]\nnumber = 5\n")
    file = tmp_path / "a.toml"
    file.write_text(MODEL + 'tools = ["extra.py:both", "agenthost.tools.workspace:read_file"]')
    (agent,) = load_agents([str(file)])
    assert list(agent.toolset) == ["ping", "read_file"]
    for name, sentence in [
        ("extra.py:none", "tools[0]: there is no none in "),
        ("extra.py:number", "tools[0]: number in extra.py is not a tool, but of type int"),
        ("missing.py:x", "there is no file "),
        ("no_such_module_x:y", "there is no module no_such_module_x"),
    ]:
        file.write_text(MODEL + f'tools = ["{name}"]')
        with pytest.raises(LoadError, match=r"there is no|is not a tool") as caught:
            load_agents([str(file)])
        assert sentence in str(caught.value)


def test_a_folder_means_all_its_files_and_subagents_must_exist(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(MODEL + 'subagents = ["a"]')
    (tmp_path / "a.toml").write_text(MODEL)
    (tmp_path / "notes.txt").write_text("not an agent")
    assert [agent.name for agent in load_agents([str(tmp_path)])] == ["a", "b"]
    (tmp_path / "a.toml").unlink()
    with pytest.raises(LoadError, match=r"b\.toml: subagents: there is no agent 'a'; there are no others"):
        load_agents([str(tmp_path)])
    (tmp_path / "b.toml").unlink()
    with pytest.raises(LoadError, match=r"it has no \.toml files"):
        load_agents([str(tmp_path)])
    with pytest.raises(LoadError, match="cannot be read: No such file or directory"):
        load_agents([str(tmp_path / "none.toml")])


def test_two_agents_of_one_name_are_refused_with_both_files(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.toml").write_text(MODEL)
    with pytest.raises(LoadError, match=r"two agents are called 'same': .*x/same\.toml and .*y/same\.toml"):
        load_agents([str(tmp_path / "x"), str(tmp_path / "y")])
