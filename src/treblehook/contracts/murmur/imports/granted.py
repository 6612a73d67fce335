"""The imports of one hook."""

from typing import Final

from treblehook.contracts.murmur.imports.caller import Caller
from treblehook.contracts.murmur.imports.conversation import conversation_interface
from treblehook.contracts.murmur.imports.inference import inference_interface
from treblehook.contracts.murmur.imports.task_io import task_interface
from treblehook.contracts.murmur.imports.tokens import tokens_interface
from treblehook.contracts.murmur.interfaces import LIFECYCLE
from treblehook.contracts.murmur.services import MurmurServices
from treblehook.runtimes.wasm import HostInterface

TYPES_ONLY: Final = HostInterface(LIFECYCLE, stubbed=True)
"""Its types are those of the other interfaces, and componentize-py imports it whole for them. Its functions are the hook's own."""


def host_interfaces(caller: Caller, services: MurmurServices) -> list[HostInterface]:
    """What the instance of `caller` may import."""
    return [
        inference_interface(caller, services.inference),
        tokens_interface(services.tokens),
        task_interface(caller, services.task),
        conversation_interface(caller, services.conversation),
        TYPES_ONLY,
    ]
