"""A client for the FinQA environment, with the interface of OpenEnv's own.

    with FinQAEnv(base_url="http://localhost:8000").sync() as env:
        question = env.reset(seed=42).observation.metadata["question"]
        tables = env.step(FinQAAction(tool_name="get_descriptions",
                                      arguments={"company_name": "acme"}))
        print(text_of(tables))

It runs unchanged on `openenv-core` 0.2.3 and on `openenv` 0.10.0
(`pip install openenv`). The first needs `async with` or `.sync()` as shown.
"""

from typing import Any, Dict, Optional

from openenv.core.env_client import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Observation, State

TOOLS = ("get_descriptions", "get_table_info", "sql_query", "submit_answer")


class FinQAAction(CallToolAction):
    """One call of one of the four tools."""


class FinQAState(State):
    """The state of an episode; `ground_truth` is empty until it is over."""

    current_question: str = ""
    current_company: str = ""
    ground_truth: str = ""
    question_id: str = ""


class FinQAEnv(EnvClient[FinQAAction, Observation, FinQAState]):
    """Plays episodes over a WebSocket: one connection is one session."""

    def _step_payload(self, action: FinQAAction) -> Dict[str, Any]:
        return {
            "type": "call_tool",
            "tool_name": action.tool_name,
            "arguments": action.arguments,
        }

    def _parse_result(self, payload: Dict[str, Any]) -> StepResult[Observation]:
        seen = payload.get("observation", {})
        common = {
            "done": payload.get("done", False),
            "reward": payload.get("reward"),
            "metadata": payload.get("metadata") or seen.get("metadata") or {},
        }
        if "tool_name" in seen:
            observation: Observation = CallToolObservation(
                tool_name=seen["tool_name"],
                result=seen.get("result"),
                error=seen.get("error"),
                **common,
            )
        else:
            observation = Observation(**common)
        return StepResult(
            observation=observation, reward=common["reward"], done=common["done"]
        )

    def _parse_state(self, payload: Dict[str, Any]) -> FinQAState:
        return FinQAState(**payload)


def text_of(result: StepResult[Observation]) -> Optional[str]:
    """The text a tool answered with, or None where a step shows none."""
    seen = getattr(result.observation, "result", None)
    return seen["data"] if isinstance(seen, dict) else None
