"""The options of a session: their values, and their schema for clients."""

from collections.abc import Mapping
from typing import Any

from agenthost.errors import InvalidValue
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.wire.ahp.config import SessionConfigPropertySchema, SessionConfigState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.error_messages import describe, quote
from agenthost.wire.json import Json, JsonObject


def option_values(agent: Agent, state: SessionState) -> dict[str, str]:
    """Return the values of all options except secret ones: what is set, or the default."""
    values: Mapping[str, Any] = state["config"]["values"] if "config" in state else {}
    return {
        option.name: str(values.get(option.name, option.default))
        for option in agent.options
        if option.kind != "secret"
    }


def config_state(agent: Agent, values: Mapping[str, str]) -> SessionConfigState | None:
    """Return the options except secret ones, as settings that everybody sees; None if there are none."""
    shown = [option for option in agent.options if option.kind != "secret"]
    if not shown:
        return None
    properties = {option.name: _property(option) for option in shown}
    chosen: JsonObject = {option.name: values.get(option.name, option.default) for option in shown}
    return {"schema": {"type": "object", "properties": properties}, "values": chosen}


def _property(option: Option) -> SessionConfigPropertySchema:
    schema: SessionConfigPropertySchema = {
        "type": "string",
        "title": option.title or option.name,
        "default": option.default,
        "sessionMutable": option.mutable,
    }
    if option.description is not None:
        schema["description"] = option.description
    if option.kind == "select":
        schema["enum"] = list(option.choices)
        if option.labels:
            schema["enumLabels"] = list(option.labels)
        if option.descriptions:
            schema["enumDescriptions"] = list(option.descriptions)
    if option.suggest is not None:
        schema["enumDynamic"] = True
    return schema


def split_secrets(agent: Agent, values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split values into those that everybody sees and those of secret options."""
    secret = {option.name for option in agent.options if option.kind == "secret"}
    shown = {name: value for name, value in values.items() if name not in secret}
    return shown, {name: value for name, value in values.items() if name in secret}


def check_options(agent: Agent, values: Mapping[str, Json], at: str) -> dict[str, str]:
    """Check values for an agent's options; `at` is their path in the request.

    Raises:
        InvalidValue: an option does not exist, or cannot have this value.
    """
    options = {option.name: option for option in agent.options}
    for name, value in values.items():
        option = options.get(name)
        if option is None:
            known = f"one of {', '.join(map(quote, options))}" if options else "no option, as there are none"
            raise InvalidValue(f"{at}.{name}", known, quote(name))
        if not isinstance(value, str):
            raise InvalidValue(f"{at}.{name}", "text", describe(value))
        if option.kind == "select" and value not in option.choices:
            raise InvalidValue(
                f"{at}.{name}", f"one of {', '.join(map(quote, option.choices))}", quote(value)
            )
    return dict(values)


def check_model(agent: Agent, model_id: str, at: str) -> None:
    """Refuse a model that the agent does not have.

    Raises:
        InvalidValue: it is not among its models.
    """
    if agent.model(model_id) is None:
        known = f"one of {', '.join(quote(model.id) for model in agent.models)}"
        raise InvalidValue(at, known if agent.models else "no model, as the agent has none", quote(model_id))
