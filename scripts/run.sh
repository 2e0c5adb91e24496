#!/usr/bin/env bash
# The main job: fit 68 agents of the Animal-AI Olympics and write their cognitive profiles.
# Options go to `measurement-layouts run`, as `--help` lists them.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
exec .venv/bin/measurement-layouts run animal-ai-olympics "$@"
