"""WebAssembly components are executed here, inside limits and with what they were granted; what their functions mean is decided elsewhere.

Read `runtime.py` first, then `instance.py`: a call from the event loop to the guest's thread and back.
"""

from treblehook.runtimes.wasm.component import Component
from treblehook.runtimes.wasm.errors import (
    AnswerTooBig,
    CallEnded,
    Cancelled,
    CannotCompile,
    CannotStart,
    CoreModule,
    DeadlineExceeded,
    Exited,
    HostFunctionFailed,
    ImportNotGranted,
    InstanceEnded,
    NotAComponent,
    NotExported,
    Reentered,
    RuntimeClosed,
    StackExhausted,
    TooLarge,
    TooManyResources,
    Trapped,
    WasmError,
    WrongImport,
    WrongType,
    WrongValue,
)
from treblehook.runtimes.wasm.grants import (
    NO_WASI,
    SEALED_WASI,
    Folder,
    Grants,
    HostFunction,
    HostInterface,
    Limits,
    Wasi,
    host_interface,
)
from treblehook.runtimes.wasm.instance import Instance
from treblehook.runtimes.wasm.output import Output
from treblehook.runtimes.wasm.runtime import Compiling, WasmRuntime
from treblehook.runtimes.wasm.types import FunctionType
from treblehook.runtimes.wasm.values import Err, Ok, Some, Value, Variant

__all__ = [
    "NO_WASI",
    "SEALED_WASI",
    "AnswerTooBig",
    "CallEnded",
    "Cancelled",
    "CannotCompile",
    "CannotStart",
    "Compiling",
    "Component",
    "CoreModule",
    "DeadlineExceeded",
    "Err",
    "Exited",
    "Folder",
    "FunctionType",
    "Grants",
    "HostFunction",
    "HostFunctionFailed",
    "HostInterface",
    "ImportNotGranted",
    "Instance",
    "InstanceEnded",
    "Limits",
    "NotAComponent",
    "NotExported",
    "Ok",
    "Output",
    "Reentered",
    "RuntimeClosed",
    "Some",
    "StackExhausted",
    "TooLarge",
    "TooManyResources",
    "Trapped",
    "Value",
    "Variant",
    "Wasi",
    "WasmError",
    "WasmRuntime",
    "WrongImport",
    "WrongType",
    "WrongValue",
    "host_interface",
]
