"""A FinQA environment on OpenEnv's own framework: for `convfinqa env play --url` to
play against, and to compare our server with.

    python openenv_finqa.py DATA [--port 8001] [--sessions 200]

prints its address and serves until it is ended; without --port on a free one.

Not OpenEnv's finqa_env: a short environment written for these tests on the public
`MCPEnvironment` and `create_app`, with the tools and state of finqa_env, working as the
contract says that finqa_env does: every query reads its table's file with pandas,
makes a database and forgets it; each session shuffles the questions itself; a reset
does not show the question on core 0.2.3; a submission is answered by a reward
alone. It grades by equality.
"""

import argparse
import csv
import json
import random
import socket
import sqlite3
import uuid
from pathlib import Path

import pandas as pd
import uvicorn
from fastmcp import FastMCP
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Observation, State


class FinQAState(State):
    current_question: str = ""
    current_company: str = ""
    ground_truth: str = ""
    question_id: str = ""


class Tables(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, data):
        companies = data / "input_companies"
        mcp = FastMCP("tables")

        @mcp.tool
        def get_descriptions(company_name: str) -> str:
            """Get a list of available table names for a company."""
            return json.dumps([path.stem for path in (companies / company_name).glob("*.json")])

        @mcp.tool
        def get_table_info(company_name: str, table_name: str) -> str:
            """Get table metadata."""
            described = self.described().get(f"{company_name}/{table_name}")
            if described is None:
                return f"Error: Table '{table_name}' not found for company '{company_name}'"
            entry = dict(described)
            frame = pd.DataFrame(json.loads(entry.pop("table")))
            entry["column_dtypes"] = {name: str(frame[name].dtype) for name in frame.columns}
            entry["unique_vals_per_col"] = {
                name: frame[name].unique().tolist() for name in frame.columns[:1]
            }
            return json.dumps(entry)

        @mcp.tool
        def sql_query(company_name: str, table_name: str, query: str) -> str:
            """Execute a SQL query on a table."""
            database = sqlite3.connect(":memory:")
            try:
                frame = pd.read_json(companies / company_name / f"{table_name}.json")
                frame.to_sql(table_name, database, index=False)
                return pd.read_sql_query(query, database).to_json(orient="records")
            except (ValueError, OSError, sqlite3.Error, pd.errors.DatabaseError) as error:
                return f"Error executing query: {error}"
            finally:
                database.close()

        @mcp.tool
        def submit_answer(answer: str) -> str:
            """Submit a final answer for the question."""
            return f"Answer submitted: {answer}"

        super().__init__(mcp)
        with open(data / "benchmark_questions" / "finqa.csv", newline="") as file:
            self.questions = list(csv.DictReader(file))
        random.shuffle(self.questions)
        self.metadata = companies / "tables_cleaned_all_companies.json"
        self.read = None
        self.dealt = 0
        self.now = FinQAState()

    def described(self):
        if self.read is None:
            self.read = json.loads(self.metadata.read_text())
        return self.read

    def reset(self, seed=None, episode_id=None, **_):
        question = self.questions[self.dealt % len(self.questions)]
        self.dealt += 1
        self.now = FinQAState(
            episode_id=episode_id or str(uuid.uuid4()),
            current_question=question["user_query"],
            current_company=question["company"],
            ground_truth=question["answer"],
            question_id=str(question["id"]),
        )
        return Observation(done=False, reward=0.0, metadata={"question": question["user_query"]})

    async def step_async(self, action, timeout_s=None, **kwargs):
        self.now.step_count += 1
        seen = await super().step_async(action, timeout_s=timeout_s, **kwargs)
        if getattr(action, "tool_name", None) != "submit_answer":
            return seen
        right = str(action.arguments.get("answer", "")) == self.now.ground_truth
        return Observation(done=True, reward=1.0 if right else 0.0)

    def _step_impl(self, action, timeout_s=None, **_):
        return Observation(done=False, reward=0.0)

    @property
    def state(self):
        return self.now


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--sessions", type=int, default=200)
    given = arguments.parse_args()
    app = create_app(
        lambda: Tables(given.data),
        CallToolAction,
        CallToolObservation,
        env_name="finqa_env",
        max_concurrent_envs=given.sessions,
    )
    listener = socket.create_server(("127.0.0.1", given.port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
