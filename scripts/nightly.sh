#!/usr/bin/env bash
# The whole matrix of tests/test_matrix.py: every kind of layout and of data with every call, where
# the fast suite takes rows in which any two levels occur together. Options go to pytest.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
export MATRIX=all OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
exec .venv/bin/python -m pytest -n 2 tests/test_matrix.py "$@"
