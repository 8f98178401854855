"""A FinQA environment on OpenEnv's own framework, for `convfinqa env play --url`.

    python openenv_finqa.py DATA SESSIONS

prints its address and serves until it is ended.

Not the reference: a short environment written for this test on the public
`MCPEnvironment` and `create_app`, with the reference's tools and state. As there, each
session shuffles the questions itself, a reset shows nothing of the question on core
0.2.3, and a submission is answered by a reward alone. It grades by equality.
"""

import csv
import json
import random
import socket
import sqlite3
import sys
import uuid
from pathlib import Path

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
        described = json.loads((companies / "tables_cleaned_all_companies.json").read_text())
        mcp = FastMCP("tables")

        @mcp.tool
        def get_descriptions(company_name: str) -> str:
            """Get a list of available table names for a company."""
            return json.dumps([path.stem for path in (companies / company_name).glob("*.json")])

        @mcp.tool
        def get_table_info(company_name: str, table_name: str) -> str:
            """Get table metadata."""
            entry = described.get(f"{company_name}/{table_name}")
            if entry is None:
                return f"Error: Table '{table_name}' not found for company '{company_name}'"
            return json.dumps({key: entry[key] for key in entry if key != "table"})

        @mcp.tool
        def sql_query(company_name: str, table_name: str, query: str) -> str:
            """Execute a SQL query on a table."""
            table = json.loads((companies / company_name / f"{table_name}.json").read_text())
            columns = list(table)
            rows = [list(row) for row in zip(*(list(column.values()) for column in table.values()))]
            database = sqlite3.connect(":memory:")
            names = ", ".join(f'"{name}"' for name in columns)
            marks = ", ".join("?" for _ in columns)
            database.execute(f'CREATE TABLE "{table_name}" ({names})')
            database.executemany(f'INSERT INTO "{table_name}" VALUES ({marks})', rows)
            try:
                found = database.execute(query)
                keys = [column[0] for column in found.description]
                return json.dumps([dict(zip(keys, row)) for row in found])
            except sqlite3.Error as error:
                return f"Error executing query: {error}"

        @mcp.tool
        def submit_answer(answer: str) -> str:
            """Submit a final answer for the question."""
            return f"Answer submitted: {answer}"

        super().__init__(mcp)
        with open(data / "benchmark_questions" / "finqa.csv", newline="") as file:
            self.questions = list(csv.DictReader(file))
        random.shuffle(self.questions)
        self.dealt = 0
        self.now = FinQAState()

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
    data, sessions = Path(sys.argv[1]), int(sys.argv[2])
    app = create_app(
        lambda: Tables(data),
        CallToolAction,
        CallToolObservation,
        env_name="finqa_env",
        max_concurrent_envs=sessions,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
