"""`agenthost serve`: how agents are found in files and modules, and what is refused."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthost.cli.agent_files import LoadError, load_agents
from serving import ECHO, run_serve, serving, wait_ready

HOST = """
from agenthost.host.host import Host

host = Host()

@host.agent("one")
async def one(turn):
    pass

@host.agent("two")
async def two(turn):
    pass

host.serve(port=1)
"""


@pytest.fixture(autouse=True)
def _restore_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("_agenthost_file_", "shop")):
            del sys.modules[name]


def write(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


def names_in(*files: str) -> list[str]:
    return [agent.name for agent in load_agents(files)]


def test_agents_in_a_file_and_in_its_host_are_found_in_order(tmp_path: Path) -> None:
    assert names_in(write(tmp_path, "a.py", HOST), write(tmp_path, "b.py", ECHO)) == ["one", "two", "echo"]


def test_a_call_of_serve_in_a_loaded_file_does_nothing(tmp_path: Path) -> None:
    assert names_in(write(tmp_path, "a.py", HOST + "after = True\n")) == ["one", "two"]


def test_an_agent_that_is_found_twice_is_served_once(tmp_path: Path) -> None:
    again = write(
        tmp_path,
        "a.py",
        ECHO + "again = echo\nfrom agenthost.host.host import Host\nhost = Host()\nhost.add(echo)\n",
    )
    assert names_in(again, again) == ["echo"]


def test_files_may_import_modules_next_to_them(tmp_path: Path) -> None:
    write(tmp_path, "shop_parts.py", ECHO)
    assert names_in(write(tmp_path, "my-agent.py", "from shop_parts import echo")) == ["echo"]


def test_a_file_is_imported_as_a_module_and_not_run_as_main(tmp_path: Path) -> None:
    text = ECHO + "import sys\nassert sys.modules[__name__].echo is echo\nassert __name__ != '__main__'\n"
    assert names_in(write(tmp_path, "a.py", text)) == ["echo"]


def test_modules_are_found_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "shop/__init__.py", "")
    write(tmp_path, "shop/agents.py", ECHO)
    monkeypatch.chdir(tmp_path)
    assert names_in("shop.agents") == ["echo"]


def test_two_agents_with_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.py", ECHO), write(tmp_path, "b.py", ECHO.replace("echo =", "other ="))
    with pytest.raises(LoadError) as caught:
        load_agents([first, second])
    assert str(caught.value) == (
        f"two agents are called 'echo': `echo` in {first} and `other` in {second}; rename one of them"
    )


def test_two_agents_whose_names_differ_only_in_case_are_refused_with_both_places(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.py", ECHO), write(tmp_path, "b.py", ECHO.replace('"echo"', '"Echo"'))
    with pytest.raises(LoadError) as caught:
        load_agents([first, second])
    assert str(caught.value) == (
        "the names of two agents differ only in case: "
        f"'echo', `echo` in {first}, and 'Echo', `echo` in {second}; rename one of them"
    )


def refused(*words: str) -> tuple[str, str]:
    with pytest.raises(LoadError) as caught:
        load_agents(words)
    return str(caught.value), caught.value.trace


def test_a_missing_file_module_or_agent_is_named(tmp_path: Path) -> None:
    assert refused(f"{tmp_path}/x.py")[0] == f"there is no file {tmp_path}/x.py"
    assert refused(f"{tmp_path}/none/")[0] == f"there is no file {tmp_path}/none/"
    sentence = "there is no module shop.nothing; the name of a file ends in .py"
    assert refused("shop.nothing") == (sentence, "")
    file = write(tmp_path, "empty.py", "x = 5")
    sentence = f"{file} has no agents; it needs an `Agent` or a `Host` at its top level"
    assert refused(file) == (sentence, "")
    other = write(tmp_path, "agent.txt", ECHO)
    assert refused(other)[0] == f"{other} is not a Python file: its name must end in .py"


def test_a_file_that_raises_is_refused_with_the_traceback_of_its_own_code(tmp_path: Path) -> None:
    write(tmp_path, "shop_broken.py", "def open():\n    raise OSError('closed')\n")
    text = "import shop_broken\ntry:\n    shop_broken.open()\nexcept OSError as e:\n"
    text += "    raise ValueError('no') from e\n"
    file = write(tmp_path, "a.py", text)
    sentence, trace = refused(file)
    assert sentence == f"{file} cannot be loaded: it raises ValueError"
    assert trace.endswith("ValueError: no\n")
    assert "OSError: closed" in trace
    places = [line for line in trace.splitlines() if line.startswith("  File ")]
    assert len(places) == 3
    assert all(str(tmp_path) in line for line in places)


@pytest.mark.parametrize(
    ("text", "kind", "last"),
    [
        ("def (", "SyntaxError", "SyntaxError: invalid syntax\n"),
        (
            "import shop_missing",
            "ModuleNotFoundError",
            "ModuleNotFoundError: No module named 'shop_missing'\n",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_with_the_line(
    tmp_path: Path, text: str, kind: str, last: str
) -> None:
    file = write(tmp_path, "a.py", text)
    sentence, trace = refused(file)
    assert sentence == f"{file} cannot be loaded: it raises {kind}"
    assert trace.endswith(last)
    assert f'File "{file}", line 1' in trace
    assert "importlib" not in trace


def test_a_file_that_exits_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "a.py", "raise SystemExit(0)")
    assert refused(file)[0] == f"{file} cannot be loaded: it ends the program (SystemExit: 0)"


def test_a_file_that_cannot_be_loaded_exits_with_2(tmp_path: Path) -> None:
    file = write(tmp_path, "a.py", "1 / 0")
    done = run_serve(file, "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith(f"agenthost: {file} cannot be loaded: it raises ZeroDivisionError\n")
    assert "agent_files.py" not in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("words", "over", "sentence"),
    [
        (["--port", "x"], {}, "--port: expected a whole number from 0 to 65535, found 'x'"),
        (
            [],
            {"AGENTHOST_LOG_LEVEL": "x"},
            "AGENTHOST_LOG_LEVEL: expected debug, info, warning or error, found 'x'",
        ),
        (["nothing.py"], {}, "there is no file nothing.py"),
    ],
)
def test_a_wrong_setting_or_file_exits_with_2(words: list[str], over: dict[str, str], sentence: str) -> None:
    done = run_serve(*words, **over)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"agenthost: {sentence}\n")


def test_the_environment_and_the_file_set_what_options_do_not(tmp_path: Path) -> None:
    config = write(
        tmp_path, "agenthost.toml", f'data = "kept"\nworkspace = "{tmp_path}"\nlog_format = "json"\n'
    )
    file = write(tmp_path, "echo.py", ECHO)
    with serving(file, AGENTHOST_CONFIG=config, AGENTHOST_PORT="1") as served:
        url = served.wait_url()
        assert served.out.wait_for("data").split() == ["data", str(tmp_path / "kept")]
        wait_ready(url)
        assert served.stop(signal.SIGTERM) == 0
        assert '"logger": "agenthost.server"' in served.err.rest()[0]
    assert (tmp_path / "kept").is_dir()


def test_help_imports_no_server() -> None:
    code = "import sys, agenthost.cli; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"asyncio", "uvicorn", "starlette", "prometheus_client", "msgspec"} & set(loaded.split())
