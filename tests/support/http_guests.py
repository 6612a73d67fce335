"""Guests in component text that make a request by HTTP: a plain one, and a murmur hook."""

from tests.support.murmur_guests import hook
from treblehook.runtimes.wasm.binding.http import IMPORTS, MEMORY, OPTIONS
from treblehook.runtimes.wasm.types import U32, FunctionType

EXPORTS = {"go": FunctionType((), U32)}
SENT, DENIED, WRONG, UNREACHABLE = 204, 1015, 1035, 2006
"""What `go` answers: the status that came back; it was denied; the library did not like it; nobody was there."""

_SCHEMES = {"http": 0, "https": 1, "ftp": 2, None: 0}
_POLL = """
(import "wasi:io/poll@0.2.0" (instance $poll
  (export "pollable" (type $pollable (sub resource)))
  (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
(alias export $poll "pollable" (type $pollable))
"""
_ONLY_READ = '(export "[method]outgoing-request.scheme"'


def asks(authority: str | None, scheme: str | None = "http", version: str = "0.2.0") -> str:
    """A component whose `go` sends `GET /x` to `authority` and waits for the answer."""
    go = '(func $go (result u32) (canon lift (core func $sender "send"))) (export "go" (func $go))'
    text = f"(component {_sender(authority, scheme)} {go})"
    return text.replace("@0.2.0", f"@{version}")


def asking_hook(authority: str) -> bytes:
    """A hook that sends such a request at `on-shell`, and answers with an error, `sent` or `denied`."""
    text = hook(
        {"on-shell": "(if (result i32) (i32.eq (call $send) (i32.const 204)) (then (call $sent)) (else (call $denied)))"}, before=_TOLD
    ).decode()
    text = text.replace(
        "(core module $m ", f'{_sender(authority, "http")} (core module $m (import "host" "send" (func $send (result i32))) ', 1
    )
    whole = '(core instance $i (instantiate $m (with "host" (instance (export "send" (func $sender "send"))))))'
    return text.replace("(core instance $i (instantiate $m))", whole, 1).encode()


def _told(name: str, at: int) -> str:
    """A function that leaves an error with the text `name`."""
    return f"""(data (i32.const {at}) "{name}") (func ${name} (result i32) (i32.store8 (i32.const 64) (i32.const 1))
      (i32.store (i32.const 68) (i32.const {at})) (i32.store (i32.const 72) (i32.const {len(name)})) (i32.const 64))"""


_TOLD = _told("sent", 96) + _told("denied", 128)


def _sender(authority: str | None, scheme: str | None) -> str:
    setters = "".join(
        f'(export "[method]outgoing-request.{name}" (func (param "self" (borrow $request)) (param "{param}" {type}) (result (result))))'
        for name, param, type in (
            ("set-scheme", "scheme", "(option $scheme)"),
            ("set-authority", "authority", "(option string)"),
            ("set-path-with-query", "path-with-query", "(option string)"),
        )
    )
    host = authority or ""
    there = f"(i32.const {int(authority is not None)})"
    named = f"(i32.const {int(scheme is not None)}) (i32.const {_SCHEMES[scheme]})"
    more = f"""(alias outer 1 $pollable (type $pollable*)) (export "pollable" (type $pollable (eq $pollable*)))
      (export "incoming-response" (type $incoming (sub resource)))
      (export "[method]incoming-response.status" (func (param "self" (borrow $incoming)) (result u16)))
      (export "[method]future-incoming-response.subscribe" (func (param "self" (borrow $response)) (result (own $pollable))))
      (export "[method]future-incoming-response.get" (func (param "self" (borrow $response))
        (result (option (result (result (own $incoming) (error $error)))))))
      (export "fields" (type $fields (sub resource)))
      (export "[constructor]fields" (func (result (own $fields))))
      (export "[constructor]outgoing-request" (func (param "headers" (own $fields)) (result (own $request)))) {setters}"""
    return f"""{_POLL} {IMPORTS.replace(_ONLY_READ, more + _ONLY_READ, 1)} {MEMORY}
(core func $subscribe (canon lower (func $types "[method]future-incoming-response.subscribe")))
(core func $block (canon lower (func $poll "[method]pollable.block")))
(core func $get (canon lower (func $types "[method]future-incoming-response.get") {OPTIONS}))
(core func $status (canon lower (func $types "[method]incoming-response.status")))
(core func $fields (canon lower (func $types "[constructor]fields")))
(core func $new (canon lower (func $types "[constructor]outgoing-request")))
(core func $set-scheme (canon lower (func $types "[method]outgoing-request.set-scheme") {OPTIONS}))
(core func $set-authority (canon lower (func $types "[method]outgoing-request.set-authority") {OPTIONS}))
(core func $set-path (canon lower (func $types "[method]outgoing-request.set-path-with-query") {OPTIONS}))
(core func $handle (canon lower (func $handler "handle") {OPTIONS}))
(core module $sender
  (import "host" "memory" (memory 1))
  (import "host" "fields" (func $fields (result i32)))
  (import "host" "new" (func $new (param i32) (result i32)))
  (import "host" "set-scheme" (func $set-scheme (param i32 i32 i32 i32 i32) (result i32)))
  (import "host" "set-authority" (func $set-authority (param i32 i32 i32 i32) (result i32)))
  (import "host" "set-path" (func $set-path (param i32 i32 i32 i32) (result i32)))
  (import "host" "handle" (func $handle (param i32 i32 i32 i32)))
  (import "host" "subscribe" (func $subscribe (param i32) (result i32)))
  (import "host" "block" (func $block (param i32)))
  (import "host" "get" (func $get (param i32 i32)))
  (import "host" "status" (func $status (param i32) (result i32)))
  (data (i32.const 8) "/xftp") (data (i32.const 16) "{host}")
  (func (export "send") (result i32) (local $request i32)
    (local.set $request (call $new (call $fields)))
    (drop (call $set-scheme (local.get $request) {named} (i32.const 10) (i32.const 3)))
    (drop (call $set-authority (local.get $request) {there} (i32.const 16) (i32.const {len(host)})))
    (drop (call $set-path (local.get $request) (i32.const 1) (i32.const 8) (i32.const 2)))
    (call $handle (local.get $request) (i32.const 0) (i32.const 0) (i32.const 1024))
    (if (i32.load8_u (i32.const 1024)) (then (return (i32.add (i32.const 1000) (i32.load8_u (i32.const 1032))))))
    (call $block (call $subscribe (i32.load (i32.const 1032))))
    (call $get (i32.load (i32.const 1032)) (i32.const 1200))
    (if (i32.load8_u (i32.const 1216)) (then (return (i32.add (i32.const 2000) (i32.load8_u (i32.const 1224))))))
    (call $status (i32.load (i32.const 1224)))))
(core instance $sender (instantiate $sender (with "host" (instance
  (export "memory" (memory $memory "memory")) (export "fields" (func $fields)) (export "new" (func $new))
  (export "set-scheme" (func $set-scheme)) (export "set-authority" (func $set-authority)) (export "set-path" (func $set-path))
  (export "handle" (func $handle)) (export "subscribe" (func $subscribe)) (export "block" (func $block)) (export "get" (func $get))
  (export "status" (func $status))))))"""
