"""Files that would run code in a careless reader; each leaves a canary where it succeeds."""

import hashlib
import io
import json
import os
import pickle
import shutil
import zipfile
from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score

import measurement_layouts as ml
from helpers.inspect_logs import write_inspect

DEMANDS = Path(ml.annotation.__file__).parent / "demand-rubrics"
CODE = "__import__('os').system('touch canary')"


class Bomb:
    """Runs a command where it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch canary",)


_UNIT = "unit-0-1-0.npz"
PICKLE = pickle.dumps(["a", Bomb()])


def layout():
    """One latent, no items' properties."""
    return ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))


def tossed(**options):
    """A small fit."""
    tosses = pd.DataFrame([[1, 0], [1, 1]], index=["Ann", "Bob"], columns=["a", "b"])
    evaluation = ml.Evaluation.from_wide(tosses, pd.DataFrame(index=["a", "b"]))
    chosen = {"method": "grid", "draws": 20, "chains": 2, "seed": 1, "progressbar": False}
    return ml.fit(layout(), evaluation, **{**chosen, **options})


def fits(folder):
    """Fits whose attributes are code, with the right checksum."""
    good = tossed().save(folder / "good.nc")
    written = folder / "pickle.nc"
    written.write_bytes(PICKLE)
    yield (
        "a pickle for a fit",
        "fit",
        good,
        written,
        "cannot be read (ValueError: its contents do not match",
    )
    call = {"call": "eval", "of": [{"node": "p"}], "names": ["x"], "options": {}}
    changes = {
        "code for a fit's layout": ("layout", CODE, "its layout cannot be read (Expecting value"),
        "a function in a fit's layout": ("layout", call, "linking function 'eval'"),
        "code for a fit's failures": ("failures", CODE, "is damaged (JSONDecodeError"),
    }
    for name, (attribute, value, message) in changes.items():
        path = folder / f"{name}.nc"
        path.write_bytes(good.read_bytes()[:-32])  # without the checksum at its end
        with netCDF4.Dataset(path, "a") as file:
            if isinstance(value, dict):
                whole = json.loads(file.getncattr(attribute))
                whole["nodes"][1]["expression"] = value
                value = json.dumps(whole)
            file.setncattr(attribute, value)
        _sign(path)
        yield name, "fit", good, path, message


def _sign(path):
    """Append the checksum of a file's bytes to it, as whoever forges it would."""
    content = path.read_bytes()
    path.write_bytes(content + hashlib.sha256(content).digest())


def stores(folder):
    """Stores whose files are pickles or contain them, and whose head contains code."""
    good = folder / "good"
    tossed(store=good)
    objects, huge = io.BytesIO(), io.BytesIO()
    np.savez(objects, record=np.array([Bomb()], dtype=object))
    np.savez(huge, record=np.zeros(3))
    claimed = huge.getvalue().replace(b"(3,), }          ", b"(10000000000000,), }")
    changes = {
        "a pickle for a store's head": ("head.nc", PICKLE, "cannot be read"),
        "objects in the draws of a store": (_UNIT, objects.getvalue(), "allow_pickle=False"),
        "more than the memory": (_UNIT, claimed, "is damaged"),
        "a pickle for draws": (_UNIT, PICKLE, "is damaged"),
    }
    for name, (file, content, message) in changes.items():
        path = folder / name
        shutil.copytree(good, path)
        (path / file).write_bytes(content)
        yield name, "fit", good, path, message
    for attribute, message in (("layout", "(Expecting value"), ("call", "is damaged (JSONDec")):
        path = shutil.copytree(good, folder / f"code for a store's {attribute}")
        head = path / "head.nc"
        head.write_bytes(head.read_bytes()[:-32])  # without the checksum at its end
        with netCDF4.Dataset(head, "a") as file:
            file.setncattr(attribute, CODE)
        _sign(head)
        yield path.name, "fit", good, path, message


