"""A step function, as for a model: it yields text, thoughts and calls, and is run again for the results."""

from collections.abc import AsyncIterator

from agenthost import Agent, Call, Thought, Turn, Usage, tool


@tool(read_only=True)
def look_up(word: str) -> str:
    """Look up a word."""
    return {"agent": "one who acts", "host": "one who receives"}.get(word, "not in this dictionary")


class Dictionary(Agent):
    """Explains a word, in two steps."""

    name = "dictionary"
    tools = (look_up,)

    async def answer(self, turn: Turn) -> AsyncIterator[str | Thought | Call | Usage]:
        """Look the word up first, then say what was found."""
        last = turn.messages[-1]  # what a model would get, including tool results
        if last["role"] == "user":
            yield Thought("I should look that up.")
            yield Call("look_up", {"word": turn.text})
        else:
            yield f"**{turn.text}**: "
            yield str(last["content"])
            yield Usage(input_tokens=40, output_tokens=8)


dictionary = Dictionary()
