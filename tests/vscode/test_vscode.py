"""The real VS Code against a host, in a real browser. The long form, to look at, is `./run vscode`.

One story, as VS Code takes longer to start than most steps. `story.py` has them, each with a sentence.
Pictures of what was on the screen are in the folder of the test.
"""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from journeys import fill_workspace
from picturing import keep_small, pictures_folder
from vscode.editor import editing
from vscode.hosts import RunningHost
from vscode.installation import Installation
from vscode.story import STEPS, tell
from vscode.window import opened
from vscode.workspaces import fill

CODER = Path(__file__).parents[1] / "page_coder.py"

pytestmark = pytest.mark.long


def test_vs_code_does_with_a_host_what_people_do(tmp_path: Path, installation: Installation) -> None:
    done: list[str] = []
    work = fill(tmp_path / "work")
    with (
        RunningHost(tmp_path, work) as host,
        editing(installation, tmp_path / "editor", host.url, host.token, work) as url,
        opened(url, tmp_path / "pictures") as window,
    ):
        tell(window, host, done.append)
    assert len(done) == len(STEPS)


def test_picture_of_an_edit_that_waits_in_vs_code(tmp_path: Path, installation: Installation) -> None:
    """AGENTHOST_PICTURES=docs/images makes that of the documentation."""
    work = fill_workspace(tmp_path / "work")
    with (
        RunningHost(tmp_path, work, CODER) as host,
        editing(installation, tmp_path / "editor", host.url, host.token, work) as url,
        opened(url, pictures_folder(tmp_path)) as window,
    ):
        window.page.set_viewport_size({"width": 1280, "height": 800})
        window.wait_agents("Coder")
        window.choose("Coder")
        window.say("Make the greeting test pass")
        expect(window.confirmation).to_contain_text("1 file changed")
        window.widen_chat(120)
        window.show_changes()
        expect(window.changes.filter(has_text="world").first).to_be_visible()
        keep_small(window.picture("vscode"))
