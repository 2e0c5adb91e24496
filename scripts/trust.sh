#!/usr/bin/env bash
# The trust table: every test that stands for a promise, the slow ones too, with 1,000 simulations of
# each layout's calibration and twice as many random inputs: some twenty-five minutes. Options go to
# pytest; --simulations 100 takes eight minutes.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
command -v chromium >/dev/null || install_package chromium # hostile reports are opened in it
exec .venv/bin/python -m pytest -m trust --trust-table --simulations 1000 --inputs 2 "$@"
