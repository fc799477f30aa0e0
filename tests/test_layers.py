"""The layers of docs/architecture.md, held by reading the imports.

Every import counts: those for the type checker alone, those inside functions, and those by name. The tables
say what is imported, no more and no less, so whoever adds or drops an import between two parts changes the
table with it.
"""

import ast
import re

import pytest

from imports import (
    MODULES,
    PACKAGE,
    PACKAGES,
    between_children,
    find_cycle,
    graph,
    imports,
    loads,
    tree,
)

PARTS: dict[str, set[str]] = {
    "__init__": {"agents", "errors", "host"},
    "__main__": {"cli"},
    "__version__": set(),
    "errors": set(),
    "commands": set(),
    "locations": set(),
    "logs": set(),
    "threads": set(),
    "wire": {"errors"},
    "core": {"errors", "wire"},
    "host": {"core", "errors", "logs", "threads", "wire"},
    "settings": {"errors", "host", "locations"},
    "tools": {"__version__", "commands", "core", "errors", "host", "logs", "threads", "wire"},
    "agents": {"__version__", "commands", "core", "errors", "host", "logs", "threads", "tools", "wire"},
    "edges": {
        "__version__",
        "commands",
        "core",
        "errors",
        "host",
        "locations",
        "logs",
        "settings",
        "threads",
        "wire",
    },
    "client": {"core", "errors", "locations", "threads", "wire"},
    "cli": {
        "__version__",
        "agents",
        "client",
        "commands",
        "core",
        "edges",
        "errors",
        "host",
        "logs",
        "settings",
        "tools",
        "wire",
    },
}
"""What each part of the package imports of the others."""

HOST_MODULES = (
    "limits",
    "store_address",
    "counters",
    "task_limits",
    "client_files",
    "owner_view",
    "offline",
    "chats",
    "disposal",
    "lifecycle",
    "delegation",
    "parts",
    "forwarding",
    "client",
    "remote",
    "host",
)
"""The modules of `host` that are in no package. Each may import those before it, and any package."""

PROTOCOLS = ("aap", "ahp", "page")

EDGES: dict[str, set[str]] = {
    "aap": {"access", "connections", "health"},
    "ahp": {"access"},
    "page": {"access"},
    "app": {"aap", "access", "ahp", "cors", "health", "metrics", "page", "peer", "rates", "responses"},
}
"""What the protocols use of the other edges, and what is mounted."""

AHP_EDGE: dict[str, set[str]] = {
    "v0_1": {"connection", "files", "peer_context", "transport"},
    "v1": {"connection", "files", "peer_context", "subscription_options", "transport"},
    "negotiation": {"connection", "errors", "peers", "subscription_options", "transport", "v0_1", "v1"},
}
"""A version of AHP knows no other; the negotiation alone knows them all."""

CLIENT: dict[str, set[str]] = {
    "__init__": {"aap", "ahp", "tools"},
    "aap": {"address", "auth", "sync_wrapper", "tools"},
    "ahp": {"address", "auth", "tools"},
    "address": set(),
    "auth": set(),
    "sync_wrapper": set(),
    "tools": set(),
}

LOADED: dict[str, set[str | None]] = {
    # Public doors: the same names stand there for the type checker, as imports.
    "agenthost": {None},
    "agenthost.client": {None},
    "agenthost.agents.adapters": {None},
    # Modules of users.
    "agenthost.cli.agent_files": {None},
    # Libraries that are loaded when they are first needed.
    "agenthost.agents.model.agent": {"agenthost.agents.model.step", "agenthost.agents.model.summaries"},
    "agenthost.tools.mcp.server": {"agenthost.tools.mcp.connection"},
    "agenthost.host.storage.stores": {None},
    # `Host.serve`: the one import that points up.
    "agenthost.host.host": {"agenthost.edges.server"},
}
"""What is imported by name, while the program runs."""

