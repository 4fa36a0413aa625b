"""Why a gradient is None, exactly zero, NaN or Inf: the operation and the source line, in plain words.

    gradient call ─► program ─► F and B ─► cut ─► diagnosis ─► cause        None and zero
    bad step      ─► trace   ─► walk    ─► birth ─► words    ─► cause        NaN and Inf (`nonfinite`)

`explain` answers for one function without a run; `tape_watch.TapeWatch` answers for the recording side. The public
name `tb_gradhealth.explain` is the function until something imports this package, which Python then puts in its place:
so the package can be called, too, and answers as the function does.
"""

import sys
import types
from typing import Any

__all__ = ["explain"]


def __getattr__(name: str) -> Any:
    if name == "explain":
        from tb_gradhealth.explain.api import explain

        return explain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Callable(types.ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from tb_gradhealth.explain.api import explain

        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
