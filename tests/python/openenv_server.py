"""A server of the same four tools on OpenEnv's own framework, to set ours beside.

    python openenv_server.py DATA [--port 8001] [--sessions 200]

Not the reference: a short environment written for this test on the public
`MCPEnvironment` and `create_app`, which works as the contract says the reference
does: every query reads its table's file, makes a database and forgets it. It grades nothing.
`FINQA_REFERENCE_URL=http://127.0.0.1:8001 cargo bench --bench env_load` drives it
in the same run as ours.
"""

import argparse
import csv
import json
import random
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


class TableState(State):
    current_question: str = ""
    current_company: str = ""


class TableEnvironment(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, data):
        companies = data / "input_companies"
        mcp = FastMCP("tables")

        @mcp.tool
        def get_descriptions(company_name: str) -> str:
            return json.dumps([path.stem for path in (companies / company_name).glob("*.json")])

        @mcp.tool
        def get_table_info(company_name: str, table_name: str) -> str:
            entry = dict(self.tables()[f"{company_name}/{table_name}"])
            frame = pd.DataFrame(json.loads(entry.pop("table")))
            entry["column_dtypes"] = {name: str(frame[name].dtype) for name in frame.columns}
            entry["unique_vals_per_col"] = {
                name: list(frame[name].unique()) for name in frame.columns[:1]
            }
            return json.dumps(entry)

        @mcp.tool
        def sql_query(company_name: str, table_name: str, query: str) -> str:
            database = sqlite3.connect(":memory:")
            frame = pd.read_json(companies / company_name / f"{table_name}.json")
            frame.to_sql(table_name, database, index=False)
            rows = pd.read_sql_query(query, database)
            database.close()
            return rows.to_json(orient="records")

        @mcp.tool
        def submit_answer(answer: str) -> str:
            return f"Answer submitted: {answer}"

        super().__init__(mcp)
        with open(data / "benchmark_questions" / "finqa.csv", newline="") as file:
            self.questions = list(csv.DictReader(file))
        random.shuffle(self.questions)
        self.metadata = companies / "tables_cleaned_all_companies.json"
        self.read = None
        self.now = TableState()

    def tables(self):
        if self.read is None:
            self.read = json.loads(self.metadata.read_text())
        return self.read

    def reset(self, seed=None, episode_id=None, **_):
        question = self.questions.pop()
        self.questions.insert(0, question)
        self.now = TableState(
            episode_id=episode_id or str(uuid.uuid4()),
            current_question=question["user_query"],
            current_company=question["company"],
        )
        return Observation(done=False, reward=0.0)

    def _step_impl(self, action, timeout_s=None, **_):
        return Observation(done=False, reward=0.0)

    @property
    def state(self):
        return self.now


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--port", type=int, default=8001)
    arguments.add_argument("--sessions", type=int, default=200)
    given = arguments.parse_args()
    app = create_app(
        lambda: TableEnvironment(given.data),
        CallToolAction,
        CallToolObservation,
        env_name="tables",
        max_concurrent_envs=given.sessions,
    )
    uvicorn.run(app, host="127.0.0.1", port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
