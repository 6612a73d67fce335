"""The recipe that stands behind a rule line."""

from treblehook.shell.recipes.make_lines import Line, is_rule


def body_of(lines: list[Line], at: int) -> str | None:
    rule = lines[at]
    if rule.depth or ";" in rule.text.partition(":")[2].partition("#")[0]:
        return None
    body: list[str] = []
    for line in lines[at + 1 :]:
        if not line.text.startswith("\t"):
            break
        body.append(line.text[1:])
    if not body or body[-1].endswith("\\"):
        return None
    return None if _goes_on(lines[at + 1 + len(body) :]) else "\n".join(body)


def _goes_on(lines: list[Line]) -> bool:
    """Whether the recipe has more lines behind a blank, a comment, a condition or an assignment: only another rule ends it."""
    for line in lines:
        if line.text.startswith("\t"):
            return True
        if is_rule(line.text):
            return False
    return False
