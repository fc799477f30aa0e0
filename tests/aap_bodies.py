"""Bodies like those that real clients and servers exchange, for tests of AAP."""

from typing import Any

from agenthost.wire.json import Json


def tool(schema_key: str, **over: Any) -> Json:
    """Declare a tool, with its schema under the key that the version has."""
    schema = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
    return {"name": "get_weather", "description": "Tell the weather", schema_key: schema, **over}


def config() -> Json:
    """Set up an agent with a trusted tool and two options."""
    return {
        "name": "research-agent",
        "tools": [{"name": "web_search", "trust": True}],
        "options": {"model": "large", "language": "Japanese"},
    }


def agent(schema_key: str) -> Json:
    """Describe an agent that can do everything."""
    return {
        "name": "research-agent",
        "title": "Research Agent",
        "version": "1.2.0",
        "description": "Looks things up.",
        "tools": [tool(schema_key, title="Weather")],
        "options": [
            {"name": "model", "type": "select", "options": ["small", "large"], "default": "small"},
            {"name": "language", "title": "Language", "type": "text", "default": "English"},
            {"name": "key", "description": "Your key", "type": "secret", "default": ""},
        ],
        "capabilities": {
            "history": {"compacted": {}, "full": {}},
            "stream": {"delta": {}, "message": {}, "none": {}},
            "application": {"tools": {}},
            "image": {"http": {}, "data": {}},
        },
    }


def call() -> Json:
    """Ask for a tool inside an assistant's message."""
    return {
        "type": "tool_use",
        "toolCallId": "call_001",
        "name": "get_weather",
        "input": {"location": "Tokyo"},
    }


def history() -> list[Json]:
    """Tell of a question, a call, its result and an answer."""
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image", "url": "https://a.example/b.png"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, call()]},
        {"role": "tool", "toolCallId": "call_001", "content": "18°C"},
        {"role": "assistant", "content": [{"type": "text", "text": "18°C."}]},
    ]


def question(text: str = "What about Osaka?") -> Json:
    """Ask something."""
    return {"role": "user", "content": text}


def permission(**over: Any) -> Json:
    """Let the server run a tool."""
    return {"role": "tool_permission", "toolCallId": "call_002", "granted": True, **over}


def answers() -> list[Json]:
    """Return the bodies of whole turns: plain, with thinking, stopped for a tool, with a trusted tool."""
    said = {"role": "assistant", "content": "Cloudy."}
    thought = {"type": "thinking", "thinking": "Hm."}
    asked = {"role": "assistant", "content": [call()]}
    result = {"role": "tool", "toolCallId": "call_001", "content": "18°C"}
    return [
        {"stopReason": "end_turn", "messages": [said]},
        {"stopReason": "end_turn", "messages": [{"role": "assistant", "content": [thought]}]},
        {"stopReason": "tool_use", "messages": [asked]},
        {"stopReason": "end_turn", "messages": [asked, result, said]},
    ]
