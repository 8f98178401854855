"""Runs the commands of the Kubernetes manifests as a cluster would, one process for each index.

    python indexed_job.py path/to/convfinqa

The pods' arguments and variables are those of deploy/kubernetes/, with the deterministic
pair and the built-in sample in place of a model and its data, and a folder for the volume.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

MANIFESTS = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
# What differs between two runs of the same questions.
VARYING = {"latency", "attempts"}


def job(name):
    """A Job's spec and its only container."""
    spec = yaml.safe_load((MANIFESTS / name).read_text())["spec"]
    [container] = spec["template"]["spec"]["containers"]
    return spec, container


def run(binary, folder, arguments, variables):
    """Runs the binary with no other variables; gives the process's end."""
    variables = {"HOME": str(folder), **variables}
    return subprocess.run([binary, *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=300)


def rows(path):
    """The rows of an output.csv but for what varies."""
    with open(path, newline="") as file:
        return [{k: v for k, v in row.items() if k not in VARYING} for row in csv.DictReader(file)]


def main(binary):
    binary = str(Path(binary).resolve())
    spec, shard = job("shards.yaml")
    _, merge = job("merge.yaml")
    arguments = shard["args"]
    shards = spec["completions"]
    assert arguments[arguments.index("--shard") + 1] == f"auto/{shards}", "completions and --shard differ"
    name = arguments[arguments.index("--run") + 1]
    assert merge["args"] == ["merge", name], merge["args"]
    [final, _] = spec["podFailurePolicy"]["rules"]
    final = final["onExitCodes"]["values"]

    with tempfile.TemporaryDirectory() as root:
        volume, alone = Path(root) / "volume", Path(root) / "alone"
        volume.mkdir(), alone.mkdir()

        def pod(container, **variables):
            given = {entry["name"]: entry["value"].replace("/volume", str(volume)) for entry in container["env"]}
            return run(binary, volume, container["args"], {**given, **variables})

        sample = {"CONVFINQA_MODEL": "offline", "CONVFINQA_DATA_PATH": "sample"}
        missing = pod(shard, CONVFINQA_MODEL="offline", JOB_COMPLETION_INDEX="0")
        assert missing.returncode == 3 and 3 in final, missing
        beyond = pod(shard, **sample, JOB_COMPLETION_INDEX=str(shards))
        assert beyond.returncode == 2 and 2 in final, beyond
        for index in range(shards):
            ended = pod(shard, **sample, JOB_COMPLETION_INDEX=str(index))
            assert ended.returncode == 0, ended
            if index == 0:
                early = pod(merge)
                assert early.returncode == 3, early
        merged = pod(merge)
        assert merged.returncode == 0, merged

        n = next(entry["value"] for entry in shard["env"] if entry["name"] == "CONVFINQA_N")
        whole = run(binary, alone, ["--n", n, "--output", str(alone)], sample)
        assert whole.returncode == 0, whole
        got, expected = rows(volume / "output" / "output.csv"), rows(alone / "output.csv")
        assert got == expected, "the merged rows differ from those of one process"
        print(f"{shards} indexes ran; their {len(got)} merged rows are those of one process")


if __name__ == "__main__":
    main(sys.argv[1])
