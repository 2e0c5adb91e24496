"""The order of files whose tests take long."""

LONGEST = (
    "test_calibration",
    "test_joint_calibration",
    "test_reproductions",
    "test_references",
    "test_noncentred",
    "test_modules",
    "test_recovery",
    "test_coverage",
    "test_joint_coverage",
    "test_newcomer_jointly",
)
"""Files whose tests take longest, which start first: no process ends with one, alone."""
