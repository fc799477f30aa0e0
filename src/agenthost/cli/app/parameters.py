"""Parameters that several commands have, and the options that are made of the settings."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from agenthost.settings import REPLACED, SETTINGS, Flag, Setting, as_option

__all__ = [
    "ConfigOption",
    "DataOption",
    "KeyOption",
    "StoreOption",
    "UrlOption",
    "setting_option",
    "with_settings",
]


def setting_option(setting: Setting, **more: Any) -> Any:
    """Return the option of a setting. Its value is checked with the settings, not by typer."""
    names = [setting.option]
    if isinstance(setting.kind, Flag) and setting.kind.has_opposite:
        names = [f"{setting.option}/--no-{setting.option.removeprefix('--')}"]
    default = f" [default: {setting.shown_default}]" if setting.shown_default else ""
    return typer.Option(
        *names,
        metavar=setting.placeholder or None,
        help=setting.summary + default,
        show_default=False,
        **more,
    )


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of all settings to a command. Those that were used are passed by keyword."""

    def run(*args: Any, **options: Any) -> None:
        used = {name: value for name, value in options.items() if value is not None and value != []}
        command(*args, **used)

    signature = inspect.signature(command)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    # typer reads the signature, and nothing else.
    run.__signature__ = signature.replace(parameters=[*own, *_parameters()])  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _parameters() -> list[inspect.Parameter]:
    shown = {
        name: Annotated[_type(setting), setting_option(setting, rich_help_panel=setting.group)]
        for name, setting in SETTINGS.items()
        if not setting.is_table
    }
    # Hidden: they are refused with what replaced them.
    hidden = {
        name: Annotated[
            bool | None, typer.Option(f"{as_option(name)}/--no{as_option(name)[1:]}", hidden=True)
        ]
        for name in REPLACED
    }
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in {**shown, **hidden}.items()
    ]


def _type(setting: Setting) -> Any:
    if isinstance(setting.kind, Flag):
        return bool | None
    return list[str] | None if setting.is_repeatable else str | None


DataOption = Annotated[str | None, setting_option(SETTINGS["data"])]
StoreOption = Annotated[str | None, setting_option(SETTINGS["store"])]
ConfigOption = Annotated[str | None, setting_option(SETTINGS["config"])]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Server to talk to: HOST:PORT or a URL. [env var: AGENTHOST_URL; default: http://127.0.0.1:8642]",
    ),
]
KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="API key. [env var: AGENTHOST_KEY]")
]
