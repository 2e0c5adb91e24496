"""How often 90 % intervals hold the mean success on a new group of items, with group effects.

    python benchmarks/new_groups.py --studies 60

Each study has six subjects and ten groups of items, whose log-odds are shifted by a normal offset
of standard deviation one, and one more group is forecast. The coverage is counted for a layout with
an effect of each group and for one without it.
"""

import argparse

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic

_SUBJECTS, _GROUPS, _ITEMS = 6, 10, 8
_OPTIONS = {"draws": 250, "tune": 300, "chains": 2, "reruns": 0, "progressbar": False}


def layout(grouped: bool) -> ml.Layout:
    """Return a layout of a skill and a demand, with an effect of each group or without."""
    skill = ml.Capability("skill", low=-2, high=8)
    margin = skill - ml.MetaFeature("size", low=0, high=6)
    if grouped:
        prior = ml.Prior("Normal", mu=0, sigma=ml.Spread("shiftSpread"))
        margin = margin + ml.Bias("shift", per=ml.Category("group"), prior=prior)
    return ml.Layout("groups" if grouped else "sizes", ml.Success("solved", logistic(margin)))


def study(seed: int) -> dict[str, np.ndarray]:
    """Simulate a study; returns by layout whether each subject's interval holds the truth."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(0, 1, _GROUPS + 1)
    group = np.repeat(np.arange(_GROUPS + 1), _ITEMS)
    items = pd.DataFrame({"size": rng.uniform(0, 6, len(group)), "group": group.astype(str)})
    items.index = [f"item {place}" for place in range(len(items))]
    skill = rng.uniform(1, 5, (_SUBJECTS, 1))
    chance = 1 / (1 + np.exp(-(skill - items["size"].to_numpy() + shift[group])))
    old = group < _GROUPS
    solved = pd.DataFrame((rng.random(chance.shape) < chance).astype(int)[:, old])
    solved = solved.rename("subject {}".format).set_axis(items.index[old], axis=1)
    evaluation, new = ml.Evaluation.from_wide(solved, items[old]), items[~old]
    truth, result = chance[:, ~old].mean(axis=1), {}
    for name, grouped in (("with the effect", True), ("without", False)):
        fit = ml.fit(layout(grouped), evaluation, seed=seed, **_OPTIONS)
        table = fit.forecast(new).summary(by="group").set_index("subject").loc[list(solved.index)]
        result[name] = (table["low"] <= truth).to_numpy() & (truth <= table["high"]).to_numpy()
    return result


def main() -> None:
    """Print the coverage of each layout, with its standard error over studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    studies = [study(1000 * chosen.seed + number) for number in range(chosen.studies)]
    for name in studies[0]:
        rates = np.array([one[name].mean() for one in studies])
        error = rates.std(ddof=1) / len(rates) ** 0.5
        print(f"{name}: {rates.mean():.3f} of the intervals hold the mean, se {error:.3f}")


if __name__ == "__main__":
    main()
