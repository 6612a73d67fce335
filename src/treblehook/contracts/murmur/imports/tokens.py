"""`murmur:runtime/tokens`: how many tokens a text has. It needs no grant."""

from treblehook.contracts.murmur.interfaces import TOKENS, interface
from treblehook.host.tokens import TokenCounter
from treblehook.runtimes.wasm import HostInterface, host_interface


def tokens_interface(tokens: TokenCounter) -> HostInterface:
    """Counting happens on the guest's own thread."""
    return host_interface(interface(TOKENS), {"count": tokens.count}, counts=True)
