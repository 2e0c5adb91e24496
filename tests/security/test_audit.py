"""The audit of dependencies fails on what is known, and says what it could not look up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "audit.sh"
STANDS_IN = """
import sys
print("cannot reach the service", file=sys.stderr)
found = {found!r}
if found:
    open(sys.argv[sys.argv.index("--output") + 1], "w").write(found)
sys.exit(1)
"""
BAD = {"id": "PYSEC-1", "fix_versions": ["2.0"]}
FINE = {"name": "fine", "version": "1.0", "vulns": []}
UNKNOWN = {"name": "unknown", "version": "1.0", "skip_reason": "not found"}
WORSE = {"name": "worse", "version": "1.0", "vulns": [BAD]}


def audit(folder, packages):
    """Run the script with a stand-in for pip-audit that finds this."""
    found = json.dumps({"dependencies": packages}) if packages else ""
    (folder / "pip_audit.py").write_text(STANDS_IN.format(found=found), encoding="utf-8")
    settings = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(folder)}
    return subprocess.run(["bash", SCRIPT], env=settings, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        (
            [FINE, UNKNOWN, WORSE],
            1,
            "worse 1.0: PYSEC-1, mended in 2.0\n"
            "audit: 2 packages looked up, 1 could not be (no advisories of them)\n"
            "audit: known vulnerabilities in 1 package(s)\n",
        ),
        ([FINE], 0, "audit: 1 packages looked up, 0 could not be (no advisories of them)\n"),
        (
            [UNKNOWN],
            0,
            "audit: 0 packages looked up, 1 could not be (no advisories of them)\n"
            "audit: NOT DONE, the package index told nothing of any package\n",
        ),
        (
            [],
            0,
            "audit: NOT DONE, the advisories cannot be reached: cannot reach the service\n",
        ),
    ],
    ids=["found", "none", "not looked up", "not reached"],
)
def test_what_the_audit_says(tmp_path, packages, status, said):
    done = audit(tmp_path, packages)
    assert done.stdout + done.stderr == said
    assert done.returncode == status
