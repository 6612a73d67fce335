"""`murmur:runtime/inference`: one completion by the model of the session. It needs no grant."""

from typing import Any, Final

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.imports.caller import Caller
from treblehook.contracts.murmur.interfaces import INFERENCE, interface
from treblehook.contracts.murmur.messages import role_of
from treblehook.contracts.murmur.services import Inference, InferenceFailed, InferenceRequest
from treblehook.lifecycle import Message
from treblehook.runtimes.wasm import Err, HostInterface, Ok, host_interface

NO_DRIVER: Final = "there is no model to ask: inference.driver.artifact is not configured"
NOT_AT_STAGE: Final = "there is no model to ask at on-stage: inference.driver.artifact is not loaded yet"


def inference_interface(caller: Caller, inference: Inference | None) -> HostInterface:
    async def run_inference(request: dict[str, Any]) -> Ok | Err:
        if caller.binding is Binding.STAGE:
            return Err(NOT_AT_STAGE)
        if inference is None:
            return Err(NO_DRIVER)
        # Whatever a content is, it becomes one text.
        messages = tuple(Message(role_of(record["role"]), record["content"]) for record in request["messages"])
        try:
            reply = await inference.complete(caller.name, InferenceRequest(messages, request["system-prompt"] or "", request["model"]))
        except InferenceFailed as failed:
            return Err(str(failed))
        return Ok(
            {
                "text": reply.text,
                "model-used": reply.model,
                "input-tokens": reply.input_tokens,
                "output-tokens": reply.output_tokens,
            }
        )

    return host_interface(interface(INFERENCE), {"run-inference": run_inference}, counts=True)
