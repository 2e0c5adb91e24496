"""Options that several commands share, and checks of the place for results."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def _seed(_: object, value: int) -> None:
    """Refuse a seed that is out of range."""
    from ..common.options import whole

    whole("--seed", value)


Names = list[str] | None
Fit = Annotated[Path, Parameter(help="folder that `fit` wrote, a .nc file or a store")]
Overwrite = Annotated[bool, Parameter(help="replace existing files")]
Seed = Annotated[int, Parameter(validator=_seed, help="seed of every random step")]
Subjects = Annotated[Names, Parameter(help="subjects to use (default: all)")]
_FILE = "Python file, which is executed, and the variable in it with the layout, as LAYOUT.py:name"
_NAME = "or a function without arguments that returns it; name it unless there is one layout only"
Layout = Annotated[str, Parameter(help=f"{_FILE}, {_NAME}")]
_OWN = "LAYOUT.py:name of its layout, if it has linking functions of its own; the file is executed"
Layouts = Annotated[Names, Parameter(name="--layout", help=_OWN)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Tables:
    """Properties of items and subjects, and names of columns of long outcomes.

    Parameters
    ----------
    items
        CSV, Parquet or JSON lines: a column `item` and one per property; may be left out if the
        outcomes have the properties
    subject_table
        CSV, Parquet or JSON lines: a column `subject` and one per property of the subjects
        (default: columns of the outcomes)
    subject
        column of long outcomes with the subject
    item
        column of long outcomes with the item
    outcome
        column of long outcomes with the outcome
    """

    items: Path | None = None
    subject_table: Path | None = None
    subject: str = "subject"
    item: str = "item"
    outcome: str = "outcome"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Data(Tables):
    """Outcomes, with properties of items and subjects.

    Parameters
    ----------
    outcomes
        CSV, Parquet or JSON lines: columns `subject`, `item` and `outcome`, or a row per subject
        and a column per item; for a layout of several outcomes, OUTCOME=FILE for each
    """

    outcomes: list[str]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FittedData(Tables):
    """Outcomes where a fit may have them already.

    Parameters
    ----------
    outcomes
        files as for `fit` (default: those of the fit)
    """

    outcomes: Names = None


@Parameter(name="*")
@dataclass(frozen=True)
class Sampling:
    """Options of sampling, as in `ml.fit`.

    Parameters
    ----------
    draws
        draws to keep of each chain, at least 4
    tune
        tuning steps of each chain
    chains
        chains of each subject
    target_accept
        acceptance rate that NUTS aims at; nearer to 1, it diverges less and is slower
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.8
    seed: Seed = 1


ITEMS, SUBJECTS = "fitted_items.csv", "fitted_subjects.csv"
"""Items and subjects with all their properties, those too that the layout does not use."""
TABLES, FITTED_DATA, SAMPLING = Tables(), FittedData(), Sampling()


def make_writable(folder: Path) -> None:
    """Test before a long fit whether its results can be written.

    Raises
    ------
    OSError
        When the folder can neither be made nor written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"cannot write into {folder} ({reason}); give another --out") from error


def refuse_existing(paths: Iterable[Path], overwrite: bool = False) -> None:
    """Refuse to write to an existing file or folder, unless it may be replaced.

    Raises
    ------
    FileExistsError
        Naming the first.
    """
    for path in () if overwrite else paths:
        if path.exists():
            raise FileExistsError(f"{path} exists already; give another --out, or --overwrite")
