"""`./run` and `./check` on machines that lack something, and on those that are set up."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ["sh", "dirname", "readlink", "cmp", "flock", "cat", "date", "grep", "tail"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make a copy of the scripts without `.venv`, and a PATH with the plainest tools and no Python."""
    for name in ("run", "check"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


@pytest.fixture
def ready(bare: Path) -> Path:
    """Make it as if `.venv` was set up, with a server that only says so, and a page to build."""
    (bare / ".venv" / "bin").mkdir(parents=True)
    write_script(bare / ".venv" / "bin" / "agenthost", 'echo "serves"')
    shutil.copy(bare / "requirements" / "run.lock", bare / ".venv")
    (bare / "web" / "src").mkdir(parents=True)
    (bare / "web" / "src" / "main.tsx").write_text("1")
    (bare / "src" / "agenthost" / "edges" / "page").mkdir(parents=True)
    for tool in ("cksum", "cp", "find", "mkdir", "mv", "rm", "sort", "xargs"):
        (bare / "bin" / tool).symlink_to(str(shutil.which(tool)))
    return bare


def write_script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def start(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(folder / "bin")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", ["./run", "./check"])
def test_without_python_it_says_what_is_missing(bare: Path, script: str) -> None:
    done = start(bare, script)
    assert done.returncode == 1
    assert "agenthost needs Python 3.11 or newer; found:" in done.stderr
    assert "apt-get install python3" in done.stderr


@pytest.mark.parametrize("script", ["./run", "./check"])
def test_with_a_python_that_is_too_old_it_names_it(bare: Path, script: str) -> None:
    old = bare / "bin" / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = start(bare, script)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer; found: Python 3.9.2." in done.stderr


def test_a_python_that_cannot_make_environments_is_explained(bare: Path) -> None:
    crippled = bare / "bin" / "python3"
    crippled.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\necho "No module named venv" >&2\nexit 1\n')
    crippled.chmod(0o755)
    done = start(bare, "./run")
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert "the set-up failed" in done.stderr


def test_run_works_from_any_folder_and_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "agenthost"
    link.symlink_to(ROOT / "run")
    done = subprocess.run([link, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("agenthost ")


NPM = """
echo "$@" >> ../npm.log
case "$*" in
install*) mkdir -p node_modules; echo x > package-lock.json ;;
*build*) mkdir "${*##*--outDir }"; echo page > "${*##*--outDir }/index.html" ;;
esac
"""


def test_serving_builds_the_page_when_its_sources_have_changed_and_not_else(ready: Path) -> None:
    write_script(ready / "bin" / "npm", NPM)
    page = ready / "src" / "agenthost" / "edges" / "page" / "static" / "index.html"
    assert start(ready, "./run", "ask").stderr == ""
    assert not page.exists()
    first = start(ready, "./run", "serve")
    assert (first.returncode, first.stdout) == (0, "serves\n")
    assert "building the page" in first.stderr
    assert page.read_text() == "page\n"
    page.write_text("as it was")
    again = start(ready, "./run", "serve")
    assert (again.stdout, again.stderr, page.read_text()) == ("serves\n", "", "as it was")
    (ready / "web" / "src" / "main.tsx").write_text("2")
    assert "building the page" in start(ready, "./run", "serve").stderr
    assert page.read_text() == "page\n"


def test_the_page_can_be_built_alone(ready: Path) -> None:
    failed = start(ready, "./run", "page")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "the page could not be built (that takes Node.js 20.19 or newer)" in failed.stderr
    write_script(ready / "bin" / "npm", NPM)
    assert start(ready, "./run", "page").returncode == 0
    assert (ready / "src" / "agenthost" / "edges" / "page" / "static" / "index.html").exists()


def test_npm_says_nothing_of_newer_versions_of_itself(ready: Path) -> None:
    notice = '[ "${npm_config_update_notifier:-}" = false ] || echo "npm notice New major version" >&2\n'
    write_script(ready / "bin" / "npm", notice + NPM)
    done = start(ready, "./run", "serve")
    assert "building the page" in done.stderr
    assert "notice" not in done.stderr


def test_run_is_the_python_of_the_environment_too(ready: Path) -> None:
    write_script(ready / ".venv" / "bin" / "python", 'echo "$_AGENTHOST_CALLED_AS $@"')
    assert start(ready, "./run", "python", "a file.py", "1").stdout == "./run a file.py 1\n"


@pytest.mark.parametrize("npm", ["exit 1", None], ids=["fails", "missing"])
def test_a_page_that_cannot_be_built_keeps_nobody_from_serving(ready: Path, npm: str | None) -> None:
    if npm is not None:
        write_script(ready / "bin" / "npm", npm)
    done = start(ready, "./run", "serve")
    assert (done.returncode, done.stdout) == (0, "serves\n")
    assert "the page could not be built" in done.stderr


def test_check_refuses_a_word_that_it_does_not_know() -> None:
    done = subprocess.run([ROOT / "check", "quick"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: ./check [fast | long]\n")


def test_nothing_that_is_committed_names_a_machine_or_a_package_index() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    hosts = ("pypi." + "org", "pythonhosted" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org")
    places = ("/" + "work/", "/" + "root/", "/" + "home/")
    for name in listed.splitlines():
        text = (ROOT / name).read_text(errors="replace")
        assert [word for word in (*hosts, *places) if word in text] == [], name


def test_every_dependency_is_locked() -> None:
    """One that is named but not locked would be missing on a fresh machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    for lock, named in {"run": groups["run"], "check": [*groups["run"], *groups["check"]]}.items():
        wanted = [entry for entry in (*project["project"]["dependencies"], *named) if type(entry) is str]
        locked = re.findall(
            r"^([a-z0-9-]+)==", (ROOT / "requirements" / f"{lock}.lock").read_text(), re.MULTILINE
        )
        assert {re.split(r"[><=]", entry)[0] for entry in wanted} <= set(locked)


def test_the_installer_is_pinned_by_version_and_hash() -> None:
    pinned = (ROOT / "requirements" / "uv.lock").read_text()
    assert re.match(r"uv==\d+\.\d+\.\d+ \\\n    --hash=sha256:[0-9a-f]{64}", pinned)
    install = (ROOT / "scripts" / "setup.sh").read_text()
    (command,) = re.findall(r"-m pip install [^|]*", install)
    assert "--require-hashes" in command
    assert "requirements/uv.lock" in command
