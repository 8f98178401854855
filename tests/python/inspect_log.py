"""Reads Inspect logs with the real package, and prints what it finds in each as JSON.

    inspect_log.py LOG…
"""

import json
import sys

from inspect_ai.log import read_eval_log, read_eval_log_sample


def found(path):
    log = read_eval_log(path)
    sample = log.samples[0]
    again = read_eval_log_sample(path, id=sample.id, epoch=sample.epoch)
    assert again.input == sample.input
    return {
        "version": log.version,
        "status": log.status,
        "model": log.eval.model,
        "samples": len(log.samples),
        "scores": {
            score.name: {name: metric.value for name, metric in score.metrics.items()}
            for score in log.results.scores
        },
        "sample": {
            "id": sample.id,
            "input": sample.input,
            "target": sample.target,
            "roles": [message.role for message in sample.messages],
            "agents": sorted(
                {m.metadata["agent"] for m in sample.messages if m.metadata and "agent" in m.metadata}
            ),
            "scores": {name: score.value for name, score in sample.scores.items()},
            "explanations": [score.explanation for score in sample.scores.values()],
            "tool_calls": [
                call.function
                for m in sample.messages
                for call in (getattr(m, "tool_calls", None) or [])
            ],
        },
        "tokens": sum(usage.total_tokens for usage in log.stats.model_usage.values()),
        "errors": sum(sample.error is not None for sample in log.samples),
        # What the package writes again must be what it read.
        "is_stable": json.loads(log.model_dump_json())["eval"]["run_id"] == log.eval.run_id,
    }


for path in sys.argv[1:]:
    print(json.dumps(found(path)))
