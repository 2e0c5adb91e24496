"""The general scales: 18 demands in three groups, levels that mean rarity, and unguessability."""

import doctest

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.batteries.judgement import judge_benchmark
from measurement_layouts.scenarios.adele import scales


def test_dimensions_are_those_of_table_1():
    assert (len(scales.DIMENSIONS), len(scales.DEMANDS)) == (19, 18)
    assert len(scales.PRIMORDIAL) == 11
    assert scales.KNOWLEDGE == ("KNa", "KNc", "KNf", "KNn", "KNs")
    assert scales.EXTRANEOUS == ("AT", "VO")
    groups = scales.PRIMORDIAL + scales.KNOWLEDGE + scales.EXTRANEOUS
    assert groups == scales.DEMANDS
    assert list(scales.DIMENSIONS) == [*scales.DEMANDS, scales.UNGUESSABILITY]
    assert all(code == found.code for code, found in scales.DIMENSIONS.items())


def test_broad_dimensions_hold_each_part_once():
    assert len(scales.BROAD) == 11
    assert scales.FAMILIES == ("AS", "CE", "CL", "MC", "MS", "QL", "SN")
    parts = [code for codes in scales.BROAD.values() for code in codes]
    assert sorted(parts) == sorted(scales.DIMENSIONS)
    assert scales.BROAD["MC"] == ("MCr", "MCt", "MCu")
    for broad, codes in scales.BROAD.items():
        assert len({scales.DIMENSIONS[code].broad_name for code in codes}) == 1
        assert all(code.startswith(broad) for code in codes)


def test_texts_are_sentences():
    entries = [*scales.DIMENSIONS.values(), *scales.LEVELS]
    meanings = [entry.meaning for entry in entries]
    assert len(set(meanings)) == len(entries)
    assert all(text.endswith(".") and text[0].isupper() for text in meanings)


def test_levels():
    assert [found.level for found in scales.LEVELS] == [0, 1, 2, 3, 4, 5]
    assert scales.LEVELS[0].name == "none"
    assert scales.rarity([found.level for found in scales.LEVELS]).tolist() == [
        *(1, 10, 100, 1000, 10_000, 100_000)
    ]
    assert np.log(scales.rarity(6)) == pytest.approx(2 * np.log(scales.rarity(3)), rel=1e-14)


def test_unguessability_there_and_back():
    options = np.array([1, 2, 4, 5, 10, 1000])
    percent = 100 * (1 - 1 / options)
    levels = scales.unguessability_to_level(percent)
    assert np.allclose(levels, np.log10(options), atol=1e-12)
    assert np.allclose(scales.level_to_unguessability(levels), percent, atol=1e-9)
    assert scales.unguessability_to_level(90) == 1  # the one value that the study gives
    assert scales.unguessability_to_level([99.999, 99.99999, 100]) == pytest.approx([5, 5, 5])


def test_columns_of_items():
    items = pd.DataFrame({"UG": [75.0, 100.0]}, index=["a", "b"])
    assert items.assign(UG=scales.unguessability_to_level(items["UG"]))["UG"].round(2).tolist() == [
        0.6,
        5.0,
    ]


@pytest.mark.parametrize(
    ("function", "value", "message"),
    [
        (scales.rarity, [1, -1], r"1 of 2 value\(s\) such as -1; give numbers 0 or above"),
        (scales.rarity, "high", "level: 'high' is not a number"),
        (scales.unguessability_to_level, 101, "such as 101; give numbers from 0 to 100"),
        (scales.unguessability_to_level, [np.nan], "such as nan"),
        (scales.level_to_unguessability, 5.5, "such as 5.5; give numbers from 0 to 5"),
    ],
)
def test_errors(function, value, message):
    with pytest.raises(DataError, match=message):
        function(value)


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


def test_examples():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(scales, optionflags=flags)
    assert found.attempted
    assert not found.failed
