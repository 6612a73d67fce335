"""A default model with which no session could start."""

from collections.abc import Iterator, Mapping

from treblehook.agent.models import ModelSpecInvalid, open_model
from treblehook.home.settings import Settings
from treblehook.host.problems import Problem


def unopened_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Problem]:
    """An error where `[model] default` does not open; nothing is sent anywhere."""
    if settings.model.default is None:
        return
    try:
        open_model(settings.model.default, environ=environ, window=settings.model.context_window)
    except ModelSpecInvalid as invalid:
        yield Problem(str(settings.file), "model.default", str(invalid))
