"""Common arguments of the commands: how they are read, and their help."""

import argparse
import re
import tempfile
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypedDict

from ..common.errors import FitError
from ..common.options import LARGEST, LIMIT, inside
from ..linking.errors import short

type Commands = argparse._SubParsersAction[argparse.ArgumentParser]
type Parser = argparse._ActionsContainer

_ALWAYS = {2: "the input cannot be used; the reason is one line", 130: "stopped by Ctrl-C"}


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help whose texts are wrapped at words, except examples, which stay whole to be copied."""

    def add_argument(self, action: argparse.Action) -> None:
        """Leave room for the names of commands with their indentation, as Python 3.13 does."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            longest = max(map(len, action.choices)) + 2 * self._indent_increment
            self._action_max_length = max(self._action_max_length, longest)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    """Wrap a line at words; the lines that follow an exit status are indented as its meaning."""
    if len(line) <= width or line.startswith("  measurement-layouts "):
        return line
    mark = re.match(r" +\d+ +", line)
    hang = " " * len(mark[0]) if mark else ""
    return textwrap.fill(line, width, subsequent_indent=hang, break_on_hyphens=False)


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    about: str,
    *,
    example: str,
    falls_short: str = "",
    done: str = "done",
) -> argparse.ArgumentParser:
    """Add a command whose help ends with an example and its exit statuses.

    Parameters
    ----------
    commands : subparsers
        Where to.
    name : str
        What is typed.
    run : callable
        Takes the arguments that were read, and returns the exit status.
    about : str
        One line.
    example : str
        What may follow ``measurement-layouts``.
    falls_short : str
        When the status is 1, where it can be.
    done : str
        When it is 0.

    Returns
    -------
    ArgumentParser
        For the command's own arguments.
    """
    statuses = {0: done, **({1: falls_short} if falls_short else {}), **_ALWAYS}
    lines = "\n".join(f"  {status:<4} {meaning}" for status, meaning in statuses.items())
    added = commands.add_parser(
        name,
        help=about,
        description=about,
        epilog=f"example:\n  measurement-layouts {example}\n\nexit status:\n{lines}",
        formatter_class=HelpFormatter,
    )
    added.set_defaults(run=run)
    return added


def at_least(least: int) -> Callable[[str], int]:
    """Read a whole number with a least value."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= LARGEST:
            raise argparse.ArgumentTypeError(
                f"{short(repr(text))}; give a whole number of at least {least}, at most {LIMIT}"
            )
        return value

    return read


def takes_numbers(parser: Parser, *numbers: tuple[str, int, int, str]) -> None:
    """Add options with whole numbers: name, least value, default and help of each."""
    for option, least, default, about in numbers:
        parser.add_argument(
            option, type=at_least(least), default=default, metavar="N", help=f"{about} ({default})"
        )


def takes_path(
    parser: Parser,
    option: str,
    kind: str,
    about: str,
    *,
    required: bool = False,
    default: Path | None = None,
) -> None:
    """Add an option with a path: name, kind of path, and help."""
    parser.add_argument(
        option, type=Path, required=required, default=default, metavar=kind, help=about
    )


class Sampling(TypedDict):
    """Options of sampling, as in `ml.fit`."""

    draws: int
    tune: int
    chains: int
    target_accept: float
    seed: int


def takes_sampling(parser: argparse.ArgumentParser) -> None:
    """Add options of sampling."""
    takes_numbers(
        parser,
        ("--draws", 4, 1000, "draws to keep of each chain"),
        ("--tune", 1, 1000, "tuning steps of each chain"),
        ("--chains", 1, 4, "chains of each subject"),
        ("--seed", 0, 1, "seed of every random step"),
    )
    parser.add_argument(
        "--target-accept",
        type=_share,
        default=0.8,
        metavar="P",
        help="acceptance rate that NUTS aims at; nearer to 1, it diverges less and is slower (0.8)",
    )


def _share(text: str) -> float:
    """Read a number between 0 and 1."""
    try:
        return inside("it", float(text), such_as=0.95)
    except (ValueError, FitError):
        raise argparse.ArgumentTypeError(
            f"{short(repr(text))}; give a number between 0 and 1, such as 0.95"
        ) from None


def sampling_of(chosen: argparse.Namespace) -> Sampling:
    """Return the options of sampling."""
    return Sampling(
        draws=chosen.draws,
        tune=chosen.tune,
        chains=chosen.chains,
        target_accept=chosen.target_accept,
        seed=chosen.seed,
    )


def takes_layout(parser: argparse.ArgumentParser) -> None:
    """Add an argument for a layout in a Python file."""
    parser.add_argument(
        "layout",
        metavar="LAYOUT.py:name",
        help="Python file, which is executed, and the variable in it with the layout, or a "
        "function without arguments that returns it; the name may be left out of a file with a "
        "single layout",
    )


def takes_fit(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add an argument for one fit, or for any number of them."""
    parser.add_argument(
        "fit",
        type=Path,
        nargs="*" if several else None,
        metavar="FIT",
        help="folder that `fit` wrote, a .nc file or a store",
    )
    parser.add_argument(
        "--layout",
        action="append",
        default=[],
        metavar="LAYOUT.py:name",
        help="its layout, if it has user-defined linking functions; the file is executed",
    )


