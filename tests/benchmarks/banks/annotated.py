"""Thousands of items with annotated demands, and the battery that its authors chose by hand.

The data are read from the folder that the environment variable MEASUREMENT_LAYOUTS_DATA names. Of
the 150 items chosen, 130 are among those annotated (one of them is spelt otherwise); the demands of
all 150 are known.
"""

import pandas as pd
from battery_cases import data_folder

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture, product, total

HIGHEST = 5
SLOPE = 2.5
KINDS = ("needed", "asked", "asked, independent")
_NAME = ["dataset name", "sample id"]
_OTHERS = (*_NAME, "primary_capability", "primary_d_level")


def read() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read all items whose demands are whole levels, and those that the authors chose.

    Returns
    -------
    tuple of DataFrame
        ``demand[...]`` of 15 capabilities, and ``source``; of the chosen ones the demands alone.
    """
    folder = data_folder("demand_annotations")
    chosen = pd.read_csv(folder / "selected_battery_items.csv", dtype=str)
    columns = [name for name in chosen.columns if name not in _OTHERS]
    every = pd.read_csv(folder / "annotations_gpt4o.csv", dtype=str)
    items, theirs = (
        table[columns]
        .apply(pd.to_numeric, errors="coerce")
        .rename(columns="demand[{}]".format)
        .set_axis(pd.Index(table["dataset name"] + " " + table["sample id"]), axis=0)
        for table in (every, chosen)
    )
    there = items.isin(range(HIGHEST + 1)).all(axis=1) & ~items.index.duplicated()
    return items.assign(source=every["dataset name"].to_numpy())[there], theirs


def layout(items: pd.DataFrame, kind: str) -> ml.Layout:
    """Write a layout of all demands.

    Abilities scatter by 1 level about a general one, Normal(3, 1.5), or are Normal(3, 2) each by
    itself. An item needs all of them, or it asks for them in proportion to the squares of its
    demands and they make up for each other. The noise is Beta(1, 9).
    """
    labels = [name[7:-1] for name in items.columns if name.startswith("demand[")]
    dims = {"labels": labels, "dim": "dimension"}
    demand = ml.MetaFeature("demand", low=0, high=HIGHEST, unit="level", **dims)
    general = ml.Capability("generalLevel", unit="level", prior=ml.Prior("Normal", mu=3, sigma=1.5))
    near = ml.Prior("Normal", mu=general, sigma=1)
    if kind == "asked, independent":
        near = ml.Prior("Normal", mu=3, sigma=2)
    ability = ml.Capability("ability", unit="level", prior=near, **dims)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    if kind == "needed":
        able = product(logistic(ability - demand, SLOPE), over="dimension")
    else:
        asked = demand * demand + 0.01
        ahead = total(asked * (ability - demand), over="dimension")
        able = logistic(ahead / total(asked, over="dimension"), SLOPE)
    return ml.Layout(f"demands, {kind}", ml.Success("answer", mixture(able, by=noise, toward=0)))
