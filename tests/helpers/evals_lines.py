"""Files in exactly the form in which OpenAI evals' local recorder (`oaieval`) writes them."""

import json

ASKED = "Answer by only reporting the number that is the right answer."


def spec(
    model="tiny-chat", *, name="sums", run="231213155532ITDS45XR", cls="match:Match", **config
):
    """The first line of a log."""
    models = [model] if isinstance(model, str) else model
    of = {
        "cls": f"evals.elsuite.basic.{cls}",
        "registry_path": "registry",
        "args": {"samples_jsonl": f"{name}/samples.jsonl"},
        "key": f"{name}.test.v1",
        "group": "arithmetic",
    }
    settings = {"seed": 20220722, "max_samples": 100, "command": "oaieval"}
    run_config = {"completion_fns": models, "eval_spec": of, **settings, **config}
    return {
        "spec": {
            "completion_fns": models,
            "eval_name": f"{name}.test.v1",
            "base_eval": name,
            "split": "test",
            "run_config": run_config,
            "created_by": "",
            "run_id": run,
            "created_at": "2023-12-13 15:55:32.494079",
        }
    }


def event(number, sample, kind, data, *, name="sums", run="231213155532ITDS45XR"):
    return {
        "run_id": run,
        "event_id": number,
        "sample_id": f"{name}.test.{sample}",
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "2023-12-13 15:55:33.511512+00:00",
    }


def asked(number, sample, *, chat=True, **where):
    """What the model was asked: a chat, or the same as one text."""
    question = f"What is {sample} plus 1?\n"
    prompt = f"{ASKED}\nUser: {question}\nAssistant: "
    if chat:
        prompt = [
            {"role": "system", "content": ASKED},
            {"role": "user", "content": question},
        ]
    data = {"prompt": prompt, "sampled": [f"{sample + 1}"]}
    return event(number, sample, "sampling", data, **where)


def matched(number, sample, correct, *, expected=None, **where):
    """Whether its answer was right."""
    right = str(sample + 1) if expected is None else expected
    data = {"correct": correct, "expected": right, "picked": None, "sampled": "?"}
    return event(number, sample, "match", {**data, "options": [right]}, **where)


def events(outcomes, **where):
    """Two events for each sample, as a whole run has them."""
    chat = {"chat": where.pop("chat", True)}
    for sample, correct in outcomes.items():
        yield asked(2 * sample, sample, **chat, **where)
        yield matched(2 * sample + 1, sample, correct, **where)


REPORT = {"final_report": {"accuracy": 0.5}}


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
