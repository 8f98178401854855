"""The checks of OpenEnv's validator, on a running server with the built-in data.

    python openenv_checks.py http://127.0.0.1:8000 PACKAGE DATA

PACKAGE holds openenv.yaml, DATA is the data that the server was started with. The
three runtime graders that need no engine are the validator's own; openenv 0.10.0
has none for the other checks, so they are written here under the validator's names.
"""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "crates" / "finqa-env" / "validation"))

import oracle  # noqa: E402
from openenv.core import GenericEnvClient  # noqa: E402
from openenv.core.mcp_client import MCPToolClient  # noqa: E402
from openenv.validation import Level, load_policy, run_validation  # noqa: E402
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser  # noqa: E402
from openenv.validation.types import ProviderCapability  # noqa: E402

GRADED = ["runtime.observation_schema", "runtime.reward_well_formed", "runtime.state_contract"]
# Answers that an agent can give without reading anything.
CONSTANTS = ["", "0", "1", "100", "yes", "no", "N/A", "nan", "inf", r"\boxed{0}", "0, 0", "1%"]


def call(tool, **arguments):
    return {"type": "call_tool", "tool_name": tool, "arguments": arguments}


def client(url):
    return GenericEnvClient(base_url=url).sync()


class Episode:
    """A fixed series of calls in a session of its own."""

    def __init__(self, url, **reset):
        self.env = client(url)
        self.env.__enter__()
        self.seen = [self.env.reset(**reset)]
        company = self.seen[0].observation["metadata"]["company"]
        tables = json.loads(self.step("get_descriptions", company_name=company))
        at = {"company_name": company, "table_name": tables[0]}
        columns = json.loads(self.step("get_table_info", **at))["column_names"]
        name = columns[0].replace('"', '""')
        query = f'SELECT "{name}" FROM data WHERE "{name}" IS NOT NULL'
        self.step("sql_query", **at, query=query)

    def step(self, tool, **arguments):
        self.seen.append(self.env.step(call(tool, **arguments)))
        result = self.seen[-1].observation.get("result")
        return result and result["data"]

    def end(self, answer):
        self.step("submit_answer", answer=answer)
        self.env.__exit__(None, None, None)
        return [(seen.observation, seen.reward, seen.done) for seen in self.seen]


def seed_control(url, **_):
    first = [Episode(url, seed=seed).end("?")[0] for seed in range(12)]
    again = [Episode(url, seed=seed).end("?")[0] for seed in range(12)]
    assert first == again, "a seed asks the same question in every session"
    assert len({json.dumps(seen[0]) for seen in first}) > 4, "seeds ask different questions"


def episode_determinism(url, **_):
    for reset in ({"seed": 7}, {"split": "test", "index": 1}):
        runs = [Episode(url, **reset).end("0.25") for _ in range(3)]
        assert runs[0] == runs[1] == runs[2], reset


def episode_isolation(url, **_):
    one, other = Episode(url, seed=1), Episode(url, seed=2)
    before = other.env.state()
    for query in ("DELETE FROM data WHERE 1", "CREATE TABLE x AS SELECT 1 WHERE 1"):
        company = before["current_company"]
        table = json.loads(one.step("get_descriptions", company_name=company))[0]
        refused = one.step("sql_query", company_name=company, table_name=table, query=query)
        assert refused.startswith("Error executing query"), refused
    one.end("?")
    assert other.env.state() == before
    assert other.end("?") == Episode(url, seed=2).end("?")


def oracle_containment(url, manifest, **_):
    place = manifest.capabilities.oracle.location
    for name in (place, f"../../{place}", f"/{place}", "../benchmark_questions/finqa.csv"):
        for arguments in ({"company_name": name}, {"company_name": "..", "table_name": name}):
            episode = Episode(url, seed=1)
            tool = "get_table_info" if "table_name" in arguments else "get_descriptions"
            said = episode.step(tool, **arguments)
            assert said.startswith("Error: "), said
            episode.end("?")


def tool_declaration_accuracy(url, manifest, **_):
    async def discovered():
        async with MCPToolClient(base_url=url) as env:
            return [tool.name for tool in await env.list_tools()]

    assert asyncio.run(discovered()) == manifest.capabilities.declared_tools


def task_declaration_accuracy(url, manifest, **_):
    found = {split: len(oracle.tasks(url, split)) for split in oracle.SPLITS}
    assert found == manifest.capabilities.declared_task_count, found


def no_solution_leakage(url, data, **_):
    known = oracle.truths(data)
    with client(url) as env:
        for split in oracle.SPLITS:
            for task in oracle.tasks(url, split):
                truth = known[task["question_id"]]
                reset = env.reset(split=split, index=task["index"])
                state = env.state()
                assert state.pop("ground_truth") == "", state
                shown = json.dumps([task, reset.observation, state], ensure_ascii=False)
                assert truth not in shown and "boxed" not in shown, (truth, shown)


def verifier_determinism(url, data, **_):
    known = oracle.truths(data)
    for answer_of in (lambda task: known[task["question_id"]], lambda task: "0.5"):
        runs = [oracle.play(url, answer_of) for _ in range(3)]
        assert runs[0] == runs[1] == runs[2]


def oracle_max(url, data, manifest, **_):
    known = oracle.truths(data)
    rewards = oracle.play(url, lambda task: known[task["question_id"]])
    declared = manifest.reward
    assert min(rewards) >= declared.range[1] - declared.oracle_tolerance, rewards


def floor_gap(url, manifest, **_):
    floors = {}
    for answer in CONSTANTS:
        rewards = oracle.play(url, lambda task: answer)
        floors[answer] = sum(rewards) / len(rewards)
    declared = manifest.reward
    best = max(floors.values())
    assert declared.range[1] - best >= declared.floor_margin, floors
    return f"best constant answer {best:.3f}"


class Running:
    """The server as the subject of the validator's runtime graders."""

    name = "running"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self, url):
        self.base_url = url

    def build(self, root, execution):
        return "sha256:" + "0" * 64

    def start(self, spec):
        return self

    def inspect(self):
        return {}

    def stop(self):
        pass


def graded(url, package):
    """The verdicts of the validator's own graders."""
    report = run_validation(
        package, max_level=Level.RUNTIME, policy=load_policy("v2"), provider=Running(url)
    )
    return {result.check_id: result for result in report.results}


OURS = {
    "runtime.seed_control": seed_control,
    "runtime.episode_determinism": episode_determinism,
    "runtime.episode_isolation": episode_isolation,
    "runtime.oracle_containment": oracle_containment,
    "runtime.tool_declaration_accuracy": tool_declaration_accuracy,
    "runtime.task_declaration_accuracy": task_declaration_accuracy,
    "semantic.no_solution_leakage": no_solution_leakage,
    "semantic.verifier_determinism": verifier_determinism,
    "semantic.oracle_max": oracle_max,
    "semantic.floor_gap": floor_gap,
}


def main(url, package, data):
    package = Path(package)
    results = graded(url, package)
    for check in ["static.manifest", "runtime.startup", *GRADED]:
        result = results[check]
        assert result.status.value == "pass", (check, result.evidence)
        print(f"ok: {check} (the validator's own)")
    manifest = OpenEnvYamlParser().parse(package)
    for name, check in OURS.items():
        said = check(url=url, manifest=manifest, data=data)
        print(f"ok: {name}" + (f" ({said})" if said else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])
