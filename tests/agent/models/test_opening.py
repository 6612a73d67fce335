"""From a SPEC to a model: what is allowed, what is missing, and what is not loaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_model import provider_environment
from tests.support.wire_streams import WORDS
from treblehook.agent.models import ModelSpecInvalid, open_model, warm

ALLOWED = "allowed: anthropic:NAME, google:NAME, openai:NAME, openai-responses:NAME, script:FILE"
HEAVY = ("pydantic", "pydantic_ai", "anthropic", "openai", "google.genai", "httpx2")


def problem(spec: str, environ: dict[str, str]) -> str:
    with pytest.raises(ModelSpecInvalid) as caught:
        open_model(spec, environ=environ)
    assert "\n" not in str(caught.value)
    assert caught.value.spec == spec
    return caught.value.problem


def loaded_after(statements: str) -> set[str]:
    """Which of the heavy modules a fresh interpreter has loaded."""
    code = f"import sys, threading\n{statements}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("word", WORDS)
def test_a_provider_and_a_name_make_a_model(word: str) -> None:
    model = open_model(f"{word}:some-name:tag", environ=provider_environment("http://127.0.0.1:9"))

    assert model.spec == f"{word}:some-name:tag"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("some-name", f"names no provider; {ALLOWED}"),
        ("", f"names no provider; {ALLOWED}"),
        ("antropic:some-name", f"no provider is called 'antropic', did you mean 'anthropic'?; {ALLOWED}"),
        ("openai-response:some-name", f"no provider is called 'openai-response', did you mean 'openai-responses'?; {ALLOWED}"),
        ("zzz:some-name", f"no provider is called 'zzz'; {ALLOWED}"),
        ("openai:", f"names no model; {ALLOWED}"),
        ("script:", f"names no file; {ALLOWED}"),
    ],
)
def test_a_bad_spec_says_what_is_allowed(spec: str, says: str) -> None:
    assert problem(spec, {}) == says


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("anthropic", "no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        ("google", "no key: set GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("openai", "no key: set OPENAI_API_KEY"),
        ("openai-responses", "no key: set OPENAI_API_KEY"),
    ],
)
def test_a_missing_key_is_told_with_its_variable(word: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in provider_environment("http://127.0.0.1:9").items():
        monkeypatch.setenv(name, value)

    assert problem(f"{word}:m", {}) == says


def test_an_openai_server_of_ones_own_needs_no_key() -> None:
    assert open_model("openai:m", environ={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).spec == "openai:m"


def test_an_address_that_is_no_url_is_told_with_its_variable() -> None:
    says = problem("openai:m", {"OPENAI_BASE_URL": "localhost:8080", "OPENAI_API_KEY": "k"})

    assert says == "OPENAI_BASE_URL is 'localhost:8080'; it must be a URL such as https://api.openai.com/v1"


@pytest.mark.parametrize("module", ["pydantic_ai", "google", "google.genai"])
def test_a_missing_extra_says_how_to_install_it(module: str) -> None:
    # An entry that is None is what the import system itself takes for "there is no such module".
    code = f"""
import sys
from treblehook.agent.models import ModelSpecInvalid, open_model
sys.modules[{module!r}] = None
try:
    open_model("google:m", environ={{"GOOGLE_API_KEY": "k"}})
except ModelSpecInvalid as error:
    print(error.problem)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "the libraries for providers are not installed: pip install 'treblehook[models]'\n"


def test_a_script_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    (tmp_path / "s.json").write_text("[]")

    assert open_model(f"script:{tmp_path}/s.json", environ={}).window is None


@pytest.mark.parametrize(
    ("spec", "window"),
    [
        ("anthropic:anything", 200_000),
        ("openai:gpt-4o-mini", 128_000),
        ("openai-responses:gpt-5-mini", 400_000),
        ("google:gemini-3.5-flash", 1_000_000),
        ("openai:qwen3", None),
    ],
)
def test_the_window_of_a_known_family_is_known(spec: str, window: int | None) -> None:
    assert open_model(spec, environ=provider_environment("http://127.0.0.1:9")).window == window


def test_a_given_window_counts_more_than_a_known_one() -> None:
    assert open_model("anthropic:m", environ=provider_environment("http://127.0.0.1:9"), window=5).window == 5


def test_opening_a_model_loads_no_library() -> None:
    environ = json.dumps(provider_environment("http://127.0.0.1:9"))

    opening = f"from treblehook.agent.models import open_model\nfor word in {WORDS}: open_model(f'{{word}}:m', environ={environ})"

    assert loaded_after(opening) == set()


def test_warming_loads_the_library_of_that_provider_in_the_background() -> None:
    warming = """
from treblehook.agent.models import warm
warm("openai:m")
[thread.join() for thread in threading.enumerate() if thread.name == "treblehook-warm"]
"""

    assert loaded_after(warming) == {"pydantic", "pydantic_ai", "openai", "httpx2"}


def test_warming_a_script_loads_nothing() -> None:
    assert loaded_after("from treblehook.agent.models import warm\nwarm('script:nothing.json')") == set()


def test_warming_a_bad_spec_is_refused() -> None:
    with pytest.raises(ModelSpecInvalid):
        warm("nobody:m")
