#!/usr/bin/env bash
# The main job: fit 68 agents of the Animal-AI Olympics and write their cognitive profiles.
# Options go to `measurement-layouts run`: --data, --out, --seed, --draws.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
exec .venv/bin/measurement-layouts run animal-ai-olympics "$@"
