"""What a SPEC may be: `provider:name`, the providers there are, and the variables that each reads."""

from difflib import get_close_matches

from msgspec import Struct

from treblehook.agent.models.model import ModelSpecInvalid

SCRIPT = "script"


class Provider(Struct, frozen=True):
    """A provider of models, known by its `word` in a SPEC.

    `keys` are the environment variables that may hold its key, in the order in which they count; `url_variable` may name
    another address than `url`. `library` is the module that the provider's requests need.
    """

    word: str
    keys: tuple[str, ...]
    url_variable: str
    url: str
    library: str


_OPENAI = ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "https://api.openai.com/v1", "openai"

# The variables are those that the providers' own libraries read.
PROVIDERS = {
    provider.word: provider
    for provider in (
        Provider(
            "anthropic", ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "anthropic"
        ),
        Provider(
            "google",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            "GOOGLE_GEMINI_BASE_URL",
            "https://generativelanguage.googleapis.com",
            "google.genai",
        ),
        Provider("openai", *_OPENAI),
        Provider("openai-responses", *_OPENAI),
    )
}


def parse_spec(spec: str) -> tuple[str, str]:
    """The provider's word (or `script`) and the model's name (or the file). Raises `ModelSpecInvalid`."""
    word, colon, name = spec.partition(":")
    if word not in PROVIDERS and word != SCRIPT:
        raise ModelSpecInvalid(spec, f"{_unknown(word) if colon else 'names no provider'}; {_allowed()}")
    if not name.strip():
        raise ModelSpecInvalid(spec, f"{'names no file' if word == SCRIPT else 'names no model'}; {_allowed()}")
    return word, name


def _unknown(word: str) -> str:
    near = get_close_matches(word, [*PROVIDERS, SCRIPT], n=1, cutoff=0.5)
    return f"no provider is called {word!r}" + (f", did you mean {near[0]!r}?" if near else "")


def _allowed() -> str:
    return f"allowed: {', '.join(f'{word}:NAME' for word in PROVIDERS)}, {SCRIPT}:FILE"
