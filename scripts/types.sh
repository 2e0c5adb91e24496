#!/usr/bin/env bash
# Type check of the package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"${PYTHON:-.venv/bin/python}" -m mypy -p measurement_layouts
