"""From a SPEC to a model.

`anthropic:NAME`, `google:NAME`, `openai:NAME` (chat completions) and `openai-responses:NAME` reach a provider. Their address and
key come from its usual environment variables (`spec.py`), so any server that speaks OpenAI's protocol is `openai:NAME` with
`OPENAI_BASE_URL`, and needs no key if it asks for none. `script:FILE` plays a file (`script/`).
"""

import contextlib
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from treblehook.agent.models.access import find_access
from treblehook.agent.models.model import Model, ModelSpecInvalid
from treblehook.agent.models.provider import ProviderModel, load_wire
from treblehook.agent.models.script.player import ScriptedModel
from treblehook.agent.models.spec import PROVIDERS, SCRIPT, parse_spec
from treblehook.agent.models.windows import known_window


def open_model(spec: str, *, environ: Mapping[str, str], window: int | None = None) -> Model:
    """The model behind a SPEC; nothing is sent yet, and no model library is loaded.

    `environ` holds addresses, keys and proxies; `window` (tokens) stands in for what is known of the model. Raises
    `ModelSpecInvalid` for a SPEC that names no model, a missing key, a missing extra, or a script that cannot be played.
    """
    word, name = parse_spec(spec)
    if word == SCRIPT:
        return ScriptedModel(spec, _script(spec, name), window)
    provider = PROVIDERS[word]
    if not (_installed("pydantic_ai") and _installed(provider.library)):
        raise ModelSpecInvalid(spec, "the libraries for providers are not installed: pip install 'treblehook[models]'")
    access = find_access(spec, provider, environ)
    return ProviderModel(spec, word, name, access, known_window(word, name) if window is None else window)


def warm(spec: str) -> None:
    """Load in the background what the first request to `spec` needs; that takes one to three seconds.

    Raises `ModelSpecInvalid` for a SPEC that names no model.
    """
    word, _ = parse_spec(spec)
    if word != SCRIPT:
        threading.Thread(target=_load, args=(word,), name="treblehook-warm", daemon=True).start()


def _script(spec: str, name: str) -> Path:
    try:
        return Path(name).expanduser().absolute()
    except FileNotFoundError as error:
        raise ModelSpecInvalid(spec, "it is a relative path, and the current folder does not exist any more") from error


def _load(word: str) -> None:
    # The first request loads the same modules and tells of what is missing.
    with contextlib.suppress(ImportError):
        load_wire(word)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # The package around it is missing.
        return False
