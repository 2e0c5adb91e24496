"""PyMC's model of a cohort, compiled by nutpie, for formulas that the kernel does not support."""

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...common.cache import Recent, unwritable
from ...layouts.plates import Plate
from ..model.cohort import Cohort
from ..model.density import Part
from ..model.pymc_model import build_model, compile_key, few_outcomes, successes_name, trials_name

_plain = Recent[object, Any](16)


class Plain:
    """PyMC's model, compiled by nutpie, for layouts with an operation that the kernel lacks.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes. A layout under which subjects share no values is compiled once
        in a process, for all subjects and batteries.

    Attributes
    ----------
    parts : list of Part
        The latents, with their levels in order.

    Raises
    ------
    LayoutError
        When PyMC does not accept a prior.
    FitError
        When there is no folder to compile in.
    """

    def __init__(self, cohort: Cohort) -> None:
        layout, joint = cohort.layout, cohort.layout.joint
        self.cohort, self.layout, deviations = cohort, layout, few_outcomes(cohort)
        self.parts = [
            Part(
                latent,
                0,
                cohort.size(latent.plates) if joint else (),
                tuple(map(len, latent.dims.values())),
            )
            for latent in layout.latents
        ]
        key = compile_key(layout), deviations, cohort.digest if joint else ""
        self.compiled = _plain.find(key, lambda: _compile_plain(cohort, deviations))

    def order(self, plates: Sequence[Plate]) -> np.ndarray:
        """Return the position of each level of some plates; shape (levels...)."""
        sizes = next(part.plates for part in self.parts if part.latent.plates == tuple(plates))
        return np.arange(math.prod(sizes)).reshape(sizes)

    def on(self, cohort: Cohort | None = None) -> Any:
        """Return nutpie's compiled model with a cohort's data; nothing is compiled."""
        layout, cohort = self.layout, self.cohort if cohort is None else cohort
        if layout.joint:
            return self.compiled
        return self.compiled.with_data(
            **cohort.features,
            **{name: np.asarray(values[0]) for name, values in cohort.covariates.items()},
            **{trials_name(layout): cohort.trials, successes_name(layout): cohort.successes},
        )


def _compile_plain(cohort: Cohort, deviations: frozenset[str]) -> Any:
    import nutpie

    try:
        compiled = nutpie.compile_pymc_model(build_model(cohort, deviations))
    except OSError as error:  # Numba cannot write its cache
        raise unwritable(error) from error
    start, lock = compiled.initial_point_func, threading.Lock()

    def one_at_a_time(seed: int) -> Any:
        with lock:  # PyTensor's functions share storage
            return start(seed)

    return replace(compiled, initial_point_func=one_at_a_time)
