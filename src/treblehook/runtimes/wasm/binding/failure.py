"""What an error of the library means."""

from typing import Final

from wasmtime import ExitTrap, WasmtimeError

from treblehook.runtimes.wasm.errors import AnswerTooBig, CallEnded, Exited, StackExhausted, TooManyResources, Trapped

# The library hands out its errors as text only.
_SIGNS: Final = (
    ("call stack exhausted", StackExhausted),
    ("fuel allocated for hostcalls has been exhausted", AnswerTooBig),
    ("exceeds memory limits", TooManyResources),
    ("exceeds table limits", TooManyResources),
    ("resource limit exceeded", TooManyResources),
)
_LONGEST: Final = 2000


def failure(error: WasmtimeError) -> CallEnded:
    """The error for whoever called."""
    if isinstance(error, ExitTrap):
        return Exited(error.code)
    text = str(error)
    for sign, kind in _SIGNS:
        if sign in text:
            return kind(_short(text))
    return Trapped(_short(text))


def _short(text: str) -> str:
    """The causes, without the guest's stack; the last one is what happened."""
    head, _, causes = text.partition("Caused by:")
    lines = [line.strip() for line in (causes or head).splitlines() if line.strip()]
    kept = [line.partition(": ")[2] if line[:1].isdigit() and line.partition(": ")[0].isdigit() else line for line in lines]
    own = [line for line in kept if not line.startswith(("error while executing at wasm backtrace", "0x", "- "))]
    return ": ".join(own)[:_LONGEST] or head.strip()[:_LONGEST]
