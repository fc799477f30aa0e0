"""All settings, each declared once.

The options of `agenthost serve`, the variables, the keys of the file, `--help` and the tables of
docs/settings.md are made of the fields of `Settings`, in the order in which they stand here.
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from agenthost.host.limits import Limits
from agenthost.host.store_address import StoreAddress
from agenthost.settings.defaults import LOCAL_ORIGINS, MAX_BODY, MAX_CONNECTIONS, default_data
from agenthost.settings.kinds import (
    Agents,
    AgentTables,
    Choice,
    Flag,
    LimitsTable,
    List,
    Number,
    PathTo,
    Prompt,
    StoreUrl,
    Table,
    Text,
)
from agenthost.settings.setting import Group, Setting

__all__ = ["REPLACED", "SETTINGS", "Settings"]

AGENTS = Group("Agents")
SERVER = Group("Server")
DATA = Group("Data")
NODES = Group("Nodes")
FILES = Group("Files")
SHELLS = Group("Shells and programs")
ACCESS = Group("Access")
LOGS = Group("Logs")
LIMITS = Group("Limits")

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
HOST_NAME = r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]"
ORIGIN = r"\*|[a-z][a-z0-9+.-]*://[^\s/*?#,]+(:\*)?"
URL = r"https?://[^\s/?#]+[^\s?#]*"
RATE = r"off|[1-9][0-9]{0,8}/[smh]"
PATHS = List(PathTo("a file or folder"), "paths of files or folders")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a server."""

    model: tuple[str, ...] = AGENTS.setting(
        List(Text("a name"), "names of models, such as openai:gpt-5"),
        default=(),
        metavar="SERVICE:NAME",
        summary="Serve an agent that answers with this model, such as openai:gpt-5. Repeat to offer more.",
        notes="The agent is called `assistant`: see [models.md](models.md).",
        is_repeatable=True,
    )
    base_url: str | None = AGENTS.setting(
        Text("a URL such as http://127.0.0.1:11434/v1", URL),
        metavar="URL",
        summary="Send model requests to this OpenAI-compatible server.",
        default_text="each model's own service",
        needs="model",
    )
    key_env: str | None = AGENTS.setting(
        Text("the name of an environment variable, such as MY_API_KEY", VARIABLE),
        metavar="VARIABLE",
        summary="Environment variable that holds the API key for the models.",
        default_text="the usual one of each service",
        needs="model",
    )
    system: str = AGENTS.setting(
        Prompt(),
        default="",
        metavar="TEXT|@FILE",
        summary="System prompt for the models; @FILE reads it from a file.",
        needs="model",
    )
    model_settings: dict[str, Any] = AGENTS.setting(
        Table(),
        factory=dict,
        summary="Parameters of model requests: `temperature`, `max_tokens`, `thinking`, …",
        notes="See [models.md](models.md).",
        needs="model",
    )
    acp: tuple[str, ...] = AGENTS.setting(
        List(Text("a command"), "commands such as gemini --acp, or named ones: helper=gemini --acp", "\n"),
        default=(),
        metavar="[NAME=]COMMAND",
        summary="Serve a program that speaks ACP, such as 'gemini --acp'. Repeat to serve more.",
        notes="In the variable, one command per line. See [acp.md](acp.md).",
        is_repeatable=True,
    )
    acp_env: tuple[str, ...] = AGENTS.setting(
        List(
            Text("a variable", rf"{VARIABLE}(=.*)?"),
            "names of variables, such as GEMINI_API_KEY, or NAME=VALUE",
        ),
        default=(),
        metavar="NAME[=VALUE]",
        summary="Environment variable to pass to ACP programs, such as GEMINI_API_KEY. Repeat to pass more.",
        needs="acp",
        is_repeatable=True,
    )
    agents: AgentTables | None = AGENTS.setting(
        Agents(),
        metavar="[agents.NAME]",
        summary="Agents that are declared in this file.",
        notes="See [toml-agents.md](toml-agents.md).",
    )

    host: str = SERVER.setting(
        Text("a host name or address, such as 127.0.0.1"),
        default="127.0.0.1",
        metavar="ADDRESS",
        summary="Address to listen on.",
    )
    port: int = SERVER.setting(
        Number(0, 65535),
        default=8642,
        metavar="NUMBER",
        summary="Port to listen on; 0 picks a free one.",
    )
    config: Path | None = SERVER.setting(
        PathTo("a TOML file"),
        metavar="FILE.toml",
        summary="Read settings from this file.",
        is_in_file=False,
    )
    stdio: bool = SERVER.setting(
        Flag(has_opposite=False),
        default=False,
        summary="Serve one AHP client on standard input and output, one message per line, and do not listen.",
    )
    max_body: int = SERVER.setting(
        Number(1, unit="bytes"),
        default=MAX_BODY,
        metavar="BYTES",
        summary="Size limit of a request body and of an AHP message.",
        notes="Beyond it, requests get 413 and WebSockets are closed with 1009.",
    )
    rate: str = SERVER.setting(
        Text("off, or a number of requests per second, minute or hour: 100/s, 6000/m, 1000/h", RATE),
        default="off",
        metavar="NUMBER/s|m|h",
        summary="Requests allowed per key, or per address without one.",
        notes="See [Rates](serving.md#rates).",
    )

    data: Path = DATA.setting(
        PathTo("a folder"),
        factory=default_data,
        metavar="DIR",
        summary="Folder for everything that is kept.",
        default_text="this user's data folder",
        notes="By default, `$XDG_DATA_HOME/agenthost` or `~/.local/share/agenthost`; on macOS, "
        "`~/Library/Application Support/agenthost`.",
        host_argument="data=…",
    )
    store: StoreAddress | None = DATA.setting(
        StoreUrl(),
        metavar="URL",
        summary="PostgreSQL database to keep everything in, instead of the data folder.",
        notes="Needs `AGENTHOST_SECRET_KEY`. See [postgres.md](postgres.md).",
        host_argument="store=…",
    )
    sync: Literal["full", "normal"] = DATA.setting(
        Choice("full", "normal"),
        default="full",
        summary="Survive power cuts without loss (full), or lose up to two seconds and be faster (normal).",
        notes="See [What survives what](serving.md#what-survives-what).",
        host_argument="sync=…",
    )

    node_url: str | None = NODES.setting(
        Text("a URL such as https://one.agents.example", URL),
        metavar="URL",
        summary="Where other servers on the same store reach this one.",
        default_text="where it listens",
        notes="See [cluster.md](cluster.md#between-nodes).",
    )
    lease: int = NODES.setting(
        Number(2, 600, unit="seconds"),
        metavar="SECONDS",
        default=5,
        summary="After how many silent seconds others take over from this server.",
    )
    drain: int | None = NODES.setting(
        Number(0, 3600, unit="seconds"),
        metavar="SECONDS",
        summary="How long turns may still run before this server stops.",
        default_text="10 if other servers use the same store, else 0",
        notes="Meanwhile `/readyz` is not ready. See [cluster.md](cluster.md#stopping-a-node).",
    )
    peer_ca: Path | None = NODES.setting(
        PathTo("a file with certificates"),
        metavar="FILE",
        summary="Certificates of the authorities to trust when this server connects to others.",
        default_text="those of the system",
    )
    peer_plain: bool = NODES.setting(
        Flag(),
        default=False,
        summary="Let servers on different machines talk without TLS: only in a network that is yours alone.",
    )

    workspace: Path = FILES.setting(
        PathTo("an existing folder", is_existing_folder=True),
        factory=Path.cwd,
        metavar="DIR",
        summary="Folder that files and terminals are limited to.",
        default_text="the current folder",
        host_argument="workspace=…",
    )
    workspaces: Path | None = FILES.setting(
        PathTo("a folder"),
        metavar="DIR",
        summary="Folder in which each owner of keys gets a workspace of their own.",
        notes="See [Workspaces of owners](serving.md#workspaces-of-owners).",
        host_argument="workspaces=…",
    )
    read_outside: Literal["ask", "allow", "deny"] = FILES.setting(
        Choice("ask", "allow", "deny"),
        default="ask",
        summary="What to do when a client wants to read outside the workspace.",
        notes="Where nobody can be asked, `ask` denies.",
        host_argument="file_policy=FilePolicy(…)",
    )
    write_outside: Literal["ask", "allow", "deny"] = FILES.setting(
        Choice("ask", "allow", "deny"),
        default="ask",
        summary="What to do when a client wants to write outside the workspace.",
        host_argument="file_policy=FilePolicy(…)",
    )

    terminals: bool = SHELLS.setting(
        Flag(), default=True, summary="Let clients open shells, as the user that runs the server."
    )
    sandbox: Literal["auto", "on", "off"] = SHELLS.setting(
        Choice("auto", "on", "off"),
        default="auto",
        summary="Isolate shells and programs from the rest of this machine.",
        notes="`auto` does so where bubblewrap works; `on` refuses to start where it does not. "
        "See [The sandbox](serving.md#the-sandbox).",
        host_argument="sandbox=…",
    )
    sandbox_network: bool = SHELLS.setting(
        Flag(),
        default=True,
        summary="Allow network access from inside the sandbox.",
        host_argument="sandbox=SandboxPolicy(…)",
    )
    sandbox_read: tuple[Path, ...] = SHELLS.setting(
        PATHS,
        default=(),
        metavar="PATH,…",
        summary="More paths that shells in the sandbox may read.",
        host_argument="sandbox=SandboxPolicy(…)",
    )
    sandbox_write: tuple[Path, ...] = SHELLS.setting(
        PATHS,
        default=(),
        metavar="PATH,…",
        summary="More paths that shells in the sandbox may read and write.",
        host_argument="sandbox=SandboxPolicy(…)",
    )

    allowed_hosts: tuple[str, ...] = ACCESS.setting(
        List(Text("a name", HOST_NAME), "host names or addresses without ports, such as agents.example"),
        default=(),
        metavar="NAME,…",
        summary="Host names to answer to, besides those of this machine.",
        notes="Requests with another `Host` header get 421.",
    )
    cors_origins: tuple[str, ...] = ACCESS.setting(
        List(
            Text("an origin", ORIGIN),
            "origins such as https://app.example or http://localhost:*, or * for all",
        ),
        default=LOCAL_ORIGINS,
        metavar="ORIGIN,…",
        summary="Origins whose pages may use the server.",
        default_text="pages on this machine",
        notes=f"By default, {', '.join(f'`{one}`' for one in LOCAL_ORIGINS)}.",
    )
    public_meta: bool = ACCESS.setting(
        Flag(),
        default=False,
        summary="Describe the agents to anyone, without a key.",
        notes="That is AAP's `GET …/meta`.",
    )
    public_metrics: bool = ACCESS.setting(
        Flag(), default=False, summary="Show the metrics to anyone, without a key."
    )
    max_connections: int = ACCESS.setting(
        Number(16),
        default=MAX_CONNECTIONS,
        metavar="NUMBER",
        summary="Most connections at a time.",
        notes="Fewer, if there are too few file descriptors: see "
        "[Limits before and after sign-in](serving.md#limits-before-and-after-sign-in).",
    )
    no_auth: bool = ACCESS.setting(
        Flag(has_opposite=False),
        default=False,
        summary="Ask for no token while there are no API keys: anyone on this machine can do anything.",
    )

    log_format: Literal["human", "json"] = LOGS.setting(
        Choice("human", "json"), default="human", summary="Format of the log."
    )
    log_level: Literal["debug", "info", "warning", "error"] = LOGS.setting(
        Choice("debug", "info", "warning", "error"), default="info", summary="Lowest level to log."
    )
    wire_log: Path | None = LOGS.setting(
        PathTo("a file"),
        metavar="FILE",
        summary="Append every AHP message to this file, with secrets masked.",
    )

    limits: Limits = LIMITS.setting(
        LimitsTable(),
        factory=Limits,
        summary="How much a host holds and allows.",
        host_argument="limits=…",
    )


SETTINGS: dict[str, Setting] = {
    one.name: replace(one.metadata["setting"], name=one.name) for one in fields(Settings)
}

REPLACED = {"full_sync": ("sync", "full, the default, or normal")}
"""Settings of earlier versions: what replaced them, and its values."""
