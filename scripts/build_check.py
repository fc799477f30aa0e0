"""Builds the wheel, installs it where nothing of this folder is, and starts it: what a user gets."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "src" / "agenthost" / "edges" / "page" / "static" / "index.html"
UV = str(Path(sys.executable).parent / "uv")


def run(*command: str) -> str:
    """Run a command; its output, or an error that shows it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Build, install, start."""
    with tempfile.TemporaryDirectory() as folder:
        run(UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", folder, str(ROOT))
        wheel = next(Path(folder).glob("*.whl"))
        home = Path(folder, "venv")
        venv.create(home)
        python = str(home / "bin" / "python")
        run(UV, "pip", "install", "--quiet", "--python", python, str(wheel))
        version = run(str(home / "bin" / "agenthost"), "--version").strip()
        typed = run(python, "-c", "import agenthost; print(agenthost.__path__[0])").strip()
        if not Path(typed, "py.typed").exists():
            sys.exit("the wheel lacks py.typed")
        has_page = Path(typed, "edges", "page", "static", "index.html").exists()
        if has_page != BUILT.exists():
            sys.exit("the wheel lacks the page, though it was built")
        page = "with the page" if has_page else "without the page, which was not built"
        print(f"{wheel.name} ({page}) installs and says: {version}")


if __name__ == "__main__":
    main()
