"""The command line. Each command's work is in a module of its own, loaded when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from agenthost import __version__
from agenthost.cli.groups import ConfigOption, DataOption, UrlOption, keys, sessions
from agenthost.cli.help import GroupedCommand, OrderedGroup
from agenthost.commands import called_as

AGENTS = "Agents"
SERVER = "Server"
DATA = "Data and files"
SHELLS = "Shells and programs"
ACCESS = "Access"
LOGS = "Logs"

app = typer.Typer(
    name="agenthost",
    cls=OrderedGroup,
    help="Host AI agents in one process and let any application talk to them, over AAP and AHP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for it would triple the time of `--help`
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the form that typer calls
    if wanted:
        typer.echo(f"agenthost {__version__}")
        raise typer.Exit


WITH_SERVER = ("ask", "chat", "sessions")
"""The commands that talk to a server."""


@app.callback()
def options(
    context: typer.Context,
    *,
    url: UrlOption = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    command = context.invoked_subcommand
    if url is not None and command not in WITH_SERVER:
        names = ", ".join(WITH_SERVER)
        raise typer.BadParameter(f"{command} talks to no server, as {names} do", param_hint="--url")
    context.default_map = {name: {"url": url} for name in WITH_SERVER}


@app.command()
def reduce(
    file: Annotated[
        Path | None,
        typer.Argument(help="The file to read; without it, standard input.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Run AHP's reducers over JSON lines: one resulting state a line.

    Each line is {"reducer": "root" | "session" | "terminal", "state": …, "action": …}, or "actions": […]
    for several, with an optional "now" in Unix milliseconds (default: the clock). The answer to a line is
    the state that follows, or {"error": "…"}.
    """
    from agenthost.cli.reduce import run  # noqa: PLC0415 - only this command needs the reducers

    run(file)


