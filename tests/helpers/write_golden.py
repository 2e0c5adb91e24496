"""Write the golden files of this version: once, before it is released.

``PYTHONPATH=tests python -m helpers.write_golden`` writes ``tests/stability/golden/<version>``,
and never over one that exists: what a released version wrote stays as it is.
"""

import sys
from importlib.metadata import version

from helpers import TESTS, golden_cases


def main():
    folder = TESTS / "stability" / "golden" / version("measurement-layouts")
    if folder.exists():
        sys.exit(f"{folder} is there already; golden files are kept as they were written")
    unfinished = folder.with_name("unfinished")
    golden_cases.write(unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    main()
