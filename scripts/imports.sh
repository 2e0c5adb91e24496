#!/usr/bin/env bash
# The contract of imports (pyproject.toml, [tool.importlinter]): no package imports one above it, no files
# import each other in a circle, and only inference and estimation import PyMC.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"${PYTHON:-.venv/bin/python}" -c 'from importlinter.cli import lint_imports_command as run; run()' \
    --cache-dir .venv/import_linter_cache --no-logo "$@"
