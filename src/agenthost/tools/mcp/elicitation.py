"""Elicitation: what a server wants to know of the user is asked in the turn of its call."""

import mcp_types as mcp

from agenthost.host.asking import Answers
from agenthost.host.toolcontext import ToolContext
from agenthost.tools.mcp.questions import Unaskable, content_of, questions_of

__all__ = ["elicited"]


async def elicited(
    name: str, params: mcp.ElicitRequestParams, context: ToolContext
) -> mcp.ElicitResult | mcp.ErrorData:
    """Ask the user for what a server wants, and say in its words what came of it."""
    message = f"{name}: {params.message}"  # people have to see who wants to know
    if isinstance(params, mcp.ElicitRequestURLParams):
        return _result(await context.ask(message=message, url=params.url))
    schema = params.requested_schema
    try:
        questions = questions_of(schema)
    except Unaskable as error:
        return mcp.ErrorData(code=mcp.INVALID_PARAMS, message=str(error))
    answers = await context.ask(*questions, message=message)
    result = _result(answers)
    if answers.is_accepted:
        result.content = content_of(answers, schema)
    return result


def _result(answers: Answers) -> mcp.ElicitResult:
    return mcp.ElicitResult(action=answers.response)
