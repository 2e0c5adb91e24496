"""Files of real data, which are found in a folder or downloaded, and checked by checksums."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pandas as pd
import pooch

from ..common.errors import DataError

VARIABLE = "MEASUREMENT_LAYOUTS_DATA"


@dataclass(frozen=True)
class Files:
    """The files of one study's data.

    Attributes
    ----------
    folder : str
        Their folder inside a folder with the data of several studies.
    address : str, optional
        Web address of their folder; files without an address cannot be downloaded.
    """

    folder: str
    address: str | None = None

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 checksum of each file, from ``SHA256SUMS``, which ``sha256sum --check`` reads."""
        checksums = {}
        text = (resources.files(__package__) / "SHA256SUMS").read_text(encoding="utf-8")
        for line in text.splitlines():
            checksum, path = line.split("  ")
            folder, name = path.split("/")
            if folder == self.folder:
                checksums[name] = checksum
        return checksums

    def find(self, folder: Path | None) -> dict[str, Path]:
        """Find every file.

        Parameters
        ----------
        folder : Path, optional
            Folder of the files, or a folder with them in its folder of the study's name (default:
            the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``; without it, the
            files are downloaded and cached).

        Raises
        ------
        DataError
            When a file does not exist and cannot be downloaded, or is not the published one.
        """
        chosen, option = (folder, "--data") if folder else (os.environ.get(VARIABLE), VARIABLE)
        if chosen:
            return {name: self._checked(name, Path(chosen), option) for name in self.checksums}
        needed = " and ".join(self.checksums)
        if self.address is None:
            raise DataError(
                f"there is no folder with {needed}, and they are not offered for download; "
                f"give the folder as --data or in the environment variable {VARIABLE}"
            )
        cache = Path(pooch.os_cache("measurement-layouts"), self.folder)
        downloads = pooch.create(cache, self.address, registry=self.checksums)
        try:
            return {name: Path(downloads.fetch(name)) for name in self.checksums}
        except Exception as error:  # such as no network, a proxy's page, or a changed file
            raise DataError(
                f"{needed} could not be downloaded ({type(error).__name__}: {error}); fetch them "
                f"from {self.address} by hand and give their folder as --data or in the "
                f"environment variable {VARIABLE}"
            ) from error

    def _checked(self, name: str, folder: Path, option: str) -> Path:
        """Find a file in a folder, and compare its checksum."""
        paths = [path for path in (folder / name, folder / self.folder / name) if path.is_file()]
        if not paths:
            raise DataError(
                f"there is no {name} in {folder} or its folder {self.folder!r}; set {option} to "
                f"the folder of {' and '.join(self.checksums)}"
            )
        checksum = pooch.file_hash(str(paths[0]))
        if checksum != self.checksums[name]:
            raise DataError(
                f"{paths[0]} is not the published file: its checksum is {checksum}, not "
                f"{self.checksums[name]}; fetch it from {self.address or 'its publishers'}"
            )
        return paths[0]


def published_table(
    folder: Path,
    name: str,
    prepare: Callable[[pd.DataFrame], pd.DataFrame],
    *,
    index: int | str | None = None,
) -> pd.DataFrame:
    """Read a published table.

    Parameters
    ----------
    folder : Path
        Folder of published tables.
    name : str
        Name of the file.
    prepare : callable
        Function from the file's table to the result; it raises KeyError or ValueError if columns,
        rows or numbers are missing or are not the published ones.
    index : int or str, optional
        Column with the names of the rows, or its position.

    Raises
    ------
    DataError
        When the file is not in the folder, or cannot be prepared.
    """
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"there is no {path}; give the folder of published tables as --published")
    try:
        return prepare(pd.read_csv(path, index_col=index))
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} cannot be used ({error}); give the paper's table") from error
