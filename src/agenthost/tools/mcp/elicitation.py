"""MCP elicitation: a server's requests to the user, asked in the turn of its call."""

import mcp_types as mcp

from agenthost.host.authoring.questions import Answers
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.tools.mcp.questions import UnsupportedForm, answers_to_content, questions_from_schema

__all__ = ["elicit"]


async def elicit(
    name: str, params: mcp.ElicitRequestParams, context: ToolContext
) -> mcp.ElicitResult | mcp.ErrorData:
    """Ask the user what a server requests, and return the result for the server."""
    message = f"{name}: {params.message}"  # MCP: people must see which server asks
    if isinstance(params, mcp.ElicitRequestURLParams):
        return _result(await context.ask(message=message, url=params.url))
    schema = params.requested_schema
    try:
        questions = questions_from_schema(schema)
    except UnsupportedForm as error:
        return mcp.ErrorData(code=mcp.INVALID_PARAMS, message=str(error))
    answers = await context.ask(*questions, message=message)
    result = _result(answers)
    if answers.is_accepted:
        result.content = answers_to_content(answers, schema)
    return result


def _result(answers: Answers) -> mcp.ElicitResult:
    return mcp.ElicitResult(action=answers.response)
