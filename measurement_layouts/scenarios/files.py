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
        text = (resources.files(__package__) / "SHA256SUMS").read_text(encoding="utf-8")
        pairs = (line.split("  ", 1) for line in text.splitlines())
        entries = ((path.split("/"), checksum) for checksum, path in pairs)
        return {name: checksum for (folder, name), checksum in entries if folder == self.folder}

    def find(self, place: Path | None) -> dict[str, Path]:
        """Find every file.

        Parameters
        ----------
        place : Path, optional
            Folder of the files, or a folder with them in its folder of the study's name (default:
            the folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``; without it, the
            files are downloaded and cached).

        Raises
        ------
        DataError
            When a file does not exist and cannot be downloaded, or is not the published one.
        """
        return {name: self._find(name, place) for name in self.checksums}

    def _find(self, name: str, folder: Path | None) -> Path:
        kept = os.environ.get(VARIABLE)
        if folder is None and not kept:
            return self._download(name)
        place, said = (Path(folder), "--data") if folder else (Path(str(kept)), VARIABLE)
        places = (place / name, place / self.folder / name)
        path = next((path for path in places if path.is_file()), None)
        if path is None:
            raise DataError(
                f"there is no {name} in {place} or its folder {self.folder!r}; set {said} to the "
                f"folder of {self._names}"
            )
        found = str(pooch.file_hash(str(path)))
        if found != self.checksums[name]:
            source = "the published one" if self.address is None else f"it from {self.address}"
            raise DataError(
                f"{path} is not the published file: its checksum is {found}, not "
                f"{self.checksums[name]}; fetch {source}"
            )
        return path

    def _download(self, name: str) -> Path:
        if self.address is None:
            raise DataError(
                f"there is no folder with {self._names}, and they are not offered for download; "
                f"give the folder as --data or in the environment variable {VARIABLE}"
            )
        folder = pooch.os_cache("measurement-layouts")
        try:
            path = pooch.retrieve(
                self.address + name,
                f"sha256:{self.checksums[name]}",
                f"{self.folder}-{name}",
                folder,
            )
        except Exception as error:  # such as no network, a proxy's page, or a changed file
            raise DataError(
                f"{name} could not be downloaded ({type(error).__name__}: {error}); fetch "
                f"{self._names} from {self.address} by hand and give their folder as --data or in "
                f"the environment variable {VARIABLE}"
            ) from error
        return Path(path)

    @property
    def _names(self) -> str:
        return " and ".join(self.checksums)


def published_table(
    folder: Path,
    name: str,
    need: str,
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
    need : str
        Remedy for a file that cannot be read.
    prepare : callable
        Function from the file's table to the result; it raises KeyError or ValueError if columns or
        numbers are missing.
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
        raise DataError(f"{path} cannot be read ({error}); {need}") from error
