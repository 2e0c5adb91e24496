#!/usr/bin/env bash
# Type check: mypy reads the package as it is installed, the root folders under one name.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/measurement_layouts"
for part in linking layouts annotation inference reports scenarios; do ln -s "$root/$part" "$tree/measurement_layouts/$part"; done
for file in "$root"/measurement_layouts/*; do ln -s "$file" "$tree/measurement_layouts/"; done
cd "$tree"
"${PYTHON:-$root/.venv/bin/python}" -m mypy --config-file "$root/pyproject.toml" \
    --cache-dir "$root/.mypy_cache" -p measurement_layouts
