"""The recipe that stands behind a rule line."""

from treblehook.shell.recipes.make_lines import Line, goes_on, is_rule, uncommented


def body_of(lines: list[Line], at: int) -> str | None:
    rule = lines[at]
    behind = uncommented(rule.text).partition(":")[2]
    if rule.depth or ";" in behind or "$" in behind:
        # What stands behind a semicolon is a line of the recipe, and a variable may hold one.
        return None
    body: list[str] = []
    for line in lines[at + 1 :]:
        if not line.text.startswith("\t"):
            break
        body.append(line.text[1:])
    if not body or goes_on(body[-1]):
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
