"""The small study that tests of dispositions share."""

import pytest
import small_judgments


@pytest.fixture
def judgments():
    return small_judgments.judgments()
