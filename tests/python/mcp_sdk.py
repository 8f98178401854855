"""The official MCP Python SDK lists and calls the tools, for openenv_clients.py.

Runs with the SDK's 1.x and 2.x lines.
"""

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOLS = ["get_descriptions", "get_table_info", "sql_query", "submit_answer"]


def field(thing, *names):
    """A field under its 2.x or its 1.x name."""
    for name in names:
        if hasattr(thing, name):
            return getattr(thing, name)
    raise AttributeError(names)


async def check(streams):
    read, write = streams[0], streams[1]
    async with ClientSession(read, write) as session:
        hello = await session.initialize()
        assert field(hello, "server_info", "serverInfo").name == "convfinqa-finqa-env", hello
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS, tools
        schema = field(tools[0], "input_schema", "inputSchema")
        assert schema["required"] == ["company_name"], schema
        said = await session.call_tool("submit_answer", {"answer": "42"})
        assert not field(said, "is_error", "isError"), said
        assert said.content[0].text == "Answer submitted: 42", said
        missing = await session.call_tool("get_descriptions", {"company_name": "no such company"})
        assert missing.content[0].text.startswith("Error: 'no such company' not found."), missing
        wrong = await session.call_tool("get_descriptions", {})
        assert field(wrong, "is_error", "isError"), wrong


async def mcp_over_http(url):
    try:
        from mcp.client.streamable_http import streamable_http_client as connect
    except ImportError:
        from mcp.client.streamable_http import streamablehttp_client as connect
    async with connect(f"{url}/mcp/stream") as streams:
        await check(streams)


async def mcp_over_stdio(command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams:
        await check(streams)