PURE = {
    *("agenthost", "ast", "base64", "binascii", "codecs", "collections", "copy", "dataclasses"),
    *(
        "datetime",
        "difflib",
        "enum",
        "functools",
        "inspect",
        "itertools",
        "math",
        "msgspec",
        "operator",
        "re",
        "types",
        "typing",
    ),
}
"""What `wire` and `core` may import: nothing with a clock, chance, files or sockets."""


def test_the_parts_import_what_their_table_says() -> None:
    found = between_children("agenthost")
    assert {**found, "__version__": set()} == PARTS


@pytest.mark.parametrize("package", PACKAGES)
def test_the_children_of_a_package_form_no_cycle(package: str) -> None:
    assert find_cycle(between_children(package)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    by_name = {name: set(filter(None, LOADED.get(name, ()))) for name in MODULES}
    by_name["agenthost.host.host"] = set()  # `Host.serve` points up on purpose
    assert find_cycle({name: imported | by_name[name] for name, imported in graph().items()}) == []


def test_what_is_imported_by_name_is_written_down() -> None:
    found = {name: set(loads(path)) for name, path in MODULES.items() if loads(path)}
    assert found == LOADED


# The host


def host_packages() -> list[str]:
    return sorted(name.split(".")[2] for name in PACKAGES if re.fullmatch(r"agenthost\.host\.\w+", name))


def declared(package: str) -> set[str]:
    """Return what a package of the host says that it may import."""
    said = ast.get_docstring(tree(PACKAGE / "host" / package / "__init__.py")) or ""
    named = re.findall(r"May import: ([^.]*)\.", said)
    assert len(named) == 1, f"host/{package} does not say what it may import"
    return set() if named[0] == "no other package of the host" else set(named[0].split(", "))


@pytest.mark.parametrize("package", host_packages())
def test_a_package_of_the_host_imports_what_it_says(package: str) -> None:
    assert between_children("agenthost.host")[package] == declared(package)


@pytest.mark.parametrize("package", host_packages())
def test_a_package_of_the_host_imports_packages_limits_and_addresses(package: str) -> None:
    assert declared(package) <= {*host_packages(), "limits", "store_address"}


def test_the_modules_of_the_host_stand_on_its_packages_in_order() -> None:
    found = between_children("agenthost.host")
    assert {*HOST_MODULES, *host_packages(), "__init__"} == found.keys()
    for place, module in enumerate(HOST_MODULES):
        assert found[module] <= {*host_packages(), *HOST_MODULES[:place]}


# The edges, the clients and the chat


def test_the_protocols_share_little_and_never_import_each_other() -> None:
    found = between_children("agenthost.edges")
    assert {name: found[name] for name in EDGES} == EDGES
    for name in found.keys() - EDGES.keys() - {"server"}:
        assert not found[name] & {*PROTOCOLS, "app", "server"}


def test_a_version_of_ahp_knows_no_other() -> None:
    found = between_children("agenthost.edges.ahp")
    versions = {name for name in found if re.fullmatch(r"v\d+(_\d+)?", name)}
    assert {name: found[name] for name in AHP_EDGE} == AHP_EDGE
    for name, reached in found.items():
        assert name == "negotiation" or not reached & versions


def test_the_clients_share_what_is_beside_them_and_never_import_each_other() -> None:
    assert between_children("agenthost.client") == CLIENT


def test_the_chat_stands_on_what_it_renders_and_that_on_the_terminal() -> None:
    found = between_children("agenthost.cli.chat")
    assert found["terminal"] == set()
    assert found["render"] == {"terminal"}


# What is pure


PURE_MODULES = [name for name in MODULES if name.split(".")[1:2] in (["wire"], ["core"])]


@pytest.mark.parametrize("name", PURE_MODULES)
def test_wire_and_core_know_nothing_of_clocks_chance_files_or_sockets(name: str) -> None:
    assert {one.partition(".")[0] for one in imports(MODULES[name])} <= PURE


@pytest.mark.parametrize("name", PURE_MODULES)
def test_wire_and_core_know_the_calendar_but_not_the_time(name: str) -> None:
    named = {ast.unparse(node) for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Attribute)}
    assert not named & {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
