"""Machine instructions that numba does not offer, for use inside compiled functions."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

_Generated: TypeAlias = tuple[Signature, Callable[[BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]]
_POINTER = ir.PointerType(ir.IntType(8))
_TO_READ, _KEEP, _DATA = 0, 3, 1


def _ones_in(_typing: Context, word: types.Type) -> _Generated:
    def generate(
        _target: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        count = builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)])
        return builder.call(count, arguments)

    return types.int64(word), generate


def _prefetch(_typing: Context, address: types.Type) -> _Generated:
    def generate(
        _target: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        pointer = builder.inttoptr(arguments[0], _POINTER)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [_POINTER, number, number, number])
        load = builder.module.declare_intrinsic("llvm.prefetch", [_POINTER], kind)
        builder.call(load, [pointer, number(_TO_READ), number(_KEEP), number(_DATA)])
        return ir.Constant(_POINTER, None)  # which stands for None

    return types.void(address), generate


ones_in = cast("Callable[[np.uint64], int]", intrinsic(_ones_in))
"""How many bits of a uint64 are 1, as int64."""
prefetch = cast("Callable[[np.uint64], None]", intrinsic(_prefetch))
"""Loads the cache line at an address that will be read soon; an invalid address is ignored."""
