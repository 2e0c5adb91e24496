#!/usr/bin/env bash
# The tests: the fast suite by default, on two processes; other options go to pytest. The slow tests
# (-m slow) measure memory and kill processes, and have the machine for themselves.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
workers=(-n 2 --dist worksteal)
case " $* " in *" slow "*) workers=() ;; esac
exec .venv/bin/python -m pytest "${workers[@]}" "$@"