@app.command(cls=GroupedCommand, short_help="Serve agents: of files, of models, or of programs.")
def serve(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE.py|FILE.toml|DIR|MODULE",
            help="Where the agents are; without any, and without --model, the demo agent is served.",
            show_default=False,
        ),
    ] = None,
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE:NAME",
            help="Let a model answer: openai:gpt-5, anthropic:…, google:…; again for more to choose from.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the models are asked: any server that speaks like OpenAI's.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="What the key for them is in. [default: as is usual]",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE",
            help="What the models are told before everything else.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    acp: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]COMMAND",
            help="Serve a program that speaks ACP, such as 'gemini --acp'; again for more.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    acp_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="A variable that these programs get, such as GEMINI_API_KEY.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on. [default: 127.0.0.1]", rich_help_panel=SERVER
        ),
    ] = None,
    port: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The port; 0 takes any that is free. [default: 8642]",
            rich_help_panel=SERVER,
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.toml", help="A file with settings: these, and [limits].", rich_help_panel=SERVER
        ),
    ] = None,
    stdio: Annotated[
        bool | None,
        typer.Option(
            "--stdio",
            help="Serve one AHP client on standard input and output, a message a line.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    max_body: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="The largest body of a request. [default: 8388608]", rich_help_panel=SERVER
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER/s|m|h",
            help="How often a key or an address may ask. [default: off]",
            rich_help_panel=SERVER,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where everything is kept. [default: this user's data folder]",
            rich_help_panel=DATA,
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="What files and terminals may touch. [default: this folder]",
            rich_help_panel=DATA,
        ),
    ] = None,
    workspaces: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where each owner of keys has a folder of its own, in place of the workspace.",
            rich_help_panel=DATA,
        ),
    ] = None,
    terminals: Annotated[
        bool | None,
        typer.Option(
            "--terminals/--no-terminals",
            help="Whether clients may open shells, as the user that runs the server. [default: yes]",
            rich_help_panel=SHELLS,
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            metavar="auto|on|off",
            help="Keep shells and programs apart from the rest of this machine. [default: auto]",
            rich_help_panel=SHELLS,
        ),
    ] = None,
    sandbox_network: Annotated[
        bool | None,
        typer.Option(
            "--sandbox-network/--no-sandbox-network",
            help="Let what is in a sandbox use the network. [default: yes]",
            rich_help_panel=SHELLS,
        ),
    ] = None,
    sandbox_read: Annotated[
        str | None,
        typer.Option(
            metavar="PATH,…",
            help="What shells in a sandbox may read beside the system and the workspace.",
            rich_help_panel=SHELLS,
        ),
    ] = None,
    sandbox_write: Annotated[
        str | None,
        typer.Option(
            metavar="PATH,…",
            help="What they may write beside the workspace.",
            rich_help_panel=SHELLS,
        ),
    ] = None,
    sync: Annotated[
        str | None,
        typer.Option(
            metavar="full|normal",
            help="Whether each commit waits for the disk, or a power cut may take the last. [default: full]",
            rich_help_panel=DATA,
        ),
    ] = None,
    full_sync: Annotated[bool | None, typer.Option("--full-sync/--no-full-sync", hidden=True)] = None,
    read_outside: Annotated[
        str | None,
        typer.Option(
            metavar="ask|allow|deny",
            help="When clients want to read outside of the workspace. [default: ask]",
            rich_help_panel=DATA,
        ),
    ] = None,
    write_outside: Annotated[
        str | None,
        typer.Option(
            metavar="ask|allow|deny",
            help="When clients want to write there. [default: ask]",
            rich_help_panel=DATA,
        ),
    ] = None,
    allowed_hosts: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="What the Host header may name beside this machine.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    cors_origins: Annotated[
        str | None,
        typer.Option(
            metavar="ORIGIN,…",
            help="The pages that may use the server. [default: those of this machine]",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    public_meta: Annotated[
        bool | None,
        typer.Option(
            "--public-meta/--no-public-meta",
            help="Describe the agents without a key, too.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    public_metrics: Annotated[
        bool | None,
        typer.Option(
            "--public-metrics/--no-public-metrics",
            help="Show the metrics without a key, too.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    max_connections: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="The most connections at once. [default: 10000]", rich_help_panel=ACCESS
        ),
    ] = None,
    no_auth: Annotated[
        bool | None,
        typer.Option(
            "--no-auth",
            help="Without keys, ask nobody for a token: all of this machine may do everything.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    log_format: Annotated[
        str | None,
        typer.Option(metavar="human|json", help="How to log. [default: human]", rich_help_panel=LOGS),
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="debug, info, warning or error. [default: info]", rich_help_panel=LOGS
        ),
    ] = None,
    wire_log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write every AHP message down there, tokens masked.", rich_help_panel=LOGS
        ),
    ] = None,
) -> None:
    """Serve agents: those of Python files and modules, and those that are written in TOML.

    Of a Python file, every Agent, and every agent of a Host, at its top level is served. Agents in TOML have
    a file each, may be a whole folder, or stand in [agents.NAME] of the file of --config.

    Each option can be set by the environment too (AGENTHOST_PORT for --port), and in the file of --config
    (port = 8642). The command line wins over the environment, and that over the file.
    """
    from agenthost.cli.serve import run  # noqa: PLC0415 - the server takes its time to import

    options: dict[str, object] = {"host": host, "port": port, "data": data, "workspace": workspace}
    options |= {"workspaces": workspaces, "sandbox": sandbox, "sandbox_network": sandbox_network}
    options |= {"sandbox_read": sandbox_read, "sandbox_write": sandbox_write}
    options |= {"config": config, "log_format": log_format, "log_level": log_level, "sync": sync}
    options |= {} if full_sync is None else {"full_sync": full_sync}  # refused with what takes its place
    options |= {"allowed_hosts": allowed_hosts, "cors_origins": cors_origins, "public_meta": public_meta}
    options |= {"read_outside": read_outside, "write_outside": write_outside}
    options |= {
        "no_auth": no_auth,
        "terminals": terminals,
        "public_metrics": public_metrics,
        "max_body": max_body,
        "rate": rate,
    }
    options |= {"max_connections": max_connections}
    options |= {"stdio": stdio or None, "wire_log": wire_log}
    options |= {"acp": acp or None, "acp_env": acp_env or None}
    options |= {"model": model or None, "base_url": base_url, "key_env": key_env, "system": system}
    run(agents or [], options)


