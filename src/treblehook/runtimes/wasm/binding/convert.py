"""Which conversion is used."""

from typing import TypeAlias

from treblehook.runtimes.wasm.binding.direct import DirectConversion, works_here
from treblehook.runtimes.wasm.binding.stock import StockConversion

Conversion: TypeAlias = DirectConversion | StockConversion


def conversion() -> Conversion:
    """The direct one where the installed library is as it expects, else the library's own."""
    return DirectConversion() if works_here() else StockConversion()
