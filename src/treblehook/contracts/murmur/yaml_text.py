"""Reading YAML safely, with the place of what is wrong."""

from typing import Any


class YamlInvalid(Exception):
    """The text is no YAML; the message has line and column where they are known."""


def parse_yaml(text: str | bytes) -> Any:
    """What `text` holds; None for an empty one. Raises `YamlInvalid`."""
    # Only a manifest needs a YAML reader.
    import yaml

    try:
        return yaml.load(text, Loader=_no_aliases(yaml))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        what = " ".join(filter(None, (getattr(error, "context", None), getattr(error, "problem", None)))) or str(error)
        raise YamlInvalid(f"{place}{what}") from error
    except RecursionError as error:
        raise YamlInvalid("nested too deeply") from error
    except ValueError as error:
        # A date such as 2026-13-45, a byte that is no UTF-8.
        raise YamlInvalid(str(error)) from error


def _no_aliases(yaml: Any) -> Any:
    """A safe loader that refuses `*alias`, by which a page of text becomes gigabytes, and keys that stand twice."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # the base comes from a module that is loaded late
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                mark = self.peek_event().start_mark
                raise yaml.MarkedYAMLError(None, None, "aliases (*name) are not allowed", mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                name = (key.tag, key.value) if isinstance(key.value, str) else None
                if name in seen:
                    raise yaml.MarkedYAMLError(None, None, f"the key {key.value!r} stands twice", key.start_mark)
                if name is not None:
                    seen.add(name)
            return super().construct_mapping(node, deep=deep)

    return Loader
