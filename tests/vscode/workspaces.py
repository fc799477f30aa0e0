"""A folder with something to work on."""

from pathlib import Path

__all__ = ["fill"]

APP = """\
def main() -> None:
    print("hello")


main()
"""


def fill(folder: Path) -> Path:
    """Make a folder with some files."""
    folder.mkdir(parents=True)
    (folder / "app.py").write_text(APP)
    (folder / "README.md").write_text("# A project\n\nSome words.\n")
    return folder
