"""Machine code reaches what it needs at any distance, so that it can be linked in any process."""

import platform
import struct
import sys

import pytest

from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.kernel import machine
from measurement_layouts.inference.sampling import engine

WHOLE = {1, 24}  # R_X86_64_64 and R_X86_64_PC64, in the processor's supplement to System V's ABI
RELA = 4  # a section of relocations

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="reads ELF of x86-64"
)


def relocations(code):
    """Kinds of addresses that are left to the linker."""
    sections, size, count = (
        struct.unpack_from(form, code, at)[0] for form, at in (("Q", 40), ("H", 58), ("H", 60))
    )
    found = set()
    for header in range(sections, sections + count * size, size):
        if struct.unpack_from("I", code, header + 4)[0] == RELA:
            start, length = struct.unpack_from("QQ", code, header + 24)
            found |= {
                struct.unpack_from("I", code, start + at + 8)[0] for at in range(0, length, 24)
            }
    return found


@pytest.fixture
def texts(animal_ai, cohort, monkeypatch, tmp_path):
    """The code of a layout, as it is compiled."""
    monkeypatch.setenv("MEASUREMENT_LAYOUTS_CACHE", str(tmp_path))
    seen, compile_ = [], machine._compile
    monkeypatch.setattr(machine, "_compile", lambda *args: seen.append(args[0]) or compile_(*args))
    for kept in (engine._samplers, machine._built):
        kept.clear()
    engine.compile_sampler(engine.Battery.of(animal_ai, cohort)).on(SubjectData.of(cohort, "Ann"))
    return seen


def test_no_address_has_32_bits(texts, monkeypatch):
    (text,) = texts
    assert relocations(machine._compile(text)) <= WHOLE
    monkeypatch.setattr(machine, "_ANYWHERE", {"reloc": "pic", "codemodel": "small"})
    assert relocations(machine._compile(text)) - WHOLE  # twin that must fail
