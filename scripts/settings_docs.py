"""Writes the tables of docs/settings.md from the declarations. `--check` only says whether they are stale."""

import inspect
import re
import sys
from dataclasses import fields
from itertools import groupby
from pathlib import Path

from agenthost.host.limits import Limits
from agenthost.settings import SETTINGS, Setting
from agenthost.settings.kinds import Choice, Flag, Number

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
MARKERS = re.compile(r"(<!-- settings: begin -->\n).*(<!-- settings: end -->\n)", re.DOTALL)


def tables() -> str:
    """Return a table for each group of settings, and one for the limits."""
    parts = []
    for group, members in groupby(SETTINGS.values(), key=lambda one: one.group):
        settings = [one for one in members if one.name != "limits"]
        rows = [_row(one) for one in settings]
        head = "| option | variable | key in the file | default | |\n| --- | --- | --- | --- | --- |\n"
        parts.append(f"## {group}\n\n" + (head + "".join(rows) if rows else _limits()))
    return "\n".join(parts)


def _row(setting: Setting) -> str:
    key = (setting.metavar or f"[{setting.name}]") if setting.is_table else setting.name
    option = "" if setting.is_table else f"`{setting.option}`"
    variable = "" if setting.is_table else f"`{setting.variable}`"
    cells = [option, variable, f"`{key}`" if setting.is_in_file else "", _default(setting), _meaning(setting)]
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def _default(setting: Setting) -> str:
    if isinstance(setting.kind, Flag):
        return f"`{str(setting.default).lower()}`"
    if setting.default_text or not setting.shown_default:
        return setting.default_text or "none"
    return f"`{setting.shown_default}`"


def _meaning(setting: Setting) -> str:
    values = ""
    if isinstance(setting.kind, Choice):
        values = f"One of {', '.join(f'`{word}`' for word in setting.kind.words)}."
    elif isinstance(setting.kind, Number):
        values = f"{setting.kind.expected[:1].upper()}{setting.kind.expected[1:]}."
    return " ".join(part for part in (setting.summary, values, setting.notes) if part)


def _limits() -> str:
    attributes = (inspect.getdoc(Limits) or "").partition("Attributes:")[2]
    found = re.findall(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", attributes, re.MULTILINE)
    meanings = {name: " ".join(text.split()) for name, text in found}
    rows = [
        f"| `{one.name}` | `{one.default:_}` | {meanings[one.name][:1].upper()}{meanings[one.name][1:]} |\n"
        for one in fields(Limits)
    ]
    return "The table `[limits]` of the file; from Python, `Host(limits=Limits(…))`.\n\n" + (
        "| key | default | |\n| --- | --- | --- |\n" + "".join(rows)
    )


def main() -> int:
    """Write the page, or check it; return the exit code."""
    before = PAGE.read_text()
    after = MARKERS.sub(lambda found: f"{found[1]}\n{tables()}\n{found[2]}", before)
    if "--check" in sys.argv[1:]:
        if after != before:
            print("docs/settings.md is stale; run: ./run python scripts/settings_docs.py", file=sys.stderr)
        return int(after != before)
    PAGE.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
