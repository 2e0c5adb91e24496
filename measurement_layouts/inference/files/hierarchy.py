"""The Zarr hierarchy of a store: its groups, its arrays and their metadata.

The hierarchy has ArviZ's layout, and the arrays of draws have one chunk per subject. The metadata
of all arrays are consolidated in the root and replaced atomically, so that a process that dies
while it extends arrays leaves them as they were.
"""

import json
import os
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.core.indexing import LazilyIndexedArray

from ...common.errors import FitError
from ...evaluations.cells import Cells
from ...layouts import Layout
from ..posterior.assembly import SAMPLED, Training, assemble
from ..posterior.posterior import GROUPS, Posterior
from ..sampling.draws import Draws
from .records import LEVEL, RECORDS, DrawsOnDisk, Record, by_array, damaged, digest, outcomes_digest

if TYPE_CHECKING:
    import zarr  # imported within functions, because it is slow and few fits use stores

FORMAT = 2
"""Format of stores; it is raised when older versions cannot read new stores."""

LOCK = ".lock"
_MARK = "store"
_CELLS = ("subject", "item", "successes", "trials")
_ROWS = 1000  # subjects per chunk of arrays other than draws

type Small = list[str] | np.ndarray
"""Names, or numbers other than draws."""


@dataclass(frozen=True)
class Contents:
    """Contents of a store without the draws.

    Attributes
    ----------
    attributes : dict of str to object
        Attributes of the fit, without those about sampling.
    options : dict of str to object
        Options of sampling; see `store.options_of`.
    training : Training
        The data that the subjects are fitted to.
    prior : dict of str to ndarray
        Prior draws by latent, shape (1, draws) or (1, draws, labels).
    draws : dict of str to (shape, dtype)
        Shape and type of one subject's part of each array of draws, by ``group/name``; empty until
        the first subject is added.
    """

    attributes: dict[str, Any]
    options: dict[str, Any]
    training: Training
    prior: dict[str, np.ndarray]
    draws: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def state(path: Path) -> str:
    """Return the kind of a path: ``nothing``, a ``store``, ``half`` a store, or ``else``."""
    if not path.exists():
        return "nothing"
    if not path.is_dir():
        return "else"
    if all(entry.name == LOCK for entry in path.iterdir()):
        return "nothing"
    try:
        root = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
        marked = _MARK in root["attributes"]
    except (OSError, ValueError, KeyError, TypeError):
        return "else"
    if not marked:
        return "else"
    begun = (path / RECORDS).exists()  # then it is not overwritten, even if it is damaged
    return "store" if begun or root.get("consolidated_metadata") else "half"


