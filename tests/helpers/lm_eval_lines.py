"""Files in exactly the form in which the lm-evaluation-harness (0.4.13) writes them."""

import json

DATE = "2026-11-22T02-21-24.098134"
SAMPLE_KEYS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
RESULT_KEYS = {"config", "model_name", "n-shot", "system_instruction_sha", "chat_template_sha"}


def line(number, outcomes, *, filter="none", responses=1, doc=None, **changes):
    """One sample: `outcomes` by metric."""
    document = {"question": f"{number} + 1", "digits": number, **(doc or {})}
    return {
        "doc_id": number,
        "doc": document,
        "target": str(number + 1),
        "arguments": {"gen_args_0": {"arg_0": f"{number} + 1", "arg_1": {"until": ["\n"]}}},
        "resps": [["lol"] * responses],
        "filtered_resps": ["lol"],
        "filter": filter,
        "metrics": list(outcomes),
        "doc_hash": f"hash of {number}",
        "prompt_hash": f"prompt {number}",
        "target_hash": f"target {number}",
        **outcomes,
    } | changes


def write(folder, lines, *, task="sums", date=DATE, results=None):
    """Write lines, and results beside them when given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    if results is not None:
        (folder / f"results_{date}.json").write_text(json.dumps(results), encoding="utf-8")
    return path


def results(model="org/tiny", shots=0, **args):
    """The part of the results that tells how the model was run."""
    return {
        "config": {"model": "hf", "model_args": {"pretrained": model, **args}, "gen_kwargs": {}},
        "model_name": model,
        "n-shot": {"sums": shots},
        "system_instruction_sha": None,
        "chat_template_sha": None,
    }
