"""`scripts/vscode.sh` where it cannot do its work: it says why in a sentence, and leaves nothing behind."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = (
    *(
        "sh",
        "cat",
        "cmp",
        "dirname",
        "flock",
        "g++",
        "ls",
        "make",
        "mkdir",
        "mv",
        "nice",
        "python3",
        "readlink",
    ),
    *("rm", "sha512sum", "tail", "tar", "touch", "tr", "uname"),
)

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler here")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make a PATH with all that it needs except npm."""
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def write_npm(folder: Path, text: str) -> None:
    path = folder / "bin" / "npm"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def start(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(folder / "bin"), "XDG_CACHE_HOME": str(folder / "cache")}
    command: list[str | Path] = [ROOT / "scripts" / "vscode.sh", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def kept(folder: Path) -> list[str]:
    cache = folder / "cache" / "agenthost"
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock") if cache.exists() else []


def test_without_npm_it_says_what_to_install(bare: Path) -> None:
    done = start(bare)
    assert (done.returncode, done.stdout) == (1, "")
    assert "VS Code cannot be installed: there is no npm here" in done.stderr
    assert "apt-get install npm" in done.stderr
    assert kept(bare) == []


def test_a_registry_that_does_not_answer_is_told_with_what_npm_says(bare: Path) -> None:
    write_npm(bare, 'echo "npm error network timeout" >&2; exit 1')
    done = start(bare)
    assert (done.returncode, done.stdout) == (1, "")
    assert "npm error network timeout" in done.stderr
    assert "VS Code cannot be installed: npm does not get the package node-linux-" in done.stderr
    assert kept(bare) == []


def test_another_package_of_the_same_name_is_not_unpacked(bare: Path) -> None:
    write_npm(bare, "echo something else > other.tgz; echo other.tgz")
    done = start(bare)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not the one that was checked here." in done.stderr
    assert kept(bare) == []


def test_looking_installs_nothing_and_says_nothing(bare: Path) -> None:
    done = start(bare, "--installed")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert kept(bare) == []


def test_on_another_system_it_says_what_it_takes(bare: Path) -> None:
    (bare / "bin" / "uname").unlink()
    (bare / "bin" / "uname").write_text("#!/bin/sh\necho Plan9\n")
    (bare / "bin" / "uname").chmod(0o755)
    done = start(bare)
    assert done.returncode == 1
    assert "that takes Linux on x64 or arm64, and this is Plan9 on Plan9." in done.stderr
