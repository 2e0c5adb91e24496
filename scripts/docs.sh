#!/usr/bin/env bash
# The documentation: docs/_build/html, with warnings as errors and every link followed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -z "${PYTHON:-}" ]; then
    extras=docs
    source scripts/setup.sh
    PYTHON=.venv/bin/python
fi
export COLUMNS=92 # width of the command's help
"$PYTHON" docs/building/pictures.py
"$PYTHON" docs/building/pages.py
"$PYTHON" -m sphinx -W --keep-going --quiet -j 2 -b html docs docs/_build/html
"$PYTHON" docs/building/links.py docs/_build/html
