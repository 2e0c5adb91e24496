#!/usr/bin/env bash
# Known vulnerabilities in what is installed: one found fails; what could not be looked up is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-.venv/bin/python}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# its status is 1 for what it found, and for a service that it does not reach
"$python" -m pip_audit --skip-editable --progress-spinner off --timeout 30 --format json \
    --output "$place/found.json" >/dev/null 2>"$place/said" || true

"$python" - "$place" <<'PYTHON'
import json
import sys
from pathlib import Path

place = Path(sys.argv[1])
said = (place / "said").read_text(encoding="utf-8").strip().split("\n")[-1]
if "No module named" in said:
    sys.exit(f"audit: {said}; install the extra dev")
if not (place / "found.json").is_file():
    print(f"audit: NOT DONE, the advisories cannot be reached: {said}")
    sys.exit(0)
packages = json.loads((place / "found.json").read_text(encoding="utf-8"))["dependencies"]
audited = [package for package in packages if "skip_reason" not in package]
for package in audited:
    for one in package["vulns"]:
        mended = ", ".join(one["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package['version']}: {one['id']}, mended in {mended}")
missed = len(packages) - len(audited)
print(f"audit: {len(audited)} packages looked up, {missed} could not be (no advisories of them)")
if not audited:
    print("audit: NOT DONE, the package index told nothing of any package")
bad = [package for package in audited if package["vulns"]]
sys.exit(f"audit: known vulnerabilities in {len(bad)} package(s)" if bad else 0)
PYTHON
