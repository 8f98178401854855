"""Rollouts for GRPO-style training against the FinQA environment.

`rollout` plays one episode per prompt with a policy that writes text, and
gives back token ids, log-probabilities and rewards in the shape that TRL's
`GRPOTrainer(rollout_func=...)` takes. It needs the OpenEnv client only; a
scripted policy runs it in `tests/python/rollout.py`. The trainer wiring at the
end of this file is an illustration and is not run by any test.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional

from openenv.core import GenericEnvClient

SYSTEM = """You answer a question on a company's annual report. In each turn write one JSON object:
{"tool": "get_descriptions", "arguments": {"company_name": "..."}}
{"tool": "get_table_info", "arguments": {"company_name": "...", "table_name": "..."}}
{"tool": "sql_query", "arguments": {"company_name": "...", "table_name": "...", "query": "SELECT ... WHERE ..."}}
{"tool": "submit_answer", "arguments": {"answer": "..."}}
The last one ends the episode and is graded once."""


@dataclass
class Turn:
    """What a policy wrote, with the tokens that training needs."""

    text: str
    prompt_ids: List[int] = field(default_factory=list)
    completion_ids: List[int] = field(default_factory=list)
    logprobs: List[float] = field(default_factory=list)


Policy = Callable[[List[Dict[str, str]]], Turn]


@dataclass
class Episode:
    """One played episode."""

    turns: List[Turn]
    reward: float
    steps: int
    invalid: int
    question: str


def read_action(text: str) -> Optional[Dict[str, Any]]:
    """The action in a policy's text, or None where there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        said = json.loads(text[start : end + 1])
        return {
            "type": "call_tool",
            "tool_name": str(said["tool"]),
            "arguments": dict(said.get("arguments", {})),
        }
    except (ValueError, KeyError, TypeError):
        return None


def play(url: str, policy: Policy, seed: Optional[int] = None, max_turns: int = 12) -> Episode:
    """One episode. A seed asks the same question again, as the members of a GRPO group must be asked."""
    turns: List[Turn] = []
    invalid = 0
    with GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(seed=seed)
        asked = result.observation["metadata"]
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"{asked['question']}\nCompany: {asked['company']}"},
        ]
        reward = 0.0
        for _ in range(max_turns):
            turn = policy(messages)
            turns.append(turn)
            messages.append({"role": "assistant", "content": turn.text})
            action = read_action(turn.text)
            if action is None:
                invalid += 1
                messages.append({"role": "user", "content": "Write one JSON object with tool and arguments."})
                continue
            result = env.step(action)
            if result.done:
                reward = float(result.reward or 0.0)
                break
            seen = result.observation
            if seen.get("error"):
                invalid += 1
                said = seen["error"]["message"]
            else:
                said = seen["result"]["data"]
            messages.append({"role": "user", "content": said})
        steps = env.state()["step_count"]
    return Episode(turns, reward, steps, invalid, asked["question"])


def rollout(
    prompts: List[str],
    url: str,
    policy: Policy,
    group_size: int = 1,
    first_seed: int = 0,
    workers: int = 16,
) -> Dict[str, List[Any]]:
    """One episode per prompt, many at once. Prompts come in groups of
    `group_size` that share a question, as GRPO compares answers within a group."""
    seeds = [first_seed + n // group_size for n in range(len(prompts))]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        episodes = list(pool.map(lambda seed: play(url, policy, seed), seeds))
    joined = lambda episode, name: [token for turn in episode.turns for token in getattr(turn, name)]
    return {
        "prompt_ids": [joined(episode, "prompt_ids") for episode in episodes],
        "completion_ids": [joined(episode, "completion_ids") for episode in episodes],
        "logprobs": [joined(episode, "logprobs") for episode in episodes],
        "env_reward": [episode.reward for episode in episodes],
        "env_steps": [episode.steps for episode in episodes],
        "env_invalid": [episode.invalid for episode in episodes],
    }


def reward_from_env(completions: List[Any], **kwargs: Any) -> List[float]:
    """The reward function of the trainer: what the environment gave."""
    return [float(reward) for reward in kwargs["env_reward"]]


# How a trainer is wired to it. Not run here: it needs a GPU, trl and a model.
#
#   from trl import GRPOConfig, GRPOTrainer
#   from trl.experimental.openenv import generate_rollout_completions
#
#   def rollout_func(prompts, trainer):
#       tokenizer = trainer.processing_class
#       def policy(messages):
#           text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
#           out = generate_rollout_completions(trainer, [text])[0]
#           return Turn(tokenizer.decode(out["completion_ids"], skip_special_tokens=True),
#                       out["prompt_ids"], out["completion_ids"], out["logprobs"])
#       # generation through one vLLM engine is not thread-safe: one worker.
#       return rollout(prompts, "http://localhost:8000", policy, group_size=8,
#                      first_seed=trainer.state.global_step * 1000, workers=1)
#
#   GRPOTrainer(model="Qwen/Qwen3-0.6B", args=GRPOConfig(use_vllm=True, vllm_mode="colocate"),
#               train_dataset=dataset, rollout_func=rollout_func, reward_funcs=[reward_from_env]).train()
