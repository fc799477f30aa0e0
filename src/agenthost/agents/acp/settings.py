"""The settings of a program's session, as options and models of the host. Pure: it only builds requests.

ACP has three ways to report them: modes, models, and config options. Config options are the newest; one whose
category is `mode` or `model` replaces the older form.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agenthost.host.authoring.agent import Model
from agenthost.host.authoring.options import Option
from agenthost.wire.json import JsonObject

__all__ = ["MODE", "MODEL", "SessionSettings", "Setting", "SettingChoice"]

MODE = "mode"
MODEL = "model"

SettingKind: TypeAlias = Literal["mode", "model", "select", "boolean"]


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """A value that a setting may have, with a name and a description for people."""

    value: str
    name: str
    description: str = ""


@dataclass(slots=True)
class Setting:
    """One setting of a session.

    Attributes:
        name: the host's name of it.
        title: its name for people.
        choices: the values that it may have.
        current: its value.
        kind: which request changes it.
        id: the program's id of it.
        description: what it does.
    """

    name: str
    title: str
    choices: tuple[SettingChoice, ...]
    current: str
    kind: SettingKind
    id: str
    description: str | None = None

    def request(self, value: str) -> tuple[str, JsonObject]:
        """Return the method and the params that set it, without the id of the session."""
        match self.kind:
            case "mode":
                return "session/set_mode", {"modeId": value}
            case "model":
                return "session/set_model", {"modelId": value}
            case "boolean":
                is_on = value == "true"
                return "session/set_config_option", {"configId": self.id, "type": "boolean", "value": is_on}
            case _:
                return "session/set_config_option", {"configId": self.id, "value": value}

    def option(self) -> Option:
        """Declare it as an option of the agent."""
        return Option(
            self.name,
            "select",
            self.current,
            tuple(choice.value for choice in self.choices),
            self.title,
            self.description,
            labels=tuple(choice.name for choice in self.choices),
            descriptions=tuple(choice.description for choice in self.choices),
            grant="run" if self.name == MODE else None,  # some modes turn permission requests off
        )


@dataclass(slots=True)
class SessionSettings:
    """The settings of one session, by the host's names."""

    known: dict[str, Setting] = field(default_factory=dict)

    def load(self, answer: Any) -> None:
        """Read the settings from the result of `session/new`, `session/load` or `session/resume`."""
        if type(answer) is not dict:
            return
        found = [*_modes(answer.get("modes")), *_models(answer.get("models"))]
        self.known = {setting.name: setting for setting in found}
        self._take(answer.get("configOptions"))

    def on_update(self, update: JsonObject) -> None:
        """Apply an update of the program."""
        kind = update.get("sessionUpdate")
        if kind == "current_mode_update" and MODE in self.known:
            self.known[MODE].current = str(update.get("currentModeId"))
        elif kind == "config_option_update":
            self._take(update.get("configOptions"))

    def apply_response(self, setting: Setting, value: str, answer: Any) -> None:
        """Apply the program's result of a change."""
        setting.current = value
        if type(answer) is dict:
            self._take(answer.get("configOptions"))

    def _take(self, options: Any) -> None:
        for option in options if isinstance(options, list) else []:
            if (setting := _configured(option)) is not None:
                self.known[setting.name] = setting

    def values(self) -> dict[str, str]:
        """Return the current values."""
        return {name: setting.current for name, setting in self.known.items()}

    def options(self, pinned: Iterable[str] = ()) -> list[Option]:
        """Return the options that sessions can set, without pinned ones."""
        hidden = {MODEL, *pinned}
        return [
            setting.option()
            for name, setting in self.known.items()
            if name not in hidden and any(choice.value == setting.current for choice in setting.choices)
        ]

    def models(self) -> list[Model]:
        """Return the models, the current one first: it is the default."""
        setting = self.known.get(MODEL)
        if setting is None:
            return []
        found = sorted(setting.choices, key=lambda choice: choice.value != setting.current)
        return [Model(choice.value, choice.name) for choice in found]


def _modes(state: Any) -> list[Setting]:
    if type(state) is not dict:
        return []
    choices = _choices(state.get("availableModes"), "id")
    return [Setting(MODE, "Mode", choices, str(state.get("currentModeId")), "mode", MODE)] if choices else []


def _models(state: Any) -> list[Setting]:
    if type(state) is not dict:
        return []
    choices = _choices(state.get("availableModels"), "modelId")
    current = str(state.get("currentModelId"))
    return [Setting(MODEL, "Model", choices, current, "model", MODEL)] if choices else []


def _configured(option: Any) -> Setting | None:
    if type(option) is not dict or not isinstance(option.get("id"), str):
        return None
    category = option.get("category")
    name = category if category in (MODE, MODEL) else option["id"]
    title, text = str(option.get("name") or option["id"]), option.get("description")
    description = text if isinstance(text, str) else None
    if option.get("type") == "boolean":
        current = "true" if option.get("currentValue") is True else "false"
        both = (SettingChoice("true", "On"), SettingChoice("false", "Off"))
        return Setting(name, title, both, current, "boolean", option["id"], description)
    choices = _choices(option.get("options"), "value")
    if not choices:
        return None
    return Setting(name, title, choices, str(option.get("currentValue")), "select", option["id"], description)


def _choices(listed: Any, key: str) -> tuple[SettingChoice, ...]:
    """Read choices. Groups are flattened."""
    found: dict[str, SettingChoice] = {}
    for one in listed if isinstance(listed, list) else []:
        if type(one) is dict and isinstance(one.get("options"), list):
            found |= {choice.value: choice for choice in _choices(one["options"], key)}
        elif type(one) is dict and isinstance(one.get(key), str):
            name, description = one.get("name"), one.get("description")
            found[one[key]] = SettingChoice(one[key], str(name or one[key]), str(description or ""))
    return tuple(found.values())