def inspect_logs(folder):
    """Logs of Inspect, as an archive and as JSON."""
    good = folder / "good.eval"
    asked = EvalSample(id=1, epoch=1, input="1 + 1 =", target="2", scores={"m": Score(value="C")})
    write_inspect(good, [asked])
    members = {name: zipfile.ZipFile(good).read(name) for name in zipfile.ZipFile(good).namelist()}
    path = folder / "pickle.eval"
    path.write_bytes(PICKLE)
    yield "a pickle for a log", "inspect", good, path, "this is no log of Inspect"
    changes = {
        "a pickle in a log": {"header.json": PICKLE},
        "code in a log": {"header.json": CODE.encode()},
        "200 MB of nothing in a log": {"header.json": b" " * 200_000_000},
    }
    for name, change in changes.items():
        path = folder / f"{name}.eval"
        _zipped(path, members | change)
        yield name, "inspect", good, path, "this is no log of Inspect"
    path = folder / "above.eval"
    _zipped(path, members | {"../above": b"x", "/tmp/above": b"x", "samples/../../above": b"x"})
    yield "members above a log", "inspect", good, path, ""
    path = folder / "code.json"
    path.write_text(f'{{"version": 2, "status": {CODE!r}}}')
    yield "code in a log of JSON", "inspect", good, path, "this is no log of Inspect"


def _zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def tables(folder):
    """Tables, answers and rubrics."""
    line = {"doc_id": 0, "doc": {"digits": 2}, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    long = {"subject": ["Ann", "Bob"], "item": ["a", "a"], "outcome": [1, 0]}
    good = {
        "samples_a.jsonl": json.dumps(line),
        "t.csv": pd.DataFrame(long).to_csv(index=False),
        "scenarios.jsonl": '{"scenario": 1}',
        "rubric.toml": Path(DEMANDS / "quantitative_reasoning.toml").read_text(),
    }
    for name, text in good.items():
        (folder / name).write_text(text)
    plain = folder / "plain.parquet"
    pd.DataFrame(long).to_parquet(plain)
    reduced = {"py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["touch canary"]}]}
    jsons = json.dumps(reduced)
    hostile = {
        "samples_b.jsonl": ("harness", "samples_a.jsonl", json.dumps(line | {"acc": CODE}), CODE),
        "samples_c.jsonl": ("harness", "samples_a.jsonl", jsons, "this is no sample"),
        "samples_d.jsonl": ("harness", "samples_a.jsonl", CODE, "this is no JSON"),
        "code.csv": ("table", "t.csv", f"subject,item,outcome\nAnn,a,{CODE}\n", CODE),
        "pickle.csv": ("table", "t.csv", PICKLE, "line 1: byte 0x80"),
        "pickle.parquet": ("table", "plain.parquet", PICKLE, "this is no Parquet table"),
        "pickle.json": ("table", "t.csv", PICKLE, "line 1: byte 0x80"),
        "pickle.pkl": ("table", "t.csv", PICKLE, "give a file whose name ends in"),
        "code.toml": ("rubric", "rubric.toml", f"name = {CODE}", "is not a TOML file"),
        "yaml.toml": (
            "rubric",
            "rubric.toml",
            "!!python/object/apply:os.system [id]",
            "is not a TOML",
        ),
    }
    for name, (kind, like, content, message) in hostile.items():
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        yield f"{name} for {kind}", kind, folder / like, path, message
    yield "a pickled type of Parquet", "table", plain, _extended(folder), ""


def _extended(folder):
    """A table with the type that old readers of Parquet unpickled (CVE-2023-47248)."""
    metadata = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": PICKLE,
    }
    names = [pa.field(name, pa.string()) for name in ("subject", "item")]
    schema = pa.schema([*names, pa.field("outcome", pa.int64(), metadata=metadata)])
    columns = pa.array(["Ann", "Bob"]), pa.array(["a", "a"]), pa.array([1, 0])
    table = pa.Table.from_arrays(columns, schema=schema)
    pyarrow.parquet.write_table(table, folder / "extended.parquet")
    return folder / "extended.parquet"


def everything(folder):
    """All of them: name, kind, good file, hostile file and what the reader says of it."""
    for make in (fits, stores, inspect_logs, tables):
        own = folder / make.__name__
        own.mkdir()
        yield from make(own)
