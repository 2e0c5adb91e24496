"""Write the golden files of this version: once, before it is released.

``python tests/trust/stability/write_golden.py`` writes a folder ``golden/<version>`` beside itself,
and never over one that exists: what a released version wrote stays as it is.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import golden_cases


def main():
    folder = Path(__file__).parent / "golden" / version("measurement-layouts")
    if folder.exists():
        sys.exit(f"{folder} is there already; golden files are kept as they were written")
    unfinished = folder.with_name("unfinished")
    golden_cases.write(unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    main()
