"""The three signature schemes (crucible.md 8.5)."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.deliveries import SECRET, crucible, github, stripe
from treblehook.daemon.http.callers import joined
from treblehook.daemon.webhooks.signatures import Claim, read_claim, verified

BODY = b'{"a":1}'
NOW = 1_700_000_000
TIMESTAMPED = "fa345d5b654e6667128855e14a4938c54b5b813699e6b72c5c4f501aa493ba92"
BODY_ONLY = "82d8fbc14179b3a6195dbb654369004c798faa3831fa7ff308b1e2c8aa9498db"
ONE_SPACE_MORE = "e6ddd8da7ac9c354c3a78ff1c089b6a8ca9ca346094132f567b53896c829ca1e"

CRUCIBLE, STRIPE, GITHUB = "x-crucible-signature", "stripe-signature", "x-hub-signature-256"


def holds(body: bytes = BODY, *headers: tuple[str, str], now: float = NOW, secret: str | None = SECRET) -> bool:
    claim = read_claim(joined((name.encode(), value.encode("latin-1")) for name, value in headers))
    return verified(None if secret is None else secret.encode(), claim, body, now)


@pytest.mark.parametrize("header", [CRUCIBLE, STRIPE])
def test_the_vectors_of_the_timestamped_scheme(header: str) -> None:
    assert holds(BODY, (header, f"t={NOW},v1={TIMESTAMPED}"))
    assert holds(b'{"a": 1}', (header, f"t={NOW},v1={ONE_SPACE_MORE}"))
    assert not holds(BODY, (header, f"t={NOW},v1={ONE_SPACE_MORE}"))
    assert not holds(b'{"a": 1}', (header, f"t={NOW},v1={TIMESTAMPED}"))


def test_the_vector_of_the_body_only_scheme() -> None:
    assert holds(BODY, (GITHUB, f"sha256={BODY_ONLY}"))
    assert not holds(b'{"a": 1}', (GITHUB, f"sha256={BODY_ONLY}"))


def test_the_recipes_of_the_senders_give_the_vectors() -> None:
    assert stripe(SECRET, BODY, NOW).startswith(f"t={NOW},v1={TIMESTAMPED},v0=")
    assert github(SECRET, BODY) == f"sha256={BODY_ONLY}"
    assert holds(BODY, (STRIPE, stripe(SECRET, BODY, NOW)))


@pytest.mark.parametrize(("away", "fresh"), [(-301, False), (-300, True), (300, True), (301, False)])
def test_case_136_freshness_is_inclusive_both_ways(away: int, fresh: bool) -> None:
    signature = crucible(SECRET, BODY, NOW + away)
    assert holds(BODY, (CRUCIBLE, signature), now=NOW + 0.9) is fresh


def test_case_140_upper_case_hex_is_accepted() -> None:
    assert holds(BODY, (CRUCIBLE, f"t={NOW},v1={TIMESTAMPED.upper()}"))
    assert holds(BODY, (GITHUB, f"sha256={BODY_ONLY.upper()}"))


def test_a_time_counts_as_the_text_that_was_signed() -> None:
    tag = hmac.digest(SECRET.encode(), b"01700000000." + BODY, "sha256").hex()
    assert holds(BODY, (CRUCIBLE, f"t=01700000000,v1={tag}"))
    assert not holds(BODY, (CRUCIBLE, f"t=1700000000,v1={tag}"))


@pytest.mark.parametrize(
    "value",
    [
        "",
        TIMESTAMPED,
        f"t={NOW}",
        f"v1={TIMESTAMPED}",
        f"t={NOW},t={NOW},v1={TIMESTAMPED}",
        f"t={NOW},v1={TIMESTAMPED},v1={TIMESTAMPED}",
        f"t={NOW},v1={TIMESTAMPED},v1=",
        f"t={NOW},v1={TIMESTAMPED[:-1]}",
        f"t={NOW},v1={TIMESTAMPED}0",
        f"t={NOW},v1={TIMESTAMPED[:-1]}g",
        f"t=-{NOW},v1={TIMESTAMPED}",
        f"t=+{NOW},v1={TIMESTAMPED}",
        f"t={NOW}.0,v1={TIMESTAMPED}",
        f"t=,v1={TIMESTAMPED}",
        f"t={'9' * 5000},v1={TIMESTAMPED}",
        f"T={NOW},V1={TIMESTAMPED}",
        f"t={NOW};v1={TIMESTAMPED}",
        f"t=\xb2,v1={TIMESTAMPED}",
        f"sha256={BODY_ONLY}",
    ],
)
def test_a_malformed_timestamped_header_is_refused(value: str) -> None:
    assert not holds(BODY, (CRUCIBLE, value))
    assert not holds(BODY, (CRUCIBLE, value), (GITHUB, f"sha256={BODY_ONLY}"))


@pytest.mark.parametrize(
    "value", ["", BODY_ONLY, f"sha1={BODY_ONLY}", f"SHA256={BODY_ONLY}", f"sha256={BODY_ONLY[:-1]}", f"sha256={BODY_ONLY}0"]
)
def test_a_malformed_body_only_header_is_refused(value: str) -> None:
    assert not holds(BODY, (GITHUB, value))


def test_unknown_fields_and_spaces_do_no_harm() -> None:
    assert holds(BODY, (CRUCIBLE, f"v2=beef, t={NOW} , v1={TIMESTAMPED},,x"))


def test_case_138_a_failing_stronger_header_is_never_downgraded() -> None:
    good = {CRUCIBLE: crucible(SECRET, BODY, NOW), STRIPE: stripe(SECRET, BODY, NOW), GITHUB: github(SECRET, BODY)}
    bad = {CRUCIBLE: crucible("another-secret!!", BODY, NOW), STRIPE: stripe("another-secret!!", BODY, NOW)}
    assert not holds(BODY, (GITHUB, good[GITHUB]), (CRUCIBLE, bad[CRUCIBLE]))
    assert not holds(BODY, (GITHUB, good[GITHUB]), (STRIPE, bad[STRIPE]))
    assert not holds(BODY, (STRIPE, good[STRIPE]), (CRUCIBLE, bad[CRUCIBLE]))
    assert holds(BODY, (GITHUB, "sha256=nonsense"), (STRIPE, bad[STRIPE]), (CRUCIBLE, good[CRUCIBLE]))


def test_a_header_that_comes_twice_is_refused() -> None:
    signature = crucible(SECRET, BODY, NOW)
    assert not holds(BODY, (CRUCIBLE, signature), (CRUCIBLE, signature))
    assert not holds(BODY, (GITHUB, github(SECRET, BODY)), (GITHUB, github(SECRET, BODY)))


def test_without_a_secret_nothing_verifies() -> None:
    nobody = b"no webhook of this name has a secret"
    assert not holds(BODY, (GITHUB, github(nobody.decode(), BODY)), secret=None)
    assert not holds(BODY)
    assert not holds(BODY, secret=None)


@pytest.mark.parametrize("claim", [None, Claim(bytes(32)), Claim(bytes(32), b"1.", 1)])
@pytest.mark.parametrize("secret", [None, SECRET.encode()])
def test_the_hmac_is_made_whatever_is_wrong(claim: Claim | None, secret: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = hmac.digest
    monkeypatch.setattr(hmac, "digest", lambda key, message, kind: made.append(len(message)) or real(key, message, kind))
    assert not verified(secret, claim, BODY, NOW)
    assert len(made) == 1
    assert made[0] >= len(BODY)


@given(st.binary(max_size=200), st.text(min_size=1), st.integers(min_value=0, max_value=2_000_000_000))
def test_what_was_signed_verifies_and_nothing_else(body: bytes, secret: str, time: int) -> None:
    key = secret.encode("utf-8", "replace").decode()
    for header, signature in ((CRUCIBLE, crucible(key, body, time)), (STRIPE, stripe(key, body, time)), (GITHUB, github(key, body))):
        assert holds(body, (header, signature), secret=key, now=time)
        assert not holds(body + b"\n", (header, signature), secret=key, now=time)
        assert not holds(body, (header, signature), secret=key + "x", now=time)


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=100))
def test_any_header_value_is_read_without_an_error(value: str) -> None:
    for header in (CRUCIBLE, STRIPE, GITHUB):
        assert not holds(BODY, (header, value))
