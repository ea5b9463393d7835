"""Make the logs in this folder with the real packages, without network.

    python -m venv venv && venv/bin/pip install lm-eval==0.4.13 inspect-ai==0.3.285
    venv/bin/python tests/data/logs/make_logs.py

Thirty items in two wordings. A toy model answers: right on most originals, wrong on some of the
rephrased texts, and in words that cannot be parsed on a few.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent.resolve()
LABELS = ["entailment", "neutral", "contradiction"]
CHOICES = ["True", "Neither", "False"]
SUBJECTS = [
    ("boy", "lad"),
    ("woman", "lady"),
    ("dog", "hound"),
    ("child", "kid"),
    ("doctor", "medic"),
]
PLACES = [("couch", "sofa"), ("street", "road")]
HYPOTHESES = ["Somebody is on the {place}.", "The {subject} is tired.", "Nobody is on the {place}."]


def items() -> list[dict[str, object]]:
    """Return thirty items, both wordings of each."""
    made = []
    for subject in SUBJECTS:
        for place in PLACES:
            for label, hypothesis in enumerate(HYPOTHESES):
                one = {"id": f"nli-{len(made):02d}", "label": label, "genre": place[0]}
                for version, which in (("original", 0), ("rephrased", 1)):
                    words = {"subject": subject[which], "place": place[which]}
                    one[version] = {
                        "premise": "A {subject} sits on the {place}.".format(**words),
                        "hypothesis": hypothesis.format(**words),
                    }
                made.append(one)
    return made


def answer(text: str, right: int) -> int:
    """Return the toy model's choice; 3 is no answer."""
    draw = hashlib.sha256(text.encode()).digest()[0]
    rephrased = any(new in text for _, new in (*SUBJECTS, *PLACES))
    if draw % 8 == 7 and rephrased:
        return 3
    return (right + 1) % 3 if draw % 16 < (5 if rephrased else 1) else right


def known() -> dict[str, int]:
    """Return the right answer of each text."""
    return {
        f"{one[version]['premise']} {one[version]['hypothesis']}": one["label"]
        for one in items()
        for version in ("original", "rephrased")
    }


def find(text: str) -> tuple[str, int]:
    """Return the item's text in a prompt, and its right answer."""
    return next((key, right) for key, right in known().items() if key in text)


def make_lm_eval() -> None:
    """Make the logs of lm-evaluation-harness by its command."""
    from lm_eval.__main__ import cli_evaluate
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model

    @register_model("toy")
    class Toy(LM):
        tokenizer_name = "toy"

        @classmethod
        def create_from_arg_string(cls, arg_string, additional_config=None):
            return cls()

        def __init__(self, **options):
            super().__init__()

        def loglikelihood(self, requests, disable_tqdm=False):
            found = []
            for request in requests:
                context, continuation = request.args
                text, right = find(context)
                chosen = CHOICES[answer(text, right) % 3]
                score = -0.5 if continuation.strip() == chosen else -2.25
                found.append((score, score > -1))
            return found

        def generate_until(self, requests, disable_tqdm=False):
            found = []
            for request in requests:
                text, right = find(request.args[0])
                chosen = answer(text, right)
                said = "I cannot tell" if chosen == 3 else f"The answer is {LABELS[chosen]}."
                found.append(said)
            return found

        def loglikelihood_rolling(self, requests, disable_tqdm=False):
            raise NotImplementedError

    task = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: {kind}
doc_to_text: "{{{{premise}}}} {{{{hypothesis}}}} True, False or Neither?"
metadata:
  version: 1.0
"""
    chosen = """doc_to_choice: ["True", "Neither", "False"]
doc_to_target: label
metric_list:
  - metric: acc
"""
    generated = """doc_to_target: "{{answer}}"
generation_kwargs:
  until: ["\\n"]
filter_list:
  - name: strict-match
    filter:
      - function: regex
        regex_pattern: "answer is (entailment|neutral|contradiction)"
      - function: take_first
metric_list:
  - metric: exact_match
"""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        names = []
        for version in ("original", "rephrased"):
            data = work / f"{version}.jsonl"
            rows = [
                {
                    "id": one["id"],
                    **one[version],
                    "label": one["label"],
                    "genre": one["genre"],
                    "answer": LABELS[one["label"]],
                }
                for one in items()
            ]
            data.write_text("".join(json.dumps(row) + "\n" for row in rows))
            for short, kind, rest in (
                ("nli", "multiple_choice", chosen),
                ("nli_said", "generate_until", generated),
            ):
                name = f"{short}_{version}"
                names.append(name)
                (work / f"{name}.yaml").write_text(
                    task.format(name=name, data=data, kind=kind) + rest
                )
        sys.argv = [
            "lm_eval", "--model", "toy", "--tasks", ",".join(names), "--include_path", str(work),
            "--output_path", str(work / "out"), "--log_samples",
        ]  # fmt: skip
        cli_evaluate()
        for path in sorted((work / "out").rglob("samples_*.jsonl")):
            name = path.name.rsplit("_", 1)[0]
            shutil.copy(path, HERE / f"{name}.jsonl")


def make_inspect() -> None:
    """Make Inspect's logs, in both formats, with its mock of a model."""
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    def say(messages, tools, choice, config):
        chosen = answer(*find(messages[-1].text))
        words = "I cannot tell." if chosen == 3 else f"ANSWER: {'ABC'[chosen]}"
        output = ModelOutput.from_content("mockllm/toy", words)
        # Without it the mock counts tokens, for which it fetches a vocabulary.
        output.usage = ModelUsage(input_tokens=40, output_tokens=3, total_tokens=43)
        return output

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for form in ("eval", "json"):
            for version in ("original", "rephrased"):
                samples = []
                for one in items():
                    text = f"{one[version]['premise']} {one[version]['hypothesis']}"
                    samples.append(
                        Sample(
                            id=one["id"],
                            input=text,
                            choices=LABELS,
                            target="ABC"[one["label"]],
                            metadata={"genre": one["genre"]},
                        )
                    )
                task = Task(
                    name=f"nli_{version}",
                    dataset=MemoryDataset(samples),
                    solver=multiple_choice(),
                    scorer=choice(),
                )
                model = get_model("mockllm/toy", custom_outputs=say, memoize=False)
                (log,) = run(
                    task,
                    model=model,
                    log_dir=folder,
                    log_format=form,
                    display="none",
                    max_samples=1,
                    max_connections=1,
                    limit=8 if form == "json" else None,
                )
                shutil.copy(
                    log.location.removeprefix("file://"), HERE / f"inspect_{version}.{form}"
                )


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    wanted = sys.argv[1:] or ["lm-eval", "inspect"]
    if "inspect" in wanted:
        make_inspect()
    if "lm-eval" in wanted:
        make_lm_eval()
