"""The package as a user meets it."""

import subprocess
import sys

import agenthost
import agenthost.client


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_public_names_are_these() -> None:
    assert agenthost.__all__ == [
        "Agent",
        "Answers",
        "Call",
        "CallInput",
        "Choice",
        "Command",
        "Decision",
        "Host",
        "HostError",
        "InvalidValue",
        "Limits",
        "Model",
        "ModelAgent",
        "NotJson",
        "Note",
        "Option",
        "Question",
        "ReportedCall",
        "Result",
        "Scope",
        "Stop",
        "StorageError",
        "SuggestQuery",
        "Suggestion",
        "Text",
        "Thought",
        "TooLarge",
        "Tool",
        "ToolContext",
        "ToolError",
        "ToolResult",
        "ToolSource",
        "Turn",
        "Usage",
        "__version__",
        "tool",
    ]


def test_every_public_name_is_there_and_documented() -> None:
    for name in set(agenthost.__all__) - {"__version__"}:
        assert getattr(agenthost, name).__doc__, name
    assert dir(agenthost) == sorted(agenthost.__all__)


def test_importing_the_package_pulls_in_no_server_and_no_command_line() -> None:
    loaded = run_python("import sys, agenthost; print(' '.join(sys.modules))").split()
    heavy = {"asyncio", "http", "sqlite3", "starlette", "typer", "uvicorn", "websockets", "msgspec"}
    assert not heavy & set(loaded)


def test_importing_the_wire_and_the_core_pulls_in_no_server() -> None:
    code = "import sys, agenthost.core.replica, agenthost.wire.aap.v1; print(' '.join(sys.modules))"
    assert not {"asyncio", "http", "sqlite3", "starlette", "typer"} & set(run_python(code).split())


def test_each_client_is_loaded_without_what_only_the_other_needs() -> None:
    for client, others in (("ahp", {"httpx"}), ("aap.client", {"websockets"})):
        code = f"import sys, agenthost.client.{client}; print(' '.join(sys.modules))"
        assert not others & set(run_python(code).split())


def test_every_name_of_the_clients_is_there() -> None:
    assert all(getattr(agenthost.client, name) is not None for name in agenthost.client.__all__)
