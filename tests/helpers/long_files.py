"""The order of files whose tests take long."""

LONGEST = (
    "test_calibration",
    "test_joint_calibration",
    "test_chance",
    "test_adele_assessed",
    "test_propensity_reproduced",
    "test_overdispersion",
    "test_leaks",
    "test_noncentred",
    "test_coverage",
    "test_modules",
    "test_adele_recovery",
    "test_references",
    "test_propensity_benchmark",
    "test_joint_coverage",
    "test_newcomer_jointly",
)
"""Files whose tests take longest, which start first: no process ends with one, alone."""
