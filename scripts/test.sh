#!/usr/bin/env bash
# The tests: the fast suite by default, on two processes; other options go to pytest. Slow tests run on
# two processes with -m "slow and not alone", the longest files first (tests/conftest.py), the notebooks
# too with -p nbmake --nbmake tests notebooks, and one after the other with -m slow.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
workers=(-n 2 --dist worksteal)
case " $* " in
*" slow and not alone "*) workers=(-n 2 --dist loadfile --no-loadscope-reorder) ;;
*" slow "*) workers=() ;;
esac
# Two processes share the processors: threads of small matrix products would wait, not work.
[ ${#workers[@]} = 0 ] || export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
exec .venv/bin/python -m pytest "${workers[@]}" "$@"
