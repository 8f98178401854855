"""GRPO on the FinQA environment, with TRL's `environment_factory`.

    convfinqa env serve &
    python trl_grpo.py http://127.0.0.1:8000

It needs `pip install trl==1.16.0 openenv==0.10.0` (6 GB with torch), two processors
and about a minute, and no network: the model is tiny and its weights are random, the
tokenizer is made here, the chat template is TRL's. Such a model writes no call by
itself, so it is first taught calls that the server accepts, which submit a right answer
as often as a wrong one; GRPO then has different rewards to learn from.

For a real run, replace `tiny_model` and `imitate` with a pretrained model. The class
`FinQATask` stays as it is: a reset to one task, one method per tool, the reward.
"""

import json
import os
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
# More than one thread slows a model this small down.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402
from datasets import Dataset  # noqa: E402
from openenv.core import GenericEnvClient  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from trl.chat_template_utils import get_training_chat_template, qwen2_5_chat_template  # noqa: E402

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
GROUP = 4  # rollouts of one task
TASKS = range(2)  # indices in the split train
SUPERVISED_STEPS = 150
GRPO_STEPS = 10
SYSTEM = "Answer the question about the company's filings with the tools, then submit the answer."


class FinQATask:
    """One rollout: a session on the server, reset to the task of the dataset's row."""

    ended = []  # of every episode: the task, its question's id, its reward, its calls

    def __init__(self):
        self._env = GenericEnvClient(base_url=URL).sync()
        self._env.connect()

    def reset(self, split: str, index: int, **columns) -> str:
        started = self._env.reset(split=split, index=index)
        self._task, self._calls, self._reward = (split, index), 0, None
        return started.observation["metadata"]["question"]

    def get_reward(self) -> float:
        if self._reward is None:  # the model stopped without an answer
            self._call("submit_answer", answer="")
        state = self._env.state()
        assert state["step_count"] == self._calls, (state, self._calls)
        FinQATask.ended.append((self._task, state["question_id"], self._reward, self._calls))
        return self._reward

    def get_descriptions(self, company_name: str) -> str:
        """Get a list of available table names for a company.

        Args:
            company_name: The name of the company.

        Returns:
            A JSON list of table names.
        """
        return self._call("get_descriptions", company_name=company_name)

    def get_table_info(self, company_name: str, table_name: str) -> str:
        """Get table metadata: description, columns, types, unique values.

        Args:
            company_name: The name of the company.
            table_name: The name of the table.

        Returns:
            A JSON object.
        """
        return self._call("get_table_info", company_name=company_name, table_name=table_name)

    def sql_query(self, company_name: str, table_name: str, query: str) -> str:
        """Execute a SQL query on a table. Select * not allowed, filters are required.

        Args:
            company_name: The name of the company.
            table_name: The name of the table.
            query: SQL query to execute (must include filters).

        Returns:
            A JSON list of records.
        """
        return self._call("sql_query", company_name=company_name, table_name=table_name, query=query)

    def submit_answer(self, answer: str) -> str:
        """Submit a final answer for the question.

        Args:
            answer: The final answer to submit.

        Returns:
            Nothing more: the episode is over.
        """
        return self._call("submit_answer", answer=answer)

    def _call(self, tool, **arguments):
        if self._reward is not None:
            return "The episode is over."
        step = self._env.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
        self._calls += 1
        if step.done:
            self._reward = step.reward
        result = step.observation.get("result")
        if result is None:
            return json.dumps(step.observation.get("error") or "The episode is over.")
        return result["data"]


def tools():
    task = FinQATask
    return [task.get_descriptions, task.get_table_info, task.sql_query, task.submit_answer]


def prompt(question=""):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]


def demonstrations():
    """For each task two conversations: one submits the truth, one does not."""
    written = []
    task = FinQATask()
    for index in TASKS:
        question = task.reset("train", index)
        company = question.split("`")[1]
        tables = task.get_descriptions(company)
        # An episode that is given up shows its truth, so no file of answers is read.
        end = task._env.step(
            {"type": "call_tool", "tool_name": "submit_answer", "arguments": {"answer": "?"}}
        )
        truth = end.observation["metadata"]["ground_truth"]
        truth = truth.removeprefix("\\boxed{").removesuffix("}").replace("\\", "")
        for answer in (truth, "0"):
            calls = [
                ("get_descriptions", {"company_name": company}, tables),
                ("submit_answer", {"answer": answer}, '"The episode is over."'),
            ]
            messages = prompt(question)
            for name, arguments, result in calls:
                function = {"name": name, "arguments": arguments}
                call = {"type": "function", "function": function}
                messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
                messages.append({"role": "tool", "name": name, "content": result})
            messages.append({"role": "assistant", "content": "Done."})
            written.append(messages)
    return written


