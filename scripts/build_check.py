"""Builds the wheel, installs it in a clean place and starts it, to test what users get.

A wheel contains the page, or its build fails: this is tested with the files of a fresh clone.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("src", "agenthost", "edges", "page", "static")
UV = str(Path(sys.executable).parent / "uv")
BUILD = [UV, "build", "--no-build-isolation", "--out-dir"]
EDITABLE = "from hatchling.build import build_editable; build_editable('editable')"
REFUSED = "build it with `./run page` first"


def run(*command: str) -> str:
    """Run a command; its output, or an error that shows it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def clone(folder: Path) -> Path:
    """Copy what git knows, or would take: no page, and nothing else that was built."""
    listed = run("git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard")
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def check_refusal(source: Path, out: str, why: str) -> None:
    """See that neither a wheel nor an sdist is built, and that the way out is told."""
    for kind in ("--wheel", "--sdist"):
        command = [*BUILD, out, kind, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = done.stdout + done.stderr
        if not done.returncode or REFUSED not in told:
            sys.exit(f"{kind[2:]} of a clone {why} should be refused with what to do, but:\n{told}")


def check_clone(folder: Path) -> None:
    """See what can be built of a fresh clone: an editable install, and nothing for others."""
    fresh = clone(folder / "clone")
    check_refusal(fresh, str(folder / "refused"), "without the page")
    run("sh", "-c", f'cd "$0" && "{sys.executable}" -c "{EDITABLE}"', str(fresh))
    (fresh / PAGE).mkdir()
    (fresh / PAGE / "index.html").write_text("of other sources")
    check_refusal(fresh, str(folder / "refused"), "with an old page")


def check_wheel(folder: Path) -> str:
    """Build, install and start it; from the sdist, as others may."""
    run(*BUILD, str(folder), "--sdist", str(ROOT))
    run(*BUILD, str(folder), "--wheel", str(next(folder.glob("*.tar.gz"))))
    wheel = next(folder.glob("*.whl"))
    home = folder / "venv"
    venv.create(home)
    python = str(home / "bin" / "python")
    run(UV, "pip", "install", "--quiet", "--python", python, str(wheel))
    version = run(str(home / "bin" / "agenthost"), "--version").strip()
    typed = Path(run(python, "-c", "import agenthost; print(agenthost.__path__[0])").strip())
    for part in ("py.typed", "edges/page/static/index.html"):
        if not (typed / part).exists():
            sys.exit(f"the wheel lacks {part}")
    return f"{wheel.name} installs with the page and says: {version}"


def main() -> None:
    """Check all of it; without a page, that nothing is built."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_clone(folder)
        if (ROOT / PAGE / "index.html").exists():
            print(check_wheel(folder))
        else:
            print("no wheel: the page was not built, and without it none is")


if __name__ == "__main__":
    main()