@app.command()
def ask(
    message: Annotated[str, typer.Argument(help="What to say; - reads it from the standard input.")],
    *,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent; not needed where there is only one.")
    ] = None,
    url: UrlOption = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", envvar="AGENTHOST_KEY", show_envvar=True, help="The API key."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with this session, in place of a new one.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set an option of the agent.")
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Let the agent use this tool, asking each time. [default: all that it has]"
        ),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Let the agent use this tool without asking."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Allow every tool call without asking.")] = False,
) -> None:
    """Ask an agent of any AAP server something, and show its answer as it comes.

    The agent may use its tools; before one runs that is not trusted, you are asked at the terminal. Ends
    with 0 if the answer is whole, with 1 if it failed, was refused or cut off, or a tool was not run because
    nobody could be asked, with 2 if the question makes no sense.
    """
    from agenthost.cli.ask import Question, run  # noqa: PLC0415 - only this command needs the client

    run(Question(message, url, key, agent, session, option or [], tool or [], trust or [], yes))


@app.command()
def chat(
    server: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="The server, as --url names it.")
    ] = None,
    *,
    url: UrlOption = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent; asked for where there are several.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with this session; its beginning is enough.")
    ] = None,
    last: Annotated[bool, typer.Option("--continue", help="Go on with the newest session.")] = False,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", envvar="AGENTHOST_KEY", show_envvar=True, help="The API key."),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="ID", help="The model of a new session.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set an option of the agent.")
    ] = None,
    token: Annotated[
        list[str] | None,
        typer.Option(metavar="RESOURCE=TOKEN", help="A token for what the agent wants to use."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Allow every tool call without asking.")] = False,
    private: Annotated[bool, typer.Option("--private", help="Remember nothing of what is typed.")] = False,
) -> None:
    """Chat with an agent of any AHP server: at a terminal, or with a message that is piped in.

    Inside, :help lists what can be done. What is piped in is one message; its answer alone goes to the
    standard output. Ends like ask: with 1 if there is no whole answer, with 2 if that makes no sense.
    """
    from agenthost.cli.chat import Wish, run  # noqa: PLC0415 - only this command needs the client

    run(Wish(server or url, key, agent, session, model, option or [], token or [], last, yes, private))


@app.command()
def token(
    *,
    new: Annotated[
        bool, typer.Option("--new", help="Make another one; the old one opens nothing then.")
    ] = False,
    enable: Annotated[
        bool | None,
        typer.Option("--enable/--disable", help="Whether it opens the server beside API keys, too."),
    ] = None,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the token that opens a server without API keys, such as for curl.

    Our own commands on this machine find it by themselves, and the page's address has it.
    """
    from agenthost.cli.token import run  # noqa: PLC0415 - only this command needs it

    run({"data": data, "config": config}, is_new=new, enable=enable)


@app.command()
def doctor(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Look at every row, which takes its time.")] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Make a new store of what can be read, and keep the damaged one."),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Check whether a server's data is whole, while the server does not run.

    Ends with 0 if nothing is damaged, with 1 if something is, with 2 if that could not be found out.
    """
    from agenthost.cli.doctor import run  # noqa: PLC0415 - only this command needs the store

    run({"data": data, "config": config}, is_deep=deep, is_repair=repair)


app.add_typer(keys, name="keys")
app.add_typer(sessions, name="sessions")


def main() -> None:
    """Run the command line."""
    app(prog_name=called_as())
