"""Text that is written into files."""

import csv
from io import StringIO

import pandas as pd
import pytest

from measurement_layouts.common.files import csv_text

TEXTS = ["\r", "a\r", "\n", "\r\n", "a,b", '"', "", "1"]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("index", [False, True])
def test_texts_of_every_kind_are_read_back(name, index):
    table = pd.DataFrame({"plain": ["Ann"] * len(TEXTS), name: TEXTS}, pd.Index(TEXTS, name="row"))
    header, *rows = csv.reader(StringIO(csv_text(table, index=index), newline=""), strict=True)
    first = 0 if index else 1
    assert header == ["row", "plain", name][first:]
    assert rows == [[text, "Ann", text][first:] for text in TEXTS]
