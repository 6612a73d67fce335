"""`murmur:task-io/read`: the text of the task under way, in pieces."""

from collections.abc import Callable
from typing import Any, Final

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.imports.caller import Caller
from treblehook.contracts.murmur.interfaces import TASK_IO, interface
from treblehook.contracts.murmur.services import TaskIo, TaskText
from treblehook.runtimes.wasm import Err, HostInterface, Ok, host_interface

_WITHOUT_TASK: Final = (Binding.STAGE, Binding.SESSION_START, Binding.TASK_START, Binding.SESSION_END)


def task_interface(caller: Caller, task: TaskIo) -> HostInterface:
    """A hook that nobody waits for sees whatever is there when its turn comes; any other what belongs to its event."""

    def about(answer: Callable[[TaskText], Ok | Err]) -> Ok | Err:
        if not caller.grant.task_io:
            return Err("not-granted")
        current = task.current()
        if current is None or (caller.binding in _WITHOUT_TASK and caller.waited_for):
            return Err("no-task")
        return answer(current)

    def output(current: TaskText, answer: Callable[[bytes], Ok | Err]) -> Ok | Err:
        if current.output is None or (caller.binding is not Binding.TASK_END and caller.waited_for):
            return Err("no-output")
        return answer(_bytes(current.output))

    async def input_len(form: str) -> Ok | Err:
        return about(lambda current: Ok(len(_input(current, form))))

    async def read_input(form: str, offset: int, most: int) -> Ok | Err:
        return about(lambda current: _piece(_input(current, form), offset, most))

    async def output_len() -> Ok | Err:
        return about(lambda current: output(current, lambda content: Ok(len(content))))

    async def read_output(offset: int, most: int) -> Ok | Err:
        return about(lambda current: output(current, lambda content: _piece(content, offset, most)))

    functions: dict[str, Callable[..., Any]] = {
        "input-len": input_len,
        "read-input": read_input,
        "output-len": output_len,
        "read-output": read_output,
    }
    return host_interface(interface(TASK_IO), functions, counts=True)


def _input(current: TaskText, form: str) -> bytes:
    return _bytes(current.original if form == "original" else current.given)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _piece(content: bytes, offset: int, most: int) -> Ok | Err:
    found = window(content, offset, most)
    return Err("out-of-range") if found is None else Ok(found)


def window(content: bytes, offset: int, most: int) -> str | None:
    """The longest piece of `content` from `offset` on that has `most` bytes at most and splits no character; None where `offset` is past
    the end or inside of one."""
    if offset > len(content) or _inside(content, offset):
        return None
    end = min(len(content), offset + most)
    while _inside(content, end):
        end -= 1
    return content[offset:end].decode()


def _inside(content: bytes, at: int) -> bool:
    """Whether `at` is within a character of UTF-8."""
    return at < len(content) and content[at] & 0xC0 == 0x80
