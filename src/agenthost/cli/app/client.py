"""The commands that talk to an agent on a server: `ask` and `chat`."""

from typing import Annotated

import typer

from agenthost.cli.app.parameters import UrlOption

__all__ = ["ask", "chat"]

EnvKeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", envvar="AGENTHOST_KEY", show_envvar=True, help="API key."),
]
OptionOption = Annotated[
    list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="Set an option of the agent.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Allow every tool call without asking.")]


def ask(
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="What to say; - reads it from standard input.")
    ],
    *,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Agent to ask; optional if there is only one.")
    ] = None,
    url: UrlOption = None,
    key: EnvKeyOption = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue this session instead of starting a new one.")
    ] = None,
    option: OptionOption = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Let the agent use this tool, asking each time. [default: all]"),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Let the agent use this tool without asking."),
    ] = None,
    yes: YesOption = False,
) -> None:
    """Ask an agent on any AAP server a question.

    The answer is printed as it arrives. The agent may use its tools; you are asked at the terminal before one
    runs that is not trusted.

    The exit code is 0 if the answer is complete, 1 if it failed, was refused or was cut off, or if a tool
    could not run because there was no terminal to ask at, and 2 if the command makes no sense.
    """
    from agenthost.cli.ask import Question, run  # noqa: PLC0415

    run(Question(message, url, key, agent, session, option or [], tool or [], trust or [], yes))


def chat(
    server: Annotated[
        str | None, typer.Argument(metavar="URL", help="Server to talk to, as with --url.")
    ] = None,
    *,
    url: UrlOption = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Agent to talk to; you choose if there are several.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue this session; the start of its id is enough.")
    ] = None,
    last: Annotated[bool, typer.Option("--continue", help="Continue the newest session.")] = False,
    key: EnvKeyOption = None,
    model: Annotated[str | None, typer.Option(metavar="ID", help="Model for a new session.")] = None,
    option: OptionOption = None,
    token: Annotated[
        list[str] | None,
        typer.Option(metavar="RESOURCE=TOKEN", help="Token for a resource that the agent uses."),
    ] = None,
    yes: YesOption = False,
    private: Annotated[bool, typer.Option("--private", help="Keep no history of what you type.")] = False,
) -> None:
    """Chat with an agent on any AHP server.

    In the chat, :help lists the commands. Without a terminal, standard input is the message, and only the
    answer is on standard output. The exit codes are those of ask.
    """
    from agenthost.cli.chat import ChatOptions, run  # noqa: PLC0415

    run(ChatOptions(server or url, key, agent, session, model, option or [], token or [], last, yes, private))
