"""Settings: what can be chosen in a session of the program, as options and models of the host.

The program says it in up to three ways: modes, models, and configuration options, which are the newest and
stand for the other two where they have their category. Pure: says which request makes a change.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agenthost.host.agent import Model
from agenthost.host.options import Option
from agenthost.wire.json import JsonObject

__all__ = ["MODE", "MODEL", "Choice", "Setting", "Settings"]

MODE = "mode"
MODEL = "model"

Way: TypeAlias = Literal["mode", "model", "select", "boolean"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that a setting may have, and what people read."""

    value: str
    name: str
    description: str = ""


@dataclass(slots=True)
class Setting:
    """One thing that can be chosen.

    Attributes:
        name: how the host calls it.
        title: how people call it.
        choices: what it may be.
        current: what it is.
        way: how it is changed.
        id: how the program calls it.
    """

    name: str
    title: str
    choices: tuple[Choice, ...]
    current: str
    way: Way
    id: str
    description: str | None = None

    def request(self, value: str) -> tuple[str, JsonObject]:
        """Give the request that changes it; the id of the session goes into it too."""
        match self.way:
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
            grant="run" if self.name == MODE else None,  # some modes ask nobody any more
        )


@dataclass(slots=True)
class Settings:
    """All that can be chosen in one session, by the names of the host."""

    known: dict[str, Setting] = field(default_factory=dict)

    def learn(self, answer: Any) -> None:
        """Take what the program says when a session begins, or is taken up."""
        if type(answer) is not dict:
            return
        found = [*_modes(answer.get("modes")), *_models(answer.get("models"))]
        self.known = {setting.name: setting for setting in found}
        self._take(answer.get("configOptions"))

    def hear(self, update: JsonObject) -> None:
        """Take what the program says about changes."""
        kind = update.get("sessionUpdate")
        if kind == "current_mode_update" and MODE in self.known:
            self.known[MODE].current = str(update.get("currentModeId"))
        elif kind == "config_option_update":
            self._take(update.get("configOptions"))

    def answered(self, setting: Setting, value: str, answer: Any) -> None:
        """Take what the program answers to a change."""
        setting.current = value
        if type(answer) is dict:
            self._take(answer.get("configOptions"))

    def _take(self, options: Any) -> None:
        for option in options if isinstance(options, list) else []:
            if (setting := _configured(option)) is not None:
                self.known[setting.name] = setting

    def values(self) -> dict[str, str]:
        """Give what everything is at this moment."""
        return {name: setting.current for name, setting in self.known.items()}

    def options(self, pinned: Iterable[str] = ()) -> list[Option]:
        """Declare what sessions can set, but what is pinned."""
        hidden = {MODEL, *pinned}
        return [
            setting.option()
            for name, setting in self.known.items()
            if name not in hidden and any(choice.value == setting.current for choice in setting.choices)
        ]

    def models(self) -> list[Model]:
        """Declare the models, the current one first: it is what is used unless somebody chooses."""
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
    title, description = str(option.get("name") or option["id"]), option.get("description")
    said = description if isinstance(description, str) else None
    if option.get("type") == "boolean":
        current = "true" if option.get("currentValue") is True else "false"
        both = (Choice("true", "On"), Choice("false", "Off"))
        return Setting(name, title, both, current, "boolean", option["id"], said)
    choices = _choices(option.get("options"), "value")
    if not choices:
        return None
    return Setting(name, title, choices, str(option.get("currentValue")), "select", option["id"], said)


def _choices(listed: Any, key: str) -> tuple[Choice, ...]:
    """Read choices; those in groups are taken out of them."""
    found: dict[str, Choice] = {}
    for one in listed if isinstance(listed, list) else []:
        if type(one) is dict and isinstance(one.get("options"), list):
            found |= {choice.value: choice for choice in _choices(one["options"], key)}
        elif type(one) is dict and isinstance(one.get(key), str):
            name, description = one.get("name"), one.get("description")
            found[one[key]] = Choice(one[key], str(name or one[key]), str(description or ""))
    return tuple(found.values())
