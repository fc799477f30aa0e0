"""The documents are true where a test can tell: links lead somewhere, and what they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "agenthost"
DOCS = ROOT / "docs"
DESIGN = (DOCS / "architecture.md").read_text()
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "web" / "README.md",
    *sorted(DOCS.rglob("*.md")),
]
TREE = re.findall(r"```text\nsrc/agenthost/\n(.*?)```", DESIGN, re.DOTALL)[0]
MAX_GLOSSARY_LINES = 60
NEVER_WRITTEN = {27, 28}  # numbers of decisions that were never used


def named(text: str) -> set[str]:
    """Return the modules and packages that a text names."""
    return set(re.findall(r"\b[a-z_0-9]+(?:\.py|/)", text))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_tree_of_the_design_has_every_part_of_the_package() -> None:
    parts = {one.name + "/" if one.is_dir() else one.name for one in SOURCE.iterdir()}
    assert parts - {"__main__.py", "__pycache__/", "py.typed"} <= named(TREE)


def test_the_tree_of_the_design_has_every_part_of_the_host() -> None:
    host = TREE[TREE.index("  host/") : TREE.index("  tools/")]
    parts = {one.name + "/" if one.is_dir() else one.name for one in (SOURCE / "host").iterdir()}
    assert parts - {"__init__.py", "__pycache__/"} <= named(host)


def test_the_tree_of_the_design_has_nothing_else() -> None:
    there = {one.name + "/" if one.is_dir() else one.name for one in SOURCE.rglob("*")}
    assert named(TREE) - there == set()


def test_packages_of_the_host_stand_after_those_that_they_import() -> None:
    host = TREE[TREE.index("  host/") : TREE.index("  tools/")]
    order = re.findall(r"^ {4}(\w+)/", host, re.MULTILINE)
    assert len(order) > 5
    for place, package in enumerate(order):
        texts = [path.read_text() for path in (SOURCE / "host" / package).rglob("*.py")]
        imported = {name for text in texts for name in re.findall(r"agenthost\.host\.(\w+)\.", text)}
        assert imported & set(order) <= set(order[: place + 1]), package


def test_paths_that_the_design_names_are_there() -> None:
    paths = re.findall(r"`((?:core|host|edges|wire|settings|tests)/[\w/]+(?:\.py)?)`", DESIGN)
    assert len(paths) > 10
    for path in paths:
        if path != "edges/page/static":  # made by a build
            assert (SOURCE / path).exists() or (ROOT / path).exists(), path


def test_classes_and_methods_that_the_design_names_are_there() -> None:
    sources = [path.read_text() for path in SOURCE.rglob("*.py")]
    for name, method in re.findall(r"`([A-Z]\w+)(?:\.(\w+))?", DESIGN):
        if name in ("POST", "Protocol"):
            continue
        homes = [text for text in sources if re.search(rf"^class {name}\b", text, re.MULTILINE)]
        assert homes, name
        assert not method or any(f"def {method}(" in text for text in homes), f"{name}.{method}"


def test_listeners_are_told_in_the_order_of_the_design() -> None:
    rows = re.findall(r"^\| `\w+\.(\w+)` \|", DESIGN, re.MULTILINE)
    added = re.findall(r"listeners\.add\(self\.\w+\.(\w+)", (SOURCE / "host" / "parts.py").read_text())
    assert rows == added


def test_the_glossary_is_a_page_and_is_linked() -> None:
    assert len((DOCS / "glossary.md").read_text().splitlines()) <= MAX_GLOSSARY_LINES
    assert "(glossary.md)" in DESIGN
    for page in ("README.md", "CONTRIBUTING.md"):
        assert "(docs/glossary.md)" in (ROOT / page).read_text()


def test_decisions_are_numbered_without_a_gap() -> None:
    files = sorted((DOCS / "decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in files]
    assert numbers == sorted(set(range(1, numbers[-1] + 1)) - NEVER_WRITTEN)
    for path, number in zip(files, numbers, strict=True):
        assert re.match(rf"# (0*){number}[.:] [A-Z]", path.read_text()), path.name


def test_a_change_is_one_line_for_users() -> None:
    for path in (ROOT / "changes").iterdir():
        assert re.fullmatch(r"[a-z\-]+\.(added|changed|fixed)\.md", path.name), path.name
        assert len(path.read_text().splitlines()) == 1, path.name
