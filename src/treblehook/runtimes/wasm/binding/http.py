"""Requests by HTTP that a guest makes: each is asked about before it is sent. The library itself would send whatever it is given.

The library's `handle` is replaced by ours. What a request is about only a component can ask, and only a component can hand it on: so a
small one, `_GATE`, stands between, in the guest's own store.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker, Variant

from treblehook.runtimes.wasm.grants import Requests

HANDLER: Final = "wasi:http/outgoing-handler"
_DENIED: Final = "HTTP-request-denied"
_PORTS: Final = {"HTTP": 80, "HTTPS": 443}
_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")

Handle = Callable[..., Any]


def handling(engine: Engine, store: Store, requests: Requests | None) -> Handle:
    """The `handle` for the guest of `store`, which has WASI and HTTP; without `requests` all are denied. It never raises."""
    send = _refuse if requests is None else _asking(engine, store, requests)

    def handle(context: Any, request: Any, options: Any) -> Any:
        try:
            return send(context, request, options)
        except Exception:
            # The guest was interrupted, or nobody could say whether it may: what is not allowed is not sent.
            return Variant(_DENIED)

    return handle


def _refuse(context: Any, request: Any, options: Any) -> Any:
    request.drop(context)
    if options is not None:
        options.drop(context)
    return Variant(_DENIED)


def _asking(engine: Engine, store: Store, requests: Requests) -> Handle:
    linker = Linker(engine)
    linker.add_wasip2()
    linker.add_wasi_http()
    gate = linker.instantiate(store, Component(engine, _GATE))
    scheme, authority, send = (gate.get_func(store, name) for name in ("scheme", "authority", "send"))
    assert scheme is not None, "the gate has these functions"
    assert authority is not None, "the gate has these functions"
    assert send is not None, "the gate has these functions"

    def handle(context: Any, request: Any, options: Any) -> Any:
        origin = _origin(scheme(context, request), authority(context, request))
        if origin is None or not requests(*origin):
            return _refuse(context, request, options)
        return send(context, request, options)

    return handle


def _origin(scheme: Any, authority: str | None) -> tuple[str, str, int] | None:
    """Scheme, host and port to which the library would send it; None where that is not certain."""
    # The library takes a request without a scheme for one by HTTPS.
    name = "HTTPS" if scheme is None else scheme.tag
    match = _AUTHORITY.fullmatch(authority or "")
    if name not in _PORTS or match is None:
        return None
    return name.lower(), match[1] or match[2], int(match[3] or _PORTS[name])


_ERRORS: Final = """
DNS-timeout, DNS-error $dns, destination-not-found, destination-unavailable, destination-IP-prohibited, destination-IP-unroutable,
connection-refused, connection-terminated, connection-timeout, connection-read-timeout, connection-write-timeout,
connection-limit-reached, TLS-protocol-error, TLS-certificate-error, TLS-alert-received $tls, HTTP-request-denied,
HTTP-request-length-required, HTTP-request-body-size (option u64), HTTP-request-method-invalid, HTTP-request-URI-invalid,
HTTP-request-URI-too-long, HTTP-request-header-section-size (option u32), HTTP-request-header-size (option $size),
HTTP-request-trailer-section-size (option u32), HTTP-request-trailer-size $size, HTTP-response-incomplete,
HTTP-response-header-section-size (option u32), HTTP-response-header-size $size, HTTP-response-body-size (option u64),
HTTP-response-trailer-section-size (option u32), HTTP-response-trailer-size $size, HTTP-response-transfer-coding (option string),
HTTP-response-content-coding (option string), HTTP-response-timeout, HTTP-upgrade-failed, HTTP-protocol-error, loop-detected,
configuration-error, internal-error (option string)
"""


def _cases(listed: str) -> str:
    cases = (case.strip().partition(" ") for case in listed.split(","))
    return " ".join(f'(case "{name}" {type})' for name, _, type in cases)


IMPORTS: Final = f"""
(import "wasi:http/types@0.2.0" (instance $types
  (export "outgoing-request" (type $request (sub resource)))
  (export "request-options" (type $options (sub resource)))
  (export "future-incoming-response" (type $response (sub resource)))
  (type $dns* (record (field "rcode" (option string)) (field "info-code" (option u16))))
  (export "DNS-error-payload" (type $dns (eq $dns*)))
  (type $tls* (record (field "alert-id" (option u8)) (field "alert-message" (option string))))
  (export "TLS-alert-received-payload" (type $tls (eq $tls*)))
  (type $size* (record (field "field-name" (option string)) (field "field-size" (option u32))))
  (export "field-size-payload" (type $size (eq $size*)))
  (type $error* (variant {_cases(_ERRORS)}))
  (export "error-code" (type $error (eq $error*)))
  (type $scheme* (variant (case "HTTP") (case "HTTPS") (case "other" string)))
  (export "scheme" (type $scheme (eq $scheme*)))
  (export "[method]outgoing-request.scheme" (func (param "self" (borrow $request)) (result (option $scheme))))
  (export "[method]outgoing-request.authority" (func (param "self" (borrow $request)) (result (option string))))))
