"""Rows on which the log-density of a cohort is computed: its cells, and levels that no cell has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name, root
from ..model.cohort import Cohort, plate_feature
from ..model.density import Degrees, centring_feature, idle_feature


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a kernel: the cells, and rows without trials.

    There is a row without trials for each combination of levels of a latent's plates that no cell
    has.

    Attributes
    ----------
    features : dict of str to ndarray
        Values by meta-feature, covariate and hidden meta-feature, shape (rows,) or (rows, labels).
    codes : dict of str to ndarray of int
        By plate, the level of each row.
    """

    features: dict[str, np.ndarray]
    codes: dict[str, np.ndarray]

    @classmethod
    def of(cls, cohort: Cohort, centring: Degrees) -> "Rows":
        """Return the rows of a cohort."""
        layout = cohort.layout
        if not layout.joint:
            return cls(dict(cohort.features), {})
        subject, row, codes = _with_all_levels(cohort)
        features = {name: values[row] for name, values in cohort.features.items()}
        features |= {name: values[subject] for name, values in cohort.covariates.items()}
        for name, levels in codes.items():
            features[plate_feature(name)] = levels.astype(float)
            last = len(cohort.levels[name]) - 1
            features[idle_feature(name)] = (levels == last).astype(float)
        for latent in layout.latents:
            degrees = centring.get(latent.name)
            if degrees is not None:
                at = tuple(codes[plate_name(plate)] for plate in latent.plates)
                features[centring_feature(latent.name)] = degrees[at]
        return cls(features, codes)


def _with_all_levels(cohort: Cohort) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return subjects, rows and levels of the cells, and of more until all combinations occur.

    The item of a further row has all of its levels if there is such an item.
    """
    plates = {plate_name(plate): plate for plate in cohort.layout.plates}
    subject, row = [cohort.subject], [cohort.row]
    codes = {name: [cohort.codes(plate)] for name, plate in plates.items()}
    for latent in cohort.layout.latents:
        if len(latent.plates) < 2:
            continue
        lacking = np.ones(cohort.size(latent.plates), dtype=bool)
        lacking[tuple(cohort.codes(plate) for plate in latent.plates)] = False
        missing = np.argwhere(lacking)
        sides = {
            side: _with_most_levels(cohort, side, latent.plates, missing)
            for side in (SUBJECT, ITEM)
        }
        subject.append(sides[SUBJECT])
        row.append(cohort.first_row[sides[ITEM]])
        for name, plate in plates.items():
            finer = [at for at, fine in enumerate(latent.plates) if determines([fine], [plate])]
            codes[name].append(
                cohort.up(latent.plates[finer[0]], plate)[missing[:, finer[0]]]
                if finer
                else cohort.up(root(plate), plate)[sides[root(plate)]]
            )
    joined = {name: np.concatenate(levels) for name, levels in codes.items()}
    return np.concatenate(subject), np.concatenate(row), joined


def _with_most_levels(
    cohort: Cohort, side: str, plates: Sequence[Plate], levels: np.ndarray
) -> np.ndarray:
    """Find for each row of levels a subject, or an item, that has as many of them as any."""
    of_side = [at for at, plate in enumerate(plates) if root(plate) == side]
    if not of_side:
        return np.zeros(len(levels), dtype=int)
    members = np.stack([cohort.up(side, plates[at]) for at in of_side], axis=1)
    wanted, which = np.unique(levels[:, of_side], axis=0, return_inverse=True)
    chosen = np.array([(members == one).sum(axis=1).argmax() for one in wanted], dtype=int)
    return chosen[which.ravel()]
