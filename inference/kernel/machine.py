"""From LLVM code to functions in memory."""

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ...common.cache import Recent, cached

_NAMES = itertools.count()
_EXPORTS = ("density", "profile")


@dataclass(frozen=True)
class Machine:
    """Functions in memory.

    Attributes
    ----------
    density, profile : int
        Their addresses.
    library : object
        Holds them; they live as long as it does.
    """

    density: int
    profile: int
    library: Any


_built = Recent[str, Machine](64)  # one at a time: LLVM's state is not for several threads


def build(text: str) -> Machine:
    """Compile a module for this processor, once; or take its machine code from the cache.

    Parameters
    ----------
    text : str
        An LLVM module.

    Returns
    -------
    Machine
        Its functions.
    """
    return _built.find(text, lambda: _link(text))


def _link(text: str) -> Machine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    key = "\0".join([llvmlite.__version__, *_processor(), text])
    library = llvm.JITLibraryBuilder().add_current_process()
    library.add_object_img(cached(key, ".o", lambda: _compile(text)))
    for name in _EXPORTS:
        library.export_symbol(name)
    linked = library.link(_engine(), f"kernel{next(_NAMES)}")
    return Machine(linked["density"], linked["profile"], linked)


def optimise(text: str, target: Any) -> Any:
    """Parse a module and let LLVM's passes at it, those that make vector code of loops included."""
    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(module, passes)
    return module


def target() -> Any:
    """Describe this machine's processor."""
    name, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="small"
    )


def _compile(text: str) -> bytes:
    machine = target()
    return bytes(machine.emit_object(optimise(text, machine)))


@cache
def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _engine() -> Any:
    return llvm.create_lljit_compiler(target())
