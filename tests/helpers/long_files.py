"""The order of files whose tests take long."""

LONGEST = (
    "test_calibration",
    "test_joint_calibration",
    "test_propensity_reproduced",
    "test_references",
    "test_adele_assessed",
    "test_noncentred",
    "test_modules",
    "test_recovery",
    "test_coverage",
    "test_joint_coverage",
    "test_newcomer_jointly",
)
"""Files whose tests take longest, which start first: no process ends with one, alone."""
