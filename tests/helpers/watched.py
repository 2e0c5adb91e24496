"""Loads files in a process of its own that notices, and stops, whatever would run code."""

import json
import subprocess
import sys

HARNESS = """
import importlib, json, os, pickle, sys, tomllib
from pathlib import Path

import measurement_layouts as ml
from measurement_layouts.annotation.rubric import load_demand_rubric
from measurement_layouts.dispositions import json_lines


def pickled(path):
    return pickle.loads(Path(path).read_bytes())


READERS = {
    "fit": lambda path: ml.load(path).posterior["p"].to_numpy(),
    "layout": lambda path: ml.Layout.from_dict(json.loads(Path(path).read_text())),
    "inspect": ml.evaluations.read_inspect,
    "harness": ml.evaluations.read_lm_eval,
    "table": ml.evaluations.read_table,
    "study": lambda path: json_lines.read_study(Path(path)),
    "rubric": load_demand_rubric,
    "pickle": pickled,
    "eval": lambda path: eval(Path(path).read_text()),
}
RUNS = ("exec", "pickle.", "marshal.", "os.system", "os.exec", "os.spawn", "os.posix_spawn")
RUNS += ("os.fork", "os.startfile", "subprocess.", "ctypes.", "socket.connect", "shutil.rmtree")
RUNS += ("os.remove", "os.rename", "os.chmod", "os.symlink", "import")
noticed, watching = [], False


def notice(event, arguments):
    if not watching or not event.startswith(RUNS):
        return
    noticed.append(f"{event} {arguments!r}"[:300])
    raise PermissionError(f"refused while a file is loaded: {event}")


sys.addaudithook(notice)
for kind, good, hostile in json.loads(sys.stdin.read()):
    if good is not None:
        READERS[kind](good)  # what it needs is imported
    watching = True
    try:
        READERS[kind](hostile)
        said = ""
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    watching = False
    print(json.dumps([said, noticed]), flush=True)
    noticed = []
"""


def loaded(files, folder):
    """Load hostile files, each after a good one of its kind.

    Parameters
    ----------
    files : list of (str, path or None, path)
        Kind, good file, hostile file.
    folder : Path
        Where the process works.

    Returns
    -------
    list of (str, list of str)
        What the reader said, and what would have run.
    """
    asked = json.dumps([[kind, good and str(good), str(bad)] for kind, good, bad in files])
    done = subprocess.run(
        [sys.executable, "-c", HARNESS],
        input=asked,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
