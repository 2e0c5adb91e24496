"""Six small cases with known posteriors: a layout each, and one subject's outcomes in a file."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import measurement_layouts as ml
from helpers import TESTS
from measurement_layouts.scenarios import (
    animal_ai_olympics,
    dispositions,
    fraction_subtraction,
    propensities,
    weirdml,
)

FOLDER = TESTS / "inference" / "references" / "cases"
SUBJECT = "subject"
COUNTS = ["successes", "trials"]
TASKS = weirdml.TASKS[:4]


@dataclass(frozen=True)
class Case:
    """A layout, and where outcomes come from that are stored beside the reference.

    Attributes
    ----------
    name : str
        Of the case and of its two files: items with outcomes, and the reference.
    declare : callable
        Returns the layout.
    origin : str
        Of the items and outcomes.
    """

    name: str
    declare: Callable[[], ml.Layout]
    origin: str

    @property
    def outcomes(self) -> Path:
        return FOLDER / f"{self.name}.csv"

    @property
    def reference(self) -> Path:
        return FOLDER / f"{self.name}.json"

    def evaluation(self) -> ml.Evaluation:
        """Read the items and the subject's counts."""
        table = pd.read_csv(self.outcomes, index_col=0)
        return counted(table)

    def fingerprints(self) -> dict[str, str]:
        """Tell layout and data from others, whatever the ends of lines."""
        text = self.outcomes.read_text(encoding="utf-8")
        data = hashlib.sha256(text.encode()).hexdigest()[:16]
        return {"layout": self.declare().fingerprint, "data": data}

    def read(self) -> dict[str, Any]:
        """Read the reference, which was made of the layout and data that the case has now.

        Raises
        ------
        ValueError
            When layout or data are others than the reference's.
        """
        reference: dict[str, Any] = json.loads(self.reference.read_text(encoding="utf-8"))
        for kind, now in self.fingerprints().items():
            then = reference["fingerprints"][kind]
            if then != now:
                raise ValueError(
                    f"{self.reference.name}: fingerprint of the {kind} {now}, the reference was "
                    f"made of {then}; where the change is meant, make it anew: "
                    f"{reference['provenance']['command']}"
                )
        return reference


def counted(table: pd.DataFrame) -> ml.Evaluation:
    """Make an evaluation of one subject from items with their counts."""
    successes, trials = (table[[name]].T.set_axis([SUBJECT]) for name in COUNTS)
    return ml.Evaluation(table.drop(columns=COUNTS), successes, trials)


def _coin() -> ml.Layout:
    return ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))


def _horizons() -> ml.Layout:
    return weirdml.nested_layout(TASKS)


def _empathy() -> ml.Layout:
    return dispositions.disposition_layout(["Empathy"])


CASES = {
    case.name: case
    for case in (
        Case("coin", _coin, "16 heads of 24 tosses"),
        Case(
            "animal-ai",
            animal_ai_olympics.published_layout,
            "sim-31 of animal_ai_olympics.simulated_cohort(1), 40 items of 69 evenly spread",
        ),
        Case(
            "propensity",
            propensities.recommended_layout,
            "4o +1, introversion of propensities.simulated_cohort(1), 40 items evenly spread",
        ),
        Case(
            "fractions",
            fraction_subtraction.nida_layout,
            "pupil-008 of fraction_subtraction.simulated_cohort(1)",
        ),
        Case(
            "horizons",
            _horizons,
            "sim-18 of weirdml.simulated_cohort(1), its first four tasks, conditional counts",
        ),
        Case(
            "dispositions",
            _empathy,
            "sim-21 of dispositions.simulated_study(1, per_statement=1), 10 items of Empathy",
        ),
    )
}
