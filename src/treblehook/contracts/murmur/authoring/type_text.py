"""The types of functions as component text."""

from collections.abc import Iterable, Mapping

from treblehook.runtimes.wasm.types import (
    Case,
    EnumType,
    Field,
    FunctionType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    TupleType,
    Type,
    VariantType,
)


class TypeText:
    """Collects the definitions of types that must have a name, under `names` where those know one. `prefix` keeps the identifiers of
    several collections in one text apart."""

    def __init__(self, names: Mapping[str, Type], prefix: str) -> None:
        self._names = {type: name for name, type in names.items()}
        self._prefix = prefix
        self._bodies: list[tuple[str, str]] = []
        self._known: dict[Type, str] = {}

    def exported(self) -> list[str]:
        """The definitions in a component that exports them."""
        prefix = self._prefix
        return [
            f'(type ${prefix}d{at} {body}) (export ${prefix}t{at} "{name}" (type ${prefix}d{at}))'
            for at, (name, body) in enumerate(self._bodies)
        ]

    def imported(self) -> list[str]:
        """The definitions within the type of an imported instance."""
        prefix = self._prefix
        return [
            f'(type ${prefix}d{at} {body}) (export "{name}" (type ${prefix}t{at} (eq ${prefix}d{at})))'
            for at, (name, body) in enumerate(self._bodies)
        ]

    def function(self, type: FunctionType) -> str:
        """Parameters and result of a function."""
        params = "".join(f'(param "{param.name}" {self._text(param.type)})' for param in type.params)
        return params if type.result is None else f"{params}(result {self._text(type.result)})"

    def _text(self, type: Type) -> str:
        match type:
            case Primitive(name):
                return name
            case ListType(element):
                return f"(list {self._text(element)})"
            case OptionType(payload):
                return f"(option {self._text(payload)})"
            case ResultType(ok, err):
                inner = ("" if ok is None else f" {self._text(ok)}") + ("" if err is None else f" (error {self._text(err)})")
                return f"(result{inner})"
            case TupleType(elements):
                return f"(tuple {' '.join(map(self._text, elements))})"
            case _:
                return self._named(type)

    def _named(self, type: Type) -> str:
        if type not in self._known:
            body = self._body(type)
            at = len(self._bodies)
            self._known[type] = f"${self._prefix}t{at}"
            self._bodies.append((self._names.get(type, f"t{at}"), body))
        return self._known[type]

    def _body(self, type: Type) -> str:
        match type:
            case RecordType(fields):
                return f"(record {' '.join(self._member('field', field) for field in fields)})"
            case VariantType(cases):
                return f"(variant {' '.join(self._member('case', case) for case in cases)})"
            case EnumType(names):
                return f"(enum {_quoted(names)})"
            case _:
                raise TypeError(f"no text for {type!r}")

    def _member(self, kind: str, member: Field | Case) -> str:
        if member.type is None:
            return f'({kind} "{member.name}")'
        return f'({kind} "{member.name}" {self._text(member.type)})'


def _quoted(names: Iterable[str]) -> str:
    return " ".join(f'"{name}"' for name in names)
