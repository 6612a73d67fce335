"""Components that cannot be staged, and modes that a policy cannot have."""

from msgspec import Struct

from treblehook.engine import Mode
from treblehook.home.components.staged import HomeComponents
from treblehook.home.settings import Settings
from treblehook.host.problems import ConfigInvalid, Problem


class CheckedComponents(Struct, frozen=True):
    """What was found, how many components there are, and the names by which `[hooks."NAME"]` knows them."""

    problems: tuple[Problem, ...] = ()
    hooks: int = 0
    names: tuple[str, ...] = ()


async def check_components(settings: Settings) -> CheckedComponents:
    """Find, check and compile the `[[artifacts]]` of a home. Nothing of them runs; compiled code is kept in the home's cache."""
    problems: list[Problem] = []
    components = HomeComponents(settings.file.parent, settings.file, settings.artifacts, problems.append)
    try:
        staged = await components.staged()
    except ConfigInvalid as invalid:
        return CheckedComponents((*problems, *invalid.problems))
    finally:
        await components.close()
    if staged is None:
        return CheckedComponents()
    for hook in staged.hooks:
        mode = settings.modes.get(hook.manifest.name, Mode.ON)
        if hook.manifest.is_policy and mode is not Mode.ON:
            what = f"{hook.manifest.name} is a policy, and a gate is always on"
            problems.append(Problem(str(settings.file), f'hooks."{hook.manifest.name}".mode', what, "take the entry out"))
    return CheckedComponents(tuple(problems), len(staged.hooks), tuple(hook.manifest.name for hook in staged.hooks))
