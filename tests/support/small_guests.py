"""Guests in component text that do one thing, good or bad, and what is granted to them; `go` takes a number and answers one."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.component_text import MEMORY, component
from treblehook.runtimes.wasm import Grants, HostFunction, HostInterface, Instance
from treblehook.runtimes.wasm.types import STRING, U32, Field, FunctionType

Open = Callable[..., Awaitable[Instance]]
"""What the fixture `opened` gives: loads component text, and starts it."""

GO = FunctionType((Field("n", U32),), U32)
TELL = FunctionType((), STRING)
EXPORTS = {"go": GO}


def guest(body: str, before: str = "") -> str:
    """A component whose `go` has this body; `before` is what else its module has."""
    return component(f'{MEMORY} {before} (func $go (export "go") (param $n i32) (result i32) {body})', EXPORTS)


DOUBLE = guest("(i32.mul (local.get $n) (i32.const 2))")
COUNT = guest("(global.set $c (i32.add (global.get $c) (local.get $n))) (global.get $c)", "(global $c (mut i32) (i32.const 0))")
SPIN = guest("(loop $l (br $l)) unreachable")
SPIN_IF_ZERO = guest("(if (i32.eqz (local.get $n)) (then (loop $l (br $l)))) (local.get $n)")
TRAP_IF_ZERO = guest("(if (i32.eqz (local.get $n)) (then unreachable)) (local.get $n)")
DIVIDE = guest("(i32.div_u (i32.const 100) (local.get $n))")
RECURSE = guest("(i32.add (i32.const 1) (call $go (local.get $n)))")
SPIN_AT_START = guest("(local.get $n)", "(func $begin (loop $l (br $l))) (start $begin)")
TRAP_AT_START = guest("(local.get $n)", "(func $begin unreachable) (start $begin)")
OUT_OF_BOUNDS = guest("(i32.load (i32.const -4))")
GROW = guest("(loop $l (br_if $l (i32.ne (i32.const -1) (memory.grow (i32.const 16))))) (memory.size)")
GROW_OR_TRAP = guest("(loop $l (br_if $l (i32.ne (i32.const -1) (memory.grow (i32.const 16))))) unreachable")
GROW_TABLE = guest(
    "(loop $l (br_if $l (i32.ne (i32.const -1) (table.grow $t (ref.null func) (i32.const 1000))))) (table.size $t)", "(table $t 1 funcref)"
)
HUGE_TABLE = guest("(local.get $n)", "(table 1000000 funcref)")
HUGE_MEMORY = component(
    '(memory (export "memory") 16000) (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)'
    '(func (export "go") (param i32) (result i32) (local.get 0))',
    EXPORTS,
)
BAD_POINTER = component(
    f'{MEMORY} (func (export "tell") (result i32) (i32.store (i32.const 8) (i32.const -16)) (i32.store (i32.const 12) (i32.const 999))'
    "(i32.const 8))",
    {"tell": TELL},
)
NOT_UTF8 = component(
    f'{MEMORY} (data (i32.const 64) "\\ff\\fe") (func (export "tell") (result i32) (i32.store (i32.const 8) (i32.const 64))'
    "(i32.store (i32.const 12) (i32.const 2)) (i32.const 8))",
    {"tell": TELL},
)

HOST = "tests:host/numbers@1.0.0"
ASKS = f"""(component
  (import "{HOST}" (instance $host (export "ask" (func (param "n" u32) (result u32)))))
  (core func $ask (canon lower (func $host "ask")))
  (core module $m {MEMORY}
    (import "host" "ask" (func $ask (param i32) (result i32)))
    (func (export "go") (param $n i32) (result i32) (i32.add (i32.const 1) (call $ask (local.get $n)))))
  (core instance $i (instantiate $m (with "host" (instance (export "ask" (func $ask))))))
  (func $go (param "n" u32) (result u32) (canon lift (core func $i "go")))
  (export "go" (func $go)))""".replace(MEMORY, "")
"""`go` gives what the host answers, plus one."""

SPINS_AFTER = ASKS.replace(
    "(i32.add (i32.const 1) (call $ask (local.get $n)))", "(drop (call $ask (local.get $n))) (loop $l (br $l)) unreachable"
)


def granted(call: Callable[..., Any], *, counts: bool = False) -> Grants:
    return Grants([HostInterface(HOST, {"ask": HostFunction(GO, call, counts)})])
