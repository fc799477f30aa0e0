"""An agent that works on files: it renames a word in all files of the workspace, and asks before each edit.

Serve it with `./run serve examples/renamer.py --workspace FOLDER`. Each confirmation shows what would change.
"""

import re

from agenthost import Host, Turn
from agenthost.tools.workspace import edit_file, search

host = Host()


@host.agent("renamer", tools=[search, edit_file])
async def renamer(turn: Turn) -> None:
    """Rename a word in all files: say `OLD NEW`."""
    old, new = turn.text.split()
    found = await turn.call("search", pattern=rf"\b{re.escape(old)}\b", names_only=True)
    if found == "nothing was found":
        await turn.say(f"There is no {old} in the workspace.")
        return
    for path in found.splitlines():
        result = await turn.call("edit_file", path=path, old=old, new=new, all=True)
        await turn.say(f"{result}\n")


host.serve(port=8787)
