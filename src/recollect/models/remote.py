"""An embedder behind an OpenAI-compatible address. What comes back is checked before anything relies on it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import cast

import httpx2
import numpy

from recollect.domain.embedding import Profile
from recollect.domain.text import MAX_NAME
from recollect.errors import Invalid, ModelFailed

LARGEST_ANSWER = 32_000_000
LONGEST_WAIT = 20.0
_BLANK = "(blank)"  # some services refuse a text without words, and the caller still gets a vector per text
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True, slots=True)
class _Again:
    """A failure that may pass: why, and how long the service asked to be left alone."""

    why: str
    wait: float | None = None


class RemoteEmbedder:
    """Vectors from `base_url`/embeddings. May be called from any thread.

    One attempt takes `timeout` seconds at most, however slowly the answer trickles; what may pass is tried again,
    `tries` times in all. The key goes into one header of requests to this address and nowhere else: redirects are not
    followed, and no error repeats what the service said.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str = "",
        profile: Profile | None = None,
        timeout: float = 30.0,
        tries: int = 3,
        batch: int = 64,
        longest: int = 8_000,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self.name = f"remote:{model}"
        self.profile = profile or Profile()
        self._check(base_url, model, key)
        if timeout <= 0 or tries < 1 or batch < 1 or longest < 1:
            raise Invalid("timeout, tries, batch and longest of a remote embedder are above zero")
        self._model, self._timeout, self._tries, self._batch, self._longest = model, timeout, tries, batch, longest
        self._wait = wait
        self._url = base_url.rstrip("/") + "/embeddings"
        self._dimension: int | None = None
        self._client = httpx2.Client(
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx2.Timeout(timeout),
            follow_redirects=False,
            trust_env=False,  # settings alone read the environment
        )

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        vectors: list[bytes] = []
        for start in range(0, len(texts), self._batch):
            asked = [_readable(text, self._longest) for text in texts[start : start + self._batch]]
            vectors += self._vectors(self._ask(asked), len(asked))
        return vectors

    def close(self) -> None:
        self._client.close()

    # -- asking -------------------------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str]) -> bytes:
        why = ""
        for attempt in range(self._tries):
            answer = self._attempt(texts)
            if isinstance(answer, bytes):
                return answer
            why = answer.why
            if attempt + 1 < self._tries:
                self._wait(min(LONGEST_WAIT, answer.wait if answer.wait is not None else 0.5 * 2**attempt))
        raise ModelFailed(f"{self.name} {why}, {self._tries} times in a row", "See whether the service is well.")

    def _attempt(self, texts: Sequence[str]) -> bytes | _Again:
        until = monotonic() + self._timeout
        asked = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            with self._client.stream("POST", self._url, json=asked) as response:
                if response.status_code in _PASSING:
                    return _Again(f"answered {response.status_code}", _seconds(response.headers))
                if response.status_code != 200:
                    raise ModelFailed(
                        f"{self.name} answered {response.status_code}", "Check its address, model name and key."
                    )
                return self._body(response, until)
        except httpx2.TimeoutException:
            return self._late()
        except httpx2.HTTPError as error:  # its text may hold an address, never a header
            return _Again(f"could not be reached ({type(error).__name__})")

    def _body(self, response: httpx2.Response, until: float) -> bytes | _Again:
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > LARGEST_ANSWER:
                raise ModelFailed(f"{self.name} answered with more than {LARGEST_ANSWER:,} bytes")
            if monotonic() > until:
                return self._late()
        return bytes(body)

    def _late(self) -> _Again:
        return _Again(f"did not answer within {self._timeout:g} seconds")

    # -- checking -----------------------------------------------------------------------------------------

    def _vectors(self, body: bytes, count: int) -> list[bytes]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self._garbled("no JSON") from None
        rows = cast(Mapping[str, object], answer).get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(cast(list[object], rows)) != count:
            raise self._garbled(f"no list of {count} vectors")
        placed: dict[int, bytes] = {}
        for number, row in enumerate(cast(list[object], rows)):
            if not isinstance(row, dict):
                raise self._garbled("a vector without numbers")
            fields = cast(Mapping[str, object], row)
            place = fields.get("index", number)
            if type(place) is not int or not 0 <= place < count or place in placed:
                raise self._garbled("vectors out of order")
            placed[place] = self._vector(fields.get("embedding"))
        return [placed[number] for number in range(count)]

    def _vector(self, numbers: object) -> bytes:
        if not isinstance(numbers, list) or not numbers:
            raise self._garbled("a vector without numbers")
        values = cast(list[object], numbers)
        if not all(type(value) is float or type(value) is int for value in values):
            raise self._garbled("a vector of something else than numbers")
        if self._dimension is None:
            self._dimension = len(values)
        if len(values) != self._dimension:
            raise self._garbled(f"a vector of {len(values)} numbers after one of {self._dimension}")
        try:
            vector = numpy.array(values, dtype=numpy.float64)
        except OverflowError:
            raise self._garbled("a number that is too large") from None
        length = float(numpy.linalg.norm(vector))
        if not numpy.isfinite(length) or length == 0:
            raise self._garbled("a vector without a direction")
        return (vector / length).astype("<f4").tobytes()

    def _garbled(self, what: str) -> ModelFailed:
        return ModelFailed(f"{self.name} answered with {what}", "Check that it is an OpenAI-compatible embeddings API.")

    @staticmethod
    def _check(base_url: str, model: str, key: str) -> None:
        try:
            url = httpx2.URL(base_url)
        except (httpx2.InvalidURL, ValueError):
            url = httpx2.URL()
        surplus = url.userinfo or url.query or url.fragment or not base_url.isprintable() or " " in base_url
        if url.scheme not in ("http", "https") or not url.host or surplus:
            raise Invalid(
                "the address of the remote embedder cannot be used",
                "Give one like https://host/v1, with the key as a setting of its own.",
            )
        if not model.strip() or len(model) > MAX_NAME - len("remote:") or not model.isprintable():
            raise Invalid("the remote embedder has no usable model name", "Name the model as the service spells it.")
        if key and not (key.isascii() and key.isprintable() and key == key.strip()):
            raise Invalid("the key of the remote embedder holds characters that no key has", "Copy it again.")


def _readable(text: str, longest: int) -> str:
    readable = text[:longest].encode(errors="replace").decode()
    return readable if readable.strip() else _BLANK


def _seconds(headers: Mapping[str, str]) -> float | None:
    """What Retry-After asks for, where it is a number of seconds."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
