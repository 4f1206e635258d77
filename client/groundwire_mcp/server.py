"""The MCP server: its handlers over the tools, and whose token a request carries."""

from contextlib import AbstractContextManager
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from starlette.requests import Request

from groundwire_client.caller_tokens import answering_as, bearer_of
from groundwire_mcp.tool_calls import ToolCalls
from groundwire_mcp.tool_errors import ToolError
from groundwire_mcp.tools import INSTRUCTIONS, tools_of

NODE_URI = "groundwire://node/"
_TEMPLATE = types.ResourceTemplate(
    uri_template=NODE_URI + "{id}",
    name="node",
    title="Node of the code",
    description="The text of a node by its place or id, percent-encoded, below a line with its file, lines and symbol.",
    mime_type="text/plain",
)
_Context = ServerRequestContext[Any, Any]


def make_server(calls: ToolCalls) -> Server[Any]:
    """The server; each request that comes over HTTP is answered with its own token, which is kept nowhere."""
    entries = {entry.name: entry for entry in tools_of(calls)}
    listed = [entry.listed() for entry in entries.values()]

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in entries:
            raise MCPError(types.INVALID_PARAMS, f"there is no such tool; the tools are {', '.join(entries)}")
        try:
            with _as_caller(context):
                result = await entries[params.name].call(params.arguments or {})
        except ToolError as failure:
            return types.CallToolResult(content=[types.TextContent(text=str(failure))], is_error=True)
        structured = result.model_dump(by_alias=True, exclude_defaults=True) if result.is_structured else None
        return types.CallToolResult(content=[types.TextContent(text=result.text())], structured_content=structured)

    async def list_resources(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def list_templates(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_TEMPLATE])

    async def read_resource(context: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            if not uri.startswith(NODE_URI):
                raise ToolError(f"there is no such resource; nodes are {NODE_URI}{{id}}")
            with _as_caller(context):
                node = await calls.node(unquote(uri.removeprefix(NODE_URI)))
        except ToolError as failure:
            raise MCPError(types.INVALID_PARAMS, str(failure)) from None
        text = f"{node.line()}\n\n{node.text}"
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)]
        )

    return Server(
        "groundwire",
        version=version("groundwire"),
        title="Groundwire",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _as_caller(context: _Context) -> AbstractContextManager[None]:
    """Answers with the token that this very request carries; over stdio there is none."""
    request: Request | None = context.request
    return answering_as(bearer_of(request.headers.get("authorization")) if request else "")