(alias export $types "outgoing-request" (type $request))
(alias export $types "request-options" (type $options))
(alias export $types "future-incoming-response" (type $response))
(alias export $types "error-code" (type $error))
(alias export $types "scheme" (type $scheme))
(import "wasi:http/outgoing-handler@0.2.0" (instance $handler
  (alias outer 1 $request (type $request*)) (export "outgoing-request" (type $request (eq $request*)))
  (alias outer 1 $options (type $options*)) (export "request-options" (type $options (eq $options*)))
  (alias outer 1 $response (type $response*)) (export "future-incoming-response" (type $response (eq $response*)))
  (alias outer 1 $error (type $error*)) (export "error-code" (type $error (eq $error*)))
  (export "handle" (func (param "request" (own $request)) (param "options" (option (own $options)))
    (result (result (own $response) (error $error)))))))
"""
"""What of `wasi:http` a component needs that asks about requests and sends them."""

MEMORY: Final = """
(core module $memory
  (memory (export "memory") 2)
  (global $next (mut i32) (i32.const 65536))
  (func (export "reset") (param i32) (global.set $next (i32.const 65536)))
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at)))
(core instance $memory (instantiate $memory))
"""
OPTIONS: Final = '(memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))'
_LIFTED: Final = f'{OPTIONS} (post-return (core func $memory "reset"))'

_GATE: Final = f"""(component {IMPORTS} {MEMORY}
(core func $scheme (canon lower (func $types "[method]outgoing-request.scheme") {OPTIONS}))
(core func $authority (canon lower (func $types "[method]outgoing-request.authority") {OPTIONS}))
(core func $send (canon lower (func $handler "handle") {OPTIONS}))
(core func $drop (canon resource.drop $request))
(core module $gate
  (import "host" "scheme" (func $scheme (param i32 i32)))
  (import "host" "authority" (func $authority (param i32 i32)))
  (import "host" "send" (func $send (param i32 i32 i32 i32)))
  (import "host" "drop" (func $drop (param i32)))
  (func (export "scheme") (param i32) (result i32)
    (call $scheme (local.get 0) (i32.const 1024)) (call $drop (local.get 0)) (i32.const 1024))
  (func (export "authority") (param i32) (result i32)
    (call $authority (local.get 0) (i32.const 1024)) (call $drop (local.get 0)) (i32.const 1024))
  (func (export "send") (param i32 i32 i32) (result i32)
    (call $send (local.get 0) (local.get 1) (local.get 2) (i32.const 1024)) (i32.const 1024)))
(core instance $gate (instantiate $gate (with "host" (instance
  (export "scheme" (func $scheme)) (export "authority" (func $authority)) (export "send" (func $send)) (export "drop" (func $drop))))))
(func $scheme (param "self" (borrow $request)) (result (option $scheme)) (canon lift (core func $gate "scheme") {_LIFTED}))
(func $authority (param "self" (borrow $request)) (result (option string)) (canon lift (core func $gate "authority") {_LIFTED}))
(func $send (param "request" (own $request)) (param "options" (option (own $options))) (result (result (own $response) (error $error)))
  (canon lift (core func $gate "send") {_LIFTED}))
(export "scheme" (func $scheme))
(export "authority" (func $authority))
(export "send" (func $send)))"""
