"""The public OpenEnv clients play episodes against a running server, the MCP SDK calls its tools,
and OpenEnv's validator checks it.

    python openenv_clients.py http://127.0.0.1:8000 PROGRAM

PROGRAM is convfinqa, whose own MCP server on standard input and output is called too.
Runs under openenv-core 0.2.3 and under openenv 0.10.0; every check is an
assertion, and the exit status is 0 only if all hold.
"""

import asyncio
import contextlib
import io
import json
import sys
from pathlib import Path
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "examples"))

import mcp_sdk  # noqa: E402
from finqa_env import TOOLS, FinQAAction, FinQAEnv, text_of  # noqa: E402
from openenv.cli.__main__ import app  # noqa: E402
from openenv.core import GenericEnvClient  # noqa: E402
from openenv.core.env_server.mcp_types import CallToolAction  # noqa: E402
from openenv.core.mcp_client import MCPToolClient  # noqa: E402

NEWER = hasattr(MCPToolClient, "new_session")


def call(tool, **arguments):
    return {"type": "call_tool", "tool_name": tool, "arguments": arguments}


def play(reset, step, state):
    """One episode on a synchronous GenericEnvClient's three verbs."""
    first = reset(seed=7, episode_id="an-episode")
    asked = first.observation["metadata"]
    assert asked["question"] and asked["available_tools"] == list(TOOLS), asked
    assert first.reward == 0.0 and first.done is False
    tables = json.loads(step(call("get_descriptions", company_name=asked["company"])).observation["result"]["data"])
    assert tables, "a question's company has tables"
    info = step(call("get_table_info", company_name=asked["company"], table_name=tables[-1]))
    assert "column_dtypes" in info.observation["result"]["data"], info
    seen = state()
    assert seen["episode_id"] == "an-episode" and seen["step_count"] == 2, seen
    assert seen["ground_truth"] == "" and seen["current_question"] == asked["question"], seen
    end = step(call("submit_answer", answer="certainly not this"))
    assert end.done is True and end.reward == 0.0, end
    truth = end.observation["metadata"]["ground_truth"]
    assert state()["ground_truth"] == truth
    # The same seed asks the same question: now the answer is known.
    again = reset(seed=7)
    assert again.observation["metadata"]["question"] == asked["question"]
    end = step(call("submit_answer", answer=truth))
    assert end.done is True and end.reward == 1.0, end


def generic_sync(url):
    with GenericEnvClient(base_url=url).sync() as env:
        play(env.reset, env.step, env.state)


async def generic_async(url):
    async with GenericEnvClient(base_url=url) as env:
        first = await env.reset(seed=3)
        company = first.observation["metadata"]["company"]
        one = await env.step(call("get_descriptions", company_name=company))
        assert json.loads(one.observation["result"]["data"])
        unknown = await env.step(call("no_such_tool"))
        assert unknown.observation["error"]["error_type"] == "tool_not_found", unknown
        assert (await env.state())["step_count"] == 2
        # An invalid action is an error for this message alone.
        try:
            await env.step({"type": "dance"})
        except RuntimeError as error:
            assert "VALIDATION_ERROR" in str(error) or "Invalid message" in str(error), error
        else:
            raise AssertionError("a bad action was taken")
        assert (await env.state())["step_count"] == 2


async def mcp_tool_client(url):
    async with MCPToolClient(base_url=url) as env:
        tools = await env.list_tools()
        assert [tool.name for tool in tools] == list(TOOLS), tools
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        assert await env.has_tool("sql_query") and not await env.has_tool("dance")
        reset = await env.reset(seed=11)
        company = reset.observation.metadata["company"]
        listed = await env.call_tool("get_descriptions", company_name=company)
        assert json.loads(listed), listed
        stepped = await env.step(
            CallToolAction(tool_name="get_descriptions", arguments={"company_name": company})
        )
        assert stepped.observation.result["data"] == listed, "one session, two ways in"
        # From 0.5 on, call_tool goes over HTTP and counts no step.
        assert (await env.state()).step_count == (1 if NEWER else 2)
        end = await env.step(CallToolAction(tool_name="submit_answer", arguments={"answer": "x"}))
        assert end.done and end.reward == 0.0
        try:
            await env.call_tool("get_descriptions", wrong="argument")
        except RuntimeError as error:
            if NEWER:
                assert "get_descriptions" in str(error), error
        else:
            # Before 0.5 the call is a step, and the episode is over.
            assert not NEWER, "a bad call was taken"


