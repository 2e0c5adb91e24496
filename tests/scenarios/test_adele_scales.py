"""The general scales: 18 demands in three groups, and unguessability."""

import pandas as pd

from measurement_layouts.batteries.judgement import judge_benchmark
from measurement_layouts.scenarios.adele import scales


def test_dimensions_are_those_of_table_1():
    assert (len(scales.DIMENSIONS), len(scales.DEMANDS)) == (19, 18)
    groups = [scales.DIMENSIONS[code].group for code in scales.DEMANDS]
    assert groups == ["primordial"] * 11 + ["knowledge"] * 5 + ["extraneous"] * 2
    assert scales.DEMANDS[11:16] == ("KNa", "KNc", "KNf", "KNn", "KNs")
    assert scales.EXTRANEOUS == ("AT", "VO")
    assert list(scales.DIMENSIONS) == [*scales.DEMANDS, scales.UNGUESSABILITY]


def test_broad_dimensions_hold_each_part_once():
    assert len(scales.BROAD) == 11
    parts = [code for codes in scales.BROAD.values() for code in codes]
    assert sorted(parts) == sorted(scales.DIMENSIONS)
    assert scales.BROAD["MC"] == ("MCr", "MCt", "MCu")
    for broad, codes in scales.BROAD.items():
        assert all(code.startswith(broad) for code in codes)


def test_real_benchmarks_are_judged_as_published(adele_data):
    """Section 3.2: one exam asks for nearly everything, a dialogue test for few levels."""
    labels = {
        name: pd.read_csv(adele_data / f"{name}_capabilities.csv", index_col="question_id")
        for name in ("CSE", "TimeDial")
    }
    exam = judge_benchmark(labels["CSE"], ["QLl"], scales.DEMANDS)
    others = exam.table[~exam.table["claimed"]]
    assert sorted(others.index[others["holds"]]) == ["CEe", "SNs"]
    assert not exam.specific
    for claim in (["KNc"], ["QLl"], ["CEc"]):
        assert not judge_benchmark(labels["TimeDial"], claim, scales.DEMANDS).sensitive
