#!/usr/bin/env bash
# The tests: the fast suite by default; other options go to pytest, such as -m slow.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
exec .venv/bin/python -m pytest "$@"
