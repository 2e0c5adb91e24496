"""Make the reference posteriors anew, by PyMC's own sampler on the model that `to_pymc` gives.

Run by hand, for all cases or those named: PYTHONPATH=tests python -m helpers.make_references coin.
All six take about ten minutes of two idle processors. Ten chains of 10,000 draws each, of which
every tenth is kept, as posteriordb has it; a reference with R-hat of 1.01 or more, or a divergence,
is refused.
"""

import argparse
import datetime
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version

import pymc as pm
import xarray as xr

import measurement_layouts as ml
from helpers.posterior_summaries import summarise
from helpers.reference_cases import CASES, SUBJECT, Case

SAMPLER = "pymc.sample(nuts_sampler='pymc') on measurement_layouts.to_pymc"
SETTINGS = {"chains": 10, "tune": 2000, "draws": 10_000, "target_accept": 0.95, "seed": 20261}
THINNED_BY = 10
PACKAGES = ("pymc", "pytensor", "numpy", "scipy", "arviz-stats", "measurement-layouts")
RHAT = 1.01


def sampled(case: Case, cores: int, **changes: float) -> tuple[xr.Dataset, int]:
    """Draw from a case's posterior by PyMC's own sampler; also count divergences."""
    options = SETTINGS | changes
    trace = pm.sample(
        model=ml.to_pymc(case.declare(), case.evaluation(), SUBJECT),
        nuts_sampler="pymc",
        random_seed=options.pop("seed"),
        cores=cores,
        progressbar=False,
        **options,
    )
    return trace["posterior"].to_dataset(), int(trace["sample_stats"]["diverging"].sum())


def make(case: Case, cores: int) -> dict[str, object]:
    """Sample one case, and summarise it with all that tells where it came from."""
    posterior, divergences = sampled(case, cores)
    kept = posterior.isel(draw=slice(None, None, THINNED_BY))
    elements = summarise(case.declare(), kept)
    worst = max(found["rhat"] for found in elements.values())
    if divergences or not worst < RHAT:
        raise SystemExit(f"{case.name}: {divergences} divergences, R-hat {worst:.4f}; not kept")
    return {
        "case": case.name,
        "elements": elements,
        "divergences": divergences,
        "fingerprints": case.fingerprints(),
        "provenance": {
            "outcomes": case.origin,
            "sampler": SAMPLER,
            **SETTINGS,
            "thinned_by": THINNED_BY,
            "kept": kept.sizes["chain"] * kept.sizes["draw"],
            "versions": {
                "python": platform.python_version(),
                **{package: version(package) for package in PACKAGES},
            },
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "command": f"PYTHONPATH=tests python -m helpers.make_references {case.name}",
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the references of the named cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help="all without any")
    parser.add_argument("--cores", type=int, default=2, help="chains at a time (2)")
    chosen = parser.parse_args(arguments)
    for name in chosen.cases:
        text = json.dumps(make(CASES[name], chosen.cores), indent=1, allow_nan=False)
        CASES[name].reference.write_text(f"{text}\n", encoding="utf-8")
        print(f"{name}: written")


if __name__ == "__main__":
    main()
