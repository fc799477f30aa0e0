"""An unchanged LangGraph graph: its text streams, its tool calls are shown, and interrupts ask the user.

`./run serve examples/langgraph_agent.py` needs no API key, as the model is a function. It needs LangGraph:
`./run python -m pip install langgraph`.
"""

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from agenthost.agents.adapters import LangGraphAgent


def population(city: str) -> str:
    """Tell how many people live in a city."""
    return {"Paris": "2 million", "Lima": "10 million"}.get(city, "unknown")


def think(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Play the model: look the city up, then answer."""
    last = state["messages"][-1]
    if last.type == "tool":
        return {"messages": [AIMessage(f"{last.text} people live there.")]}
    city = interrupt("Which city?")
    call = {"name": "population", "args": {"city": city}, "id": f"look-up-{len(state['messages'])}"}
    return {"messages": [AIMessage("I look it up. ", tool_calls=[call])]}


graph = StateGraph(MessagesState)
graph.add_node("think", think)
graph.add_node("tools", ToolNode([population]))
graph.add_edge(START, "think")
graph.add_conditional_edges("think", tools_condition, {"tools": "tools", END: END})
graph.add_edge("tools", "think")

agent = LangGraphAgent("geographer", graph.compile(checkpointer=InMemorySaver()), title="Geographer")