def tiny_model(conversations):
    """A tokenizer made of these conversations, and a model of random weights for it."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe)
    tokenizer.chat_template = qwen2_5_chat_template
    texts = [
        tokenizer.apply_chat_template(messages, tools=tools(), tokenize=False)
        for messages in conversations
    ]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    # Long tokens, because every prompt repeats the description of the tools.
    trainer = trainers.BpeTrainer(
        special_tokens=special, initial_alphabet=alphabet, max_token_length=16
    )
    bpe.train_from_iterator(texts, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    tokenizer.chat_template = qwen2_5_chat_template
    config = transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    return transformers.Qwen2ForCausalLM(config), tokenizer


def imitate(model, tokenizer, conversations):
    """Supervised steps on the assistant's tokens of these conversations."""
    template = get_training_chat_template(tokenizer)
    rows = [
        tokenizer.apply_chat_template(
            messages, tools=tools(), chat_template=template, return_dict=True, return_assistant_tokens_mask=True
        )
        for messages in conversations
    ]
    length = max(len(row["input_ids"]) for row in rows)

    def padded(name, value):
        return torch.tensor([row[name] + [value] * (length - len(row[name])) for row in rows])

    ids = padded("input_ids", tokenizer.pad_token_id)
    seen = padded("attention_mask", 0)
    labels = ids.masked_fill(padded("assistant_masks", 0) == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, SUPERVISED_STEPS)
    model.train()
    for _ in range(SUPERVISED_STEPS):
        loss = model(input_ids=ids, attention_mask=seen, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return loss.item(), length


def main():
    started = time.monotonic()
    torch.manual_seed(0)
    conversations = demonstrations()
    model, tokenizer = tiny_model(conversations)
    loss, length = imitate(model, tokenizer, conversations)
    print(f"trl {trl.__version__}, transformers {transformers.__version__}, torch {torch.__version__}")
    print(f"{model.num_parameters():,} parameters; {SUPERVISED_STEPS} supervised steps of {len(conversations)} x {length} tokens, loss {loss:.3f}")

    rows = [{"prompt": prompt(), "split": "train", "index": index} for index in TASKS]
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        environment_factory=FinQATask,
        train_dataset=Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir="/tmp/finqa-grpo",
            use_cpu=True,
            max_steps=GRPO_STEPS,
            num_generations=GROUP,
            per_device_train_batch_size=2 * GROUP,
            max_completion_length=256,
            max_tool_calling_iterations=4,
            learning_rate=1e-4,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            seed=0,
        ),
    )
    FinQATask.ended.clear()
    trainer.train()

    logged = [row for row in trainer.state.log_history if "reward" in row]
    print("step  reward  reward_std  grad_norm  calls")
    for row in logged:
        print(f"{row['step']:4}  {row['reward']:6.3f}  {row['reward_std']:10.3f}  {row['grad_norm']:9.3f}  {row['tools/call_frequency']:5.2f}")
    ended = FinQATask.ended
    groups = [ended[at : at + GROUP] for at in range(0, len(ended), GROUP)]
    calls = sum(episode[3] for episode in ended)
    assert len(logged) == GRPO_STEPS and len(ended) == GRPO_STEPS * 2 * GROUP, len(ended)
    assert any(row["reward_std"] > 0 for row in logged), "no group had different rewards"
    assert any(row["grad_norm"] > 0 for row in logged), "nothing was learnt"
    assert calls > len(ended), "no episode has a call before its submission"
    for group in groups:
        assert len({episode[:2] for episode in group}) == 1, "a group is one task"
    assert len({group[0][:2] for group in groups}) == len(TASKS), "every task was trained"
    print(f"ok: {len(ended)} episodes ended in {len(groups)} groups of one task each, {calls} calls counted by the server, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
