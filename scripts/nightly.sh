#!/usr/bin/env bash
# What takes too long for each change. The whole matrix of tests/test_matrix.py: every kind of layout and
# of data with every call, where the fast suite takes rows in which any two levels occur together. And
# 500 random layouts and outcomes, 30 of them fitted, where the tests take 40 and 3; calibrations with 1,000
# simulations instead of 50, and twice as many random inputs. Options go to pytest.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
export MATRIX=all OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
tests=(tests/test_matrix.py tests/inference/model/test_random_studies.py tests/validation/calibration tests/estimation tests/fuzz)
more=(--simulations 1000 --inputs 2)
exec .venv/bin/python -m pytest -n 2 -m "slow or not slow" "${more[@]}" "${tests[@]}" "$@"
