"""A build hook: a wheel or sdist contains the page, built from the current sources, or the build fails."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/agenthost/edges/page/static"

HOW = "build it with `./run page` first, which takes Node.js 20.19 or newer"


class PageHook(BuildHookInterface[Any]):
    """Looks whether the page was built; an editable install, as `./run` makes one, does without."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Refuse to build a wheel or an sdist without the page.

        Raises:
            RuntimeError: it was not built, or its sources have changed since.
        """
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / PAGE / "index.html").is_file():
            raise RuntimeError(f"agenthost: the page is missing in {PAGE}: {HOW}")
        if not is_current(root):
            raise RuntimeError(f"agenthost: the page in {PAGE} is not of these sources any more: {HOW}")


def is_current(root: Path) -> bool:
    """Return whether the page is of the sources as they are; one that came packed with them is."""
    if (root / "PKG-INFO").is_file():
        return True
    script = '. "$root/scripts/setup.sh"; is_page_built'
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        env={"root": str(root), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        check=False,
    )
    return done.returncode == 0
