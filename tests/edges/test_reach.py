"""How far an edge reaches: to the host and its client, and not through them into the parts of the host."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from imports import PACKAGE, tree

EDGES = sorted((PACKAGE / "edges").rglob("*.py"))
COMMANDS = sorted((PACKAGE / "cli").rglob("*.py"))

EDGES_IMPORT: dict[str, set[str]] = {
    # The ways in.
    "client": {"HostClient"},
    "forwarding": {"Choices"},
    "host": {"Host"},
    # Who is let in.
    "access.caller": {"ANYBODY", "Caller"},
    "access.identity": {"Identity"},
    "access.keys": {"KeyRing", "Keys"},
    "access.token_file": {"TOKEN", "SharedToken", "Token", "TokenFile"},
    "store_address": {"StoreAddress", "is_near"},
    # What goes in.
    "sessions.action_source": {"ClientAction"},
    "sessions.dispatch": {"public_reason"},
    "sessions.new_session": {"NewSession"},
    "chats": {"NewChat"},
    "state.senders": {"Sender"},
    # What comes out.
    "log.entries": {"first_line", "legacy_lines"},
    "log.line": {"Mark"},
    "log.subscriptions": {"LogItem", "Subscriber"},
    "log.text_runs": {"TextRun", "run_of", "unpack"},
    "log.stats": {"COMMIT_SECONDS", "GROUP_SIZES", "JournalStats"},
    "counters": {"NodeCounters"},
    "sessions.list_notices": {"Added", "Changed", "Notice", "Removed"},
    "files.watches.watch": {"ResourceWatch"},
    "state.feed": {"Feed", "View"},
    "state.pages": {"Pages"},
    "state.private": {"Private", "with_values"},
    "state.session": {"Session", "TranscriptEntry"},
    "state.turn_loads": {"Views"},
    "storage": {"ROOT", "Entry", "SessionRow"},
    # Other nodes of the host.
    "cluster.channels": {"MAX_FRAME", "MAX_GREETING", "ChannelClosed"},
    "cluster.peers": {"Peers"},
    "cluster.websocket": {"PEER_PATH", "PeerOptions"},
    # What agents declare.
    "authoring.agent": {"Agent"},
    "authoring.options": {"Option"},
    "authoring.tool": {"Tool"},
    "limits": {"Limits"},
    # Functions that know no host.
    "lifecycle": {"new_id"},
    "sandbox.environment": {"forbid_inspection", "hide_argument", "hide_secrets"},
    "sessions.session_options": {"option_values"},
    "sessions.tool_access": {"is_trusted_always"},
    "state.redaction": {"SECRET_KEYS", "redact"},
    "storage.cursors": {"decode_cursor", "encode_cursor"},
    "storage.data_folder": {"mode_for_others"},
}
"""All that edges import of the host."""

COMMANDS_IMPORT: dict[str, set[str]] = {
    "host": {"Host"},
    "access.documents": {"Document", "FileDocument"},
    "access.keys": {"FILE", "KEYS", "ApiKey", "KeyFile", "KeyNotFound", "KeyRing"},
    "access.token_file": {"TOKEN", "Token", "TokenFile"},
    "access.vault": {"FILE", "VARIABLE"},
    "store_address": {"StoreAddress", "parse_address"},
    "authoring.agent": {"Agent"},
    "files.grants": {"FilePolicy"},
    "programs.command": {"parse_command"},
    "sandbox.environment": {"hide_argument"},
    "sandbox.policy": {"SandboxPolicy"},
    # A store that no host has open.
    "offline": {"cancel_turn"},
    "storage.copying": {"CopiedStore", "copy_store"},
    "storage.data_folder": {"DataFolder", "sync_folder"},
    "storage.postgres.node_list": {"ListedNode"},
    "storage.stores": {"drain_node", "migrate_store", "shared_documents", "shared_nodes", "shared_store"},
    "storage.integrity": {"Report", "examine"},
    "storage.repair": {"repair"},
    "storage.sqlite": {"FILE", "SqliteStorage"},
}
"""All that the command line imports of the host."""

PARTS = {"dispatcher", "engine", "hub", "journal", "lifecycle", "parts", "storage", "vault"}
"""What stands between an edge and what it wants, if it goes through the host."""


def names(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imported(files: list[Path]) -> dict[str, set[str]]:
    """Return the names that files import from modules of the host."""
    found: dict[str, set[str]] = {}
    for node in (node for path in files for node in ast.walk(tree(path))):
        if isinstance(node, ast.Import):
            assert not [one.name for one in node.names if one.name.startswith("agenthost.host")]
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("agenthost.host."):
            module = str(node.module).removeprefix("agenthost.host").removeprefix(".")
            found.setdefault(module, set()).update(one.name for one in node.names)
    return found


def attributes(path: Path) -> Iterator[ast.Attribute]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute))


def is_session(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("session", "_session")


def test_edges_import_these_of_the_host() -> None:
    assert imported(EDGES) == EDGES_IMPORT


def test_the_command_line_imports_these_of_the_host() -> None:
    assert imported(COMMANDS) == COMMANDS_IMPORT


@pytest.mark.parametrize("path", [*EDGES, *COMMANDS], ids=names)
def test_nobody_reaches_through_the_host_into_its_parts(path: Path) -> None:
    assert {node.attr for node in attributes(path)} & PARTS == set()


@pytest.mark.parametrize("path", EDGES, ids=names)
def test_an_edge_changes_no_session_by_itself(path: Path) -> None:
    calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    called = [one for one in calls if isinstance(one, ast.Attribute) and is_session(one.value)]
    assert [ast.unparse(one) for one in called] == []
    written = [
        node for node in attributes(path) if isinstance(node.ctx, ast.Store) and is_session(node.value)
    ]
    assert [ast.unparse(one) for one in written] == []