def mcp_tool_client_sync(url):
    with MCPToolClient(base_url=url).sync() as env:
        tools = env.list_tools()
        assert [tool.name for tool in tools] == list(TOOLS)
        env.reset()
        assert env.call_tool("submit_answer", answer="5") is not None or not NEWER


async def example_client(url):
    async with FinQAEnv(base_url=url) as env:
        reset = await env.reset(seed=5)
        company = reset.observation.metadata["company"]
        tables = await env.step(
            FinQAAction(tool_name="get_descriptions", arguments={"company_name": company})
        )
        assert json.loads(text_of(tables))
        state = await env.state()
        assert state.current_company == company and state.step_count == 1
        end = await env.step(FinQAAction(tool_name="submit_answer", arguments={"answer": ""}))
        assert end.done and text_of(end) is None
        assert end.observation.metadata["ground_truth"]


async def many_at_once(url, sessions=64):
    async def one(n):
        async with GenericEnvClient(base_url=url) as env:
            first = await env.reset(seed=n, episode_id=f"episode-{n}")
            company = first.observation["metadata"]["company"]
            for _ in range(5):
                await env.step(call("get_descriptions", company_name=company))
            state = await env.state()
            assert state["episode_id"] == f"episode-{n}" and state["step_count"] == 5, state
            end = await env.step(call("submit_answer", answer="0"))
            assert end.done
            return 1

    assert sum(await asyncio.gather(*(one(n) for n in range(sessions)))) == sessions


async def tasks_by_index(url):
    """The members of a group get the question of one index."""
    with urlopen(f"{url}/finqa_env/splits", timeout=10) as answer:
        assert [split["name"] for split in json.load(answer)] == ["train", "validation", "test"]
    asked = set()
    for _ in range(2):
        async with GenericEnvClient(base_url=url) as env:
            for index in (0, 1):
                reset = await env.reset(split="train", index=index)
                asked.add((index, reset.observation["metadata"]["question"]))
            try:
                await env.reset(split="train", index=100_000)
            except RuntimeError as error:
                assert "Invalid task index" in str(error), error
            else:
                raise AssertionError("a task that does not exist was asked")
            assert (await env.state())["current_question"], "the session continues"
    assert len(asked) == 2, asked


async def new_sessions(url):
    """From 0.10 a client opens further sessions of its own kind."""
    async with GenericEnvClient(base_url=url) as env:
        other = await env.new_session()
        await env.reset(episode_id="a")
        await other.reset(episode_id="b")
        assert (await env.state())["episode_id"] == "a"
        assert (await other.state())["episode_id"] == "b"


def validator(url):
    """`openenv validate --url`, without an interpreter of its own."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        app(["validate", "--json", "--url", url], standalone_mode=False)
    said = said.getvalue()
    assert json.loads(said[said.index("{") :])["passed"], said


def main(url, program):
    checks = [
        generic_sync,
        generic_async,
        mcp_tool_client,
        mcp_tool_client_sync,
        example_client,
        tasks_by_index,
        many_at_once,
        mcp_sdk.mcp_over_http,
        validator,
    ]
    if NEWER:
        checks.append(new_sessions)
    for check in checks:
        done = check(url)
        if asyncio.iscoroutine(done):
            asyncio.run(done)
        print(f"ok: {check.__name__}")
    asyncio.run(mcp_sdk.mcp_over_stdio([program, "env", "serve", "--stdio"]))
    print("ok: mcp_over_stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
