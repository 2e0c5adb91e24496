"""The commands ``run`` and ``reproduce``: published studies."""

import time
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .. import scenarios
from ..common.progress import waiting
from . import options


def _known(_: object, name: str) -> None:
    if name not in scenarios.NAMES:
        raise ValueError(f"{name!r} is none of {', '.join(scenarios.NAMES)}")


Scenario = Annotated[str, Parameter(validator=_known, help=f"one of {', '.join(scenarios.NAMES)}")]


def run(
    scenario: Scenario,
    /,
    *,
    data: Path | None = None,
    out: Path | None = None,
    sampling: options.Sampling = options.SAMPLING,
    population: bool = False,
) -> None:
    """Fit all subjects, print their profiles, write everything.

    Parameters
    ----------
    data
        folder of real data (default: a simulated cohort)
    out
        new or empty folder to write (default: out/SCENARIO)
    population
        fit the study's layout in which subjects share values
    """
    with waiting("loading the study", show=True):
        from ..inference.fitting import fit
        from ..scenarios.running import write_study
        from .printing import print_profiles, say

        study = scenarios.get(scenario)
    folder = out or Path("out", study.name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is no empty folder; give another --out")
    layout = study.shared_layout() if population else next(iter(study.layouts.values()))()
    origin = data or f"simulated subjects, seed {sampling.seed}; --data reads real ones"
    evaluation = study.load(data) if data else study.simulate(sampling.seed).evaluation
    options.make_writable(folder)
    say(f"{study.title} ({origin})\n{evaluation!r}", error=True)
    say("It is fitted twice, the second time without a fifth of the items.", error=True)
    method = "nuts" if layout.joint else study.method
    sampled = asdict(sampling)
    profiles = fit(layout, evaluation, method=method, **sampled)
    try:
        write_study(profiles, evaluation, folder, method=method, progressbar=True, **sampled)
    finally:  # what was sampled is neither lost to a full disk nor to a closed pipe
        print_profiles(profiles, evaluation)
    print(*sorted(folder.iterdir()), sep="\n")
    say(f"{folder} has tables, figures and fit.nc; see forecast and report", error=True)


def reproduce(
    scenario: Scenario,
    /,
    *,
    data: Path | None = None,
    published: Path | None = None,
    json: bool = False,
) -> int:
    """Compare published figures with obtained ones.

    Parameters
    ----------
    data
        folder of real data (default: MEASUREMENT_LAYOUTS_DATA if it is set, else a download)
    published
        folder of published tables, for studies that have some
    json
        print one JSON object
    """
    start = time.perf_counter()
    with waiting(f"reproducing {scenario}, which takes seconds to an hour", show=True):
        from .printing import print_figures, print_table

        if scenarios.get(scenario).tables and published is None:
            raise FileNotFoundError("there are published tables; give their folder as --published")
        result = scenarios.reproduce(scenario, data, published)
    if json:
        seconds = time.perf_counter() - start
        content = {"scenario": scenario, "seconds": seconds, **result.to_dict()}
        print(dumps(content, allow_nan=False))
    else:
        for title, table in result.tables.items():
            print_table(table.reset_index(), title, more="; --json prints all")
        print_figures(result.figures)
    return 0 if all(figure.holds for figure in result.figures) else 1
