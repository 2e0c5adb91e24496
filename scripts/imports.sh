#!/usr/bin/env bash
# The contract of imports (pyproject.toml, [tool.importlinter]): no package imports one above it, no files
# import each other in a circle, and only inference and estimation import PyMC.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$(bash "$root/scripts/tree.sh")"
"${PYTHON:-$root/.venv/bin/python}" -c 'from importlinter.cli import lint_imports_command as run; run()' \
    --config "$root/pyproject.toml" --cache-dir "$root/.venv/import_linter_cache" --no-logo "$@"