def takes_subjects(parser: argparse.ArgumentParser) -> None:
    """Add an option that selects subjects."""
    parser.add_argument(
        "--subjects", nargs="+", metavar="NAME", help="subjects to use (default: all)"
    )


def takes_groups(parser: argparse.ArgumentParser) -> None:
    """Add options that define groups of subjects, and testlets of items."""
    parser.add_argument(
        "--by",
        nargs="+",
        metavar="COLUMN",
        help="for joint fits: columns of the subjects; items are compared between the groups "
        "that they form (default: all with few levels)",
    )
    parser.add_argument(
        "--testlets",
        metavar="COLUMN",
        help="for joint fits: column of the items whose equal values form a testlet (default: all "
        "pairs)",
    )


def takes_data(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add options for tables of items and outcomes."""
    otherwise = "" if required else " (default: those of the fit)"
    takes_path(
        parser,
        "--items",
        "FILE",
        "CSV, Parquet or JSON lines: a column `item` and one per property; may be left out if "
        f"the outcomes have the properties{otherwise}",
    )
    parser.add_argument(
        "--outcomes",
        nargs="+",
        required=required,
        metavar="[OUTCOME=]FILE",
        help="files of the same kinds: columns `subject`, `item` and `outcome`, or a row per "
        f"subject and a column per item; a file for each outcome of the layout{otherwise}",
    )
    takes_people(parser)
    takes_columns(parser)


def takes_people(
    parser: argparse.ArgumentParser, otherwise: str = "default: columns of the outcomes"
) -> None:
    """Add an option for a table of the subjects' properties."""
    takes_path(
        parser,
        "--subject-table",
        "FILE",
        "CSV, Parquet or JSON lines: a column `subject` and one per property of the subjects "
        f"({otherwise})",
    )


def takes_columns(parser: argparse.ArgumentParser) -> None:
    """Add options for other names of the columns of long tables."""
    for name in ("subject", "item", "outcome"):
        parser.add_argument(
            f"--{name}",
            default=name,
            metavar="COLUMN",
            help=f"column of long outcomes with the {name} ({name})",
        )


class Data(NamedTuple):
    """Files of outcomes, and of items and subjects where they are named, and their columns.

    Attributes
    ----------
    outcomes : list of str, optional
        The file, or ``OUTCOME=FILE`` for each outcome of a layout.
    items, subjects : Path, optional
        Their properties, if not beside the outcomes.
    columns : (str, str, str)
        Names of the columns of long tables: of subjects, items and outcomes.
    """

    outcomes: list[str] | None
    items: Path | None
    subjects: Path | None
    columns: tuple[str, str, str]


def data_of(chosen: argparse.Namespace) -> Data:
    """Return the named files, and the columns of long outcomes."""
    columns = chosen.subject, chosen.item, chosen.outcome
    return Data(chosen.outcomes, chosen.items, chosen.subject_table, columns)


def takes_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add an option that permits replacing existing files."""
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")


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


def refuse_existing(paths: Iterable[Path | None], overwrite: bool = False) -> None:
    """Refuse to write to an existing file or folder, unless it may be replaced.

    Raises
    ------
    FileExistsError
        Naming the first.
    """
    for path in paths:
        if path is not None and path.exists() and not overwrite:
            raise FileExistsError(
                f"{path} exists already; move it away, or give another --out, or --overwrite"
            )
