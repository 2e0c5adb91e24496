"""Thousands of items with annotated demands, and the battery that its authors chose by hand.

The data are read from the folder that the environment variable MEASUREMENT_LAYOUTS_DATA names. Of
the 150 items chosen, 130 are among those annotated (one of them is spelt otherwise).
"""

import pandas as pd
from battery_cases import data_folder

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture, presence, product

HIGHEST = 5
USUAL, WIDTH = 3.0, 1.5
SLOPE = 2
_NAME = ["dataset name", "sample id"]
_CHOSEN = ["primary_capability", "primary_d_level"]


def read() -> tuple[pd.DataFrame, list[str]]:
    """Read all items with whole demands, and the names of those that the authors chose.

    Returns
    -------
    tuple of DataFrame, list of str
        ``demand[...]`` and ``needed[...]`` of 15 capabilities, and ``source``; names of 130 items.
    """
    folder = data_folder("demand_annotations")
    chosen = pd.read_csv(folder / "selected_battery_items.csv", dtype=str)
    columns = [name for name in chosen.columns if name not in (*_NAME, *_CHOSEN)]
    every = pd.read_csv(folder / "annotations_gpt4o.csv", dtype=str)
    levels = every[columns].apply(pd.to_numeric, errors="coerce")
    there = levels.isin(range(HIGHEST + 1)).all(axis=1)
    names = _named(every)
    items = pd.concat(
        [
            levels.rename(columns="demand[{}]".format),
            (levels > 0).astype(int).rename(columns="needed[{}]".format),
            every["dataset name"].rename("source"),
        ],
        axis=1,
    ).set_axis(names, axis=0)[there.to_numpy()]
    items = items[~items.index.duplicated()]
    spelt = dict(zip(items.index.str.lower(), items.index, strict=True))
    wanted = _named(chosen).str.lower()
    return items, [spelt[name] for name in wanted if name in spelt]


def layout(items: pd.DataFrame) -> ml.Layout:
    """Let an item need all capabilities that it demands something of, to their levels.

    Capabilities are Normal(3, 1.5) in levels, the noise is Beta(1, 9).
    """
    labels = [name[7:-1] for name in items.columns if name.startswith("demand[")]
    dims = {"labels": tuple(labels), "dim": "dimension"}
    needed = ml.MetaFeature("needed", levels=(0, 1), **dims)
    demand = ml.MetaFeature("demand", low=0, high=HIGHEST, **dims)
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=USUAL, sigma=WIDTH), **dims)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    part = ml.Derived("part", presence(logistic(ability - demand, SLOPE), needed))
    able = product(part, over="dimension")
    return ml.Layout("annotated", ml.Success("answer", mixture(able, by=noise, toward=0.0)))


def _named(table: pd.DataFrame) -> pd.Index:
    return pd.Index(table["dataset name"] + " " + table["sample id"])
