#!/usr/bin/env bash
# Type check: mypy reads the package as it is installed, the root folders under one name.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$(bash "$root/scripts/tree.sh")"
"${PYTHON:-$root/.venv/bin/python}" -m mypy --config-file "$root/pyproject.toml" \
    --cache-dir "$root/.mypy_cache" -p measurement_layouts
