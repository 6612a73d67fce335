"""The functions of WASI 0.2 that lifecycle.h declares, as the types of instances: what a hook in C may import beside its own contract."""

from collections.abc import Mapping
from typing import Final

_ERRORS: Final = (
    "access would-block already bad-descriptor busy deadlock quota exist file-too-large illegal-byte-sequence in-progress interrupted "
    "invalid io is-directory loop too-many-links message-size name-too-long no-device no-entry no-lock insufficient-memory "
    "insufficient-space not-directory not-empty not-recoverable unsupported no-tty no-such-device overflow not-permitted pipe read-only "
    "invalid-seek text-file-busy cross-device"
)
_KINDS: Final = "unknown block-device character-device directory fifo symbolic-link regular-file socket"


def _words(words: str) -> str:
    return " ".join(f'"{word}"' for word in words.split())


FILES: Final = "wasi:filesystem/types@0.2.0"
CLOCK: Final = "wasi:clocks/wall-clock@0.2.0"
PREOPENS: Final = "wasi:filesystem/preopens@0.2.0"

_DATETIME: Final = '(record (field "seconds" u64) (field "nanoseconds" u32))'
_OUTER: Final = '(alias outer $root $descriptor (type $d0)) (export "descriptor" (type $d (eq $d0)))'

INSTANCES: Final[Mapping[str, str]] = {
    "wasi:cli/environment@0.2.0": '(export "get-environment" (func (result (list (tuple string string)))))',
    CLOCK: f'(type $t {_DATETIME}) (export "datetime" (type $dt (eq $t))) (export "now" (func (result $dt)))',
    "wasi:random/random@0.2.0": '(export "get-random-u64" (func (result u64)))',
    FILES: f"""
      (type $t {_DATETIME})
      (export "descriptor" (type $d (sub resource)))
      (type $e0 (enum {_words(_ERRORS)})) (export "error-code" (type $e (eq $e0)))
      (type $k0 (enum {_words(_KINDS)})) (export "descriptor-type" (type $k (eq $k0)))
      (type $p0 (flags "symlink-follow")) (export "path-flags" (type $p (eq $p0)))
      (type $o0 (flags "create" "directory" "exclusive" "truncate")) (export "open-flags" (type $o (eq $o0)))
      (type $f0 (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
      (export "descriptor-flags" (type $f (eq $f0)))
      (export "datetime" (type $dt (eq $t)))
      (type $s0 (record (field "type" $k) (field "link-count" u64) (field "size" u64) (field "data-access-timestamp" (option $dt))
        (field "data-modification-timestamp" (option $dt)) (field "status-change-timestamp" (option $dt))))
      (export "descriptor-stat" (type $s (eq $s0)))
      (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $p) (param "path" string)
        (param "open-flags" $o) (param "flags" $f) (result (result (own $d) (error $e)))))
      (export "[method]descriptor.write" (func (param "self" (borrow $d)) (param "buffer" (list u8)) (param "offset" u64)
        (result (result u64 (error $e)))))
      (export "[method]descriptor.stat" (func (param "self" (borrow $d)) (result (result $s (error $e)))))
      (export "[method]descriptor.create-directory-at" (func (param "self" (borrow $d)) (param "path" string)
        (result (result (error $e)))))""",
    PREOPENS: f'{_OUTER} (export "get-directories" (func (result (list (tuple (own $d) string)))))',
}
"""In the order in which they have to be imported: the folders are of the resource of the files."""
DROP: Final = "[resource-drop]descriptor"
