"""A store of a joint fit: a folder with a file for each chain."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np

from ...common.errors import FitError, StoreError
from ...common.files import whole
from ..model.cohort import Cohort
from ..sampling.draws import Draws, SamplingOptions

_HEAD = "joint-fit.json"


def finished_chains(path: Path) -> int | None:
    """Count the finished chains in the store of a joint fit; None if there is no such store."""
    return len(list(path.glob("chain-*-1.npz"))) if (path / _HEAD).is_file() else None


class ChainStore:
    """Chains of a joint fit, in memory, and in a folder if one is given.

    Parameters
    ----------
    path : Path or None
        The folder.
    seed : int
        Seed of the fit.

    Attributes
    ----------
    seed : int
        Seed of the fit.
    """

    def __init__(self, path: Path | None, seed: int) -> None:
        self.path, self.seed = path, seed
        self._chains: dict[tuple[int, int], Draws] = {}

    @classmethod
    def open(
        cls,
        path: str | Path | None,
        cohort: Cohort,
        options: SamplingOptions,
        seed: int | None,
    ) -> Self:
        """Open a folder or create it; an interrupted fit is continued.

        Raises
        ------
        StoreError
            When the folder contains anything other than this fit.
        """
        if path is None:
            return cls(None, secrets.randbits(31) if seed is None else seed)
        folder = Path(path)
        told: dict[str, object] = {
            "layout": cohort.layout.fingerprint,
            "data": hashlib.sha256(cohort.digest.encode()).hexdigest(),
            "draws": options.draws,
            "tune": options.tune,
            "chains": options.chains,
            "target_accept": options.target_accept,
        }
        head = folder / _HEAD
        if not folder.exists() or not any(folder.iterdir()):
            found = secrets.randbits(31) if seed is None else seed
            folder.mkdir(parents=True, exist_ok=True)
            with whole(head) as beside:
                beside.write_text(json.dumps({**told, "seed": found}))
            return cls(folder, found)
        if not head.is_file():
            raise StoreError(
                f"{folder} is not a store of a joint fit", "give an empty or a new folder as store="
            )
        written: Mapping[str, object] = json.loads(head.read_text())
        told |= {} if seed is None else {"seed": seed}
        other = [name for name, value in told.items() if written.get(name) != value]
        if other:
            what = ", ".join(f"{name} {written.get(name)!r}, now {told[name]!r}" for name in other)
            raise StoreError(
                f"{folder} contains another fit ({what})",
                "repeat the same call, or give another store=",
            )
        return cls(folder, int(str(written["seed"])))

    def finished(self, attempt: int) -> set[int]:
        """Numbers of the finished chains of an attempt."""
        if self.path is None:
            return {number for number, tried in self._chains if tried == attempt}
        files = self.path.glob(f"chain-*-{attempt}.npz")
        return {int(file.stem.split("-")[1]) for file in files}

    def add(self, number: int, attempt: int, draws: Draws) -> None:
        """Add a finished chain of an attempt."""
        if self.path is None:
            self._chains[number, attempt] = draws
            return
        arrays = {f"posterior/{name}": values for name, values in draws.posterior.items()}
        arrays |= {f"statistics/{name}": values for name, values in draws.statistics.items()}
        with (
            whole(self.path / f"chain-{number}-{attempt}.npz") as beside,
            beside.open("wb") as file,
        ):
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def read(self, number: int, attempt: int) -> Draws:
        """Read a chain of an attempt.

        Raises
        ------
        FitError
            When its file is damaged.
        """
        if self.path is None:
            return self._chains[number, attempt]
        file = self.path / f"chain-{number}-{attempt}.npz"
        groups: dict[str, dict[str, np.ndarray]] = {"posterior": {}, "statistics": {}}
        try:
            with np.load(file) as arrays:
                for name in arrays.files:
                    group, _, own = name.partition("/")
                    groups[group][own] = arrays[name]
        except Exception as error:
            raise FitError(
                f"{file} cannot be read ({error}); remove it and run the same call again, which "
                "samples the chain again with the same result"
            ) from error
        return Draws(groups["posterior"], groups["statistics"])