def create(path: Path, layout: Layout, contents: Contents) -> None:
    """Write a store without draws, into a new folder or in place of an incomplete store.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    import zarr

    path.mkdir(parents=True, exist_ok=True)
    for entry in path.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()
    options, training = contents.options, contents.training
    mark = {"format": FORMAT, "options": options, "checksum": _checksum(contents)}
    attributes = {**contents.attributes, _MARK: mark}
    root = zarr.create_group(str(path), zarr_format=3, attributes=attributes)
    for group in GROUPS:
        root.create_group(group)
    for group in ("posterior", "sample_stats"):
        for dim, size in (("chain", options["chains"]), ("draw", options["draws"])):
            _write(root, f"{group}/{dim}", (dim,), np.arange(size))
    for group in ("posterior", "prior", "constant_data"):
        for dim, labels in layout.labels.items():
            _write(root, f"{group}/{dim}", (dim,), list(labels))
    _write(root, "constant_data/item", ("item",), training.items)
    for name in _CELLS:
        _write(root, f"observed_data/{name}", ("cell",), getattr(training.cells, name))
    for latent in layout.latents:
        dims = ("chain", "draw", *latent.label_dims)
        _write(root, f"prior/{latent.name}", dims, contents.prior[latent.name])
    for feature in layout.row_features:
        dims = ("item", *feature.label_dims)
        _write(root, f"constant_data/{feature.name}", dims, training.features[feature.name])
    for name, (dims, values) in _by_subject(training).items():
        _write(root, name, dims, values)
    _publish(path)


def declare(path: Path, layout: Layout, draws: Draws, subjects: int) -> None:
    """Create the arrays of draws, with the shape of the given draws and a chunk for each subject.

    Raises
    ------
    OSError
        When they cannot be written.
    """
    import zarr
    from zarr.codecs import ZstdCodec

    root = zarr.open_group(str(path), mode="r+", use_consolidated=False)
    labels = {f"posterior/{latent.name}": latent.label_dims for latent in layout.latents}
    for name, values in by_array(draws).items():
        root.create_array(
            name,
            shape=(subjects, *values.shape),
            chunks=(1, *values.shape),
            dtype=values.dtype,
            dimension_names=(*SAMPLED, *labels.get(name, ())),
            fill_value=np.nan if values.dtype.kind == "f" else 0,
            chunk_key_encoding={"name": "default", "separator": "."},
            compressors=ZstdCodec(level=LEVEL),
            overwrite=True,
        )
    _publish(path)


def read(path: Path) -> Contents:
    """Read the contents of a store without the draws.

    Raises
    ------
    FitError
        When the store is damaged, or has the format of another version.
    """
    import zarr

    try:
        root = zarr.open_consolidated(str(path), mode="r")
        attributes: dict[str, Any] = root.attrs.asdict()
        mark = attributes.pop(_MARK)
        other = mark["format"] != FORMAT
        contents = None if other else _contents(root, attributes, mark["options"])
    except Exception as error:  # Zarr raises errors of many classes for damaged files
        raise FitError(
            f"{path} cannot be read ({type(error).__name__}: {error}); it is damaged: restore a "
            "copy, or fit again into another store"
        ) from error
    if contents is None:
        raise FitError(
            f"{path} has format {mark['format']}, and this version of measurement-layouts reads "
            f"format {FORMAT}; read it with version {attributes['measurement_layouts']}, or fit "
            "again into another store"
        )
    if mark["checksum"] != _checksum(contents):
        raise FitError(
            f"{path} is damaged: its items, prior or attributes do not match their checksum; "
            "restore a copy, or fit again into another store"
        )
    return contents


def _contents(root: "zarr.Group", attributes: dict[str, Any], options: dict[str, Any]) -> Contents:
    """Read the arrays of a store, except the draws."""
    import zarr

    draws, small = {}, dict[str, dict[str, tuple[tuple[str, ...], np.ndarray]]]()
    for name, array in root.members(max_depth=None):
        if isinstance(array, zarr.Array):
            group, own = name.split("/")
            if _dims(array)[:3] == SAMPLED:
                draws[name] = (array.shape[1:], array.dtype)
            else:
                small.setdefault(group, {})[own] = (_dims(array), np.asarray(array[...]))
    observed, constant = small["observed_data"], small["constant_data"]

    def constants(dim: str) -> dict[str, np.ndarray]:
        return {name: values for name, (dims, values) in constant.items() if dims[0] == dim != name}

    subjects, items = (list(map(str, constant[name][1])) for name in ("subject", "item"))
    training = Training(
        subjects,
        items,
        constants("item"),
        Cells(*(observed[name][1] for name in _CELLS), shape=(len(subjects), len(items))),
        constants("subject"),
    )
    prior = {name: values for name, (dims, values) in small["prior"].items() if len(dims) > 1}
    return Contents(attributes, options, training, prior, draws)


def _by_subject(training: Training) -> dict[str, tuple[tuple[str, ...], Small]]:
    """Return the arrays that have a row for each subject, except the draws."""
    groups = ("posterior", "sample_stats", "constant_data")
    rows: dict[str, tuple[tuple[str, ...], Small]] = {
        f"{group}/subject": (("subject",), training.subjects) for group in groups
    }
    for name, values in training.constants.items():
        rows[f"constant_data/{name}"] = (("subject",), values)
    return rows


def _write(root: "zarr.Group", name: str, dims: tuple[str, ...], values: Small) -> None:
    """Create an array with the given values; damage is noticed before they are decoded."""
    from zarr.codecs import ZstdCodec

    plain = _plain(values)
    first = _ROWS if dims[0] == "subject" else plain.shape[0]
    text = plain.dtype == object
    array = root.create_array(
        name,
        shape=plain.shape,
        chunks=(first, *plain.shape[1:]),
        dtype=str if text else plain.dtype,
        dimension_names=dims,
        # without a checksum, a damaged number of texts takes gigabytes to be refused
        compressors=ZstdCodec(level=LEVEL, checksum=True),
    )
    array[...] = plain


def _plain(values: Small) -> np.ndarray:
    """Convert values to an array; texts of any length are objects."""
    text = isinstance(values, list)
    return np.array(values, dtype=object) if text else np.ascontiguousarray(values)


def _publish(path: Path) -> None:
    """Replace the consolidated metadata of the root, after all arrays are synced to the disk."""
    import zarr

    for pattern in ("*/zarr.json", "*/*/zarr.json", "*/*/c/**/*"):
        for file in path.glob(pattern):
            _through(file)
    with warnings.catch_warnings():
        # that consolidation is not part of the format, and that lock and records are not arrays
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(str(path))
    _through(path / "zarr.json")


def _through(file: Path) -> None:
    if file.is_file():
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())


def _checksum(contents: Contents) -> str:
    """Hash the contents that are the same for all subjects."""
    said = [contents.attributes, contents.options, contents.training.items]
    found = [json.dumps(said, sort_keys=True).encode()]
    for arrays in (contents.training.features, contents.prior):
        for name, values in sorted(arrays.items()):
            found += [name.encode(), np.ascontiguousarray(values).tobytes()]
    return digest(*found)


def _dims(array: "zarr.Array[Any]") -> tuple[str, ...]:
    metadata: Any = array.metadata
    return tuple(metadata.dimension_names)


def check_records(path: Path, contents: Contents, records: Mapping[int, Record]) -> None:
    """Compare a store's records with its subjects and their outcomes.

    Parameters
    ----------
    path : Path
        The store, for the message.
    contents : Contents
        Contents of the store, without draws.
    records : mapping of int to Record
        Records by the subject's position in the store's arrays; must be read before
                `contents` if another process may be writing.

    Raises
    ------
    FitError
        When a record does not match its subject or the subject's outcomes.
    """
    training = contents.training
    for row, record in records.items():
        if row >= len(training.subjects) or record.subject != training.subjects[row]:
            raise damaged(path, row, record.subject, "its record is that of another subject")
        if record.outcomes != outcomes_digest(training, row):
            raise damaged(path, row, record.subject, "its outcomes differ from those of its fit")


def stored_posterior(
    path: Path,
    layout: Layout,
    contents: Contents,
    records: Mapping[int, Record],
) -> Posterior:
    """Open the posterior of a store's finished subjects, without reading draws.

    Parameters
    ----------
    path : Path
        The store.
    layout : Layout
        The layout of the store.
    contents : Contents
        Contents of the store, without draws.
    records : mapping of int to Record
        Records by the subject's position in the store's arrays.

    Returns
    -------
    Posterior
        The posterior, whose draws are read from the disk on each access.

    Raises
    ------
    FitError
        When no subject has draws.
    """
    ordered = sorted(records.items())
    tried = {record.subject: record.tried for _, record in ordered}
    chosen = [(row, record) for row, record in ordered if record.draws is not None]
    if not chosen:
        failed = [f"; {name}: {one.failure}" for name, one in tried.items()]
        raise FitError(
            f"{path} has no draws{''.join(failed[:1])}; fit with this store to sample its subjects"
        )
    arrays: dict[str, dict[str, Any]] = {"posterior": {}, "sample_stats": {}}
    for name, (shape, dtype) in contents.draws.items():
        group, own = name.split("/")
        arrays[group][own] = LazilyIndexedArray(DrawsOnDisk(path, name, chosen, shape, dtype))
    return assemble(
        layout,
        contents.training.take(row for row, _ in chosen),
        contents.prior,
        arrays["posterior"],
        arrays["sample_stats"],
        contents.attributes,
        tried,
    )
