#!/usr/bin/env bash
# Links the root folders into one package under .venv/tree, and prints that folder: for tools that read
# files (mypy, import-linter, editors) instead of importing what is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=$PWD/.venv/tree
rm -rf "$tree" && mkdir -p "$tree/measurement_layouts"
for init in */__init__.py; do
    folder=${init%/*}
    [ "$folder" = measurement_layouts ] || [ "$folder" = tests ] || ln -s "$PWD/$folder" "$tree/measurement_layouts/"
done
for file in measurement_layouts/*; do ln -s "$PWD/$file" "$tree/measurement_layouts/"; done
echo "$tree"
