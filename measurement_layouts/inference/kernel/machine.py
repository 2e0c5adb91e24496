"""Compilation of LLVM code to machine code, with a cache for other processes."""

import itertools
import platform
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ...common.cache import Recent, cached

_NAMES = itertools.count()
_EXPORTS = ("density", "profile")
_X86 = platform.machine().lower() in ("x86_64", "amd64")
_ANYWHERE = (
    {"reloc": "static", "codemodel": "large"}
    if _X86
    else {"reloc": "default", "codemodel": "jitdefault"}
)
"""Addresses of 64 bits: in a process with much memory, parts of one object may be more than 2 GiB
apart, and linking them with distances of 32 bits would abort the process."""
_SEPARATE_READS = ",+prefer-no-gather,+prefer-no-scatter"
"""Without instructions that read or write the numbers of a vector at several addresses, which take
up to half as long again."""


@dataclass(frozen=True)
class Machine:
    """Compiled functions in memory.

    Attributes
    ----------
    density, profile : int
        Addresses of the functions.
    library : object
        Object that keeps the functions in memory.
    """

    density: int
    profile: int
    library: Any


_built = Recent[str, Machine](64)  # one at a time, because LLVM is not thread-safe


def build(text: str) -> Machine:
    """Compile a module for this processor, once, or read its machine code from the cache.

    Parameters
    ----------
    text : str
        An LLVM module with the functions ``density`` and ``profile``.

    Returns
    -------
    Machine
        The functions of the module.
    """
    return _built.find(text, lambda: _link(text))


def _link(text: str) -> Machine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    key = "\0".join([llvmlite.__version__, *_processor(), *_ANYWHERE.values(), text])
    library = llvm.JITLibraryBuilder().add_current_process()
    library.add_object_img(cached(key, ".o", lambda: _compile(text)))
    for name in _EXPORTS:
        library.export_symbol(name)
    linked = library.link(_engine(), f"kernel{next(_NAMES)}")
    return Machine(linked["density"], linked["profile"], linked)


def optimise(text: str, target: Any) -> Any:
    """Parse a module and run LLVM's passes, including the vectorisation of loops."""
    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(module, passes)
    return module


def target() -> Any:
    """Return LLVM's description of this machine's processor."""
    name, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, **_ANYWHERE
    )


def _compile(text: str) -> bytes:
    machine = target()
    return bytes(machine.emit_object(optimise(text, machine)))


@cache
def _processor() -> tuple[str, str]:
    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_host_cpu_name(), features + (_SEPARATE_READS if _X86 else "")


@cache
def _engine() -> Any:
    return llvm.create_lljit_compiler(target())
