"""Any language model behind the Writer port: an answer in the form that was asked for, or ModelFailed, soon enough."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from recollect.domain.ids import TenantId
from recollect.domain.prompt import Prompt
from recollect.domain.text import tokens
from recollect.errors import Invalid, ModelFailed
from recollect.models.budget import TokenBudget
from recollect.models.form import Form, Unfit

if TYPE_CHECKING:
    from pydantic_ai.models import Model

T = TypeVar("T")
LARGEST_ANSWER = 4_000_000
_GRACE = 2.0  # seconds for a cancelled question to let go
_MAKERS = ("openai", "anthropic")
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a language model is: "openai:…", "anthropic:…", or the name of a model at an OpenAI-compatible address.

    Without a key, the maker's own environment variable is used by the maker's library.
    """

    model: str
    url: str = ""
    key: str = ""

    @property
    def maker(self) -> str:
        return self._parts[0]

    @property
    def name(self) -> str:
        return self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        maker, _, name = self.model.partition(":")
        # With an address of its own the whole string is the model's name: some hold a colon.
        return ("openai", self.model) if self.url and maker not in _MAKERS else (maker, name)

    def beside(self, model: str) -> "Endpoint":
        """Another model: at the same address with the same key, unless it names another maker."""
        other = Endpoint(model)
        return other if other.maker in _MAKERS and other.maker != self.maker else replace(self, model=model)

    def check(self) -> None:
        """Raises Invalid where no model can be meant, or where what it takes is not installed."""
        if self.maker not in _MAKERS or not self.name.strip():
            raise Invalid(
                f"there is no writer {self.model!r}",
                "Name one like openai:gpt-5-mini or anthropic:claude-haiku-4-5, "
                "or give the address of an OpenAI-compatible service.",
            )
        if self.url and not self.url.startswith(("http://", "https://")):
            raise Invalid("the address of the writer cannot be used", "Give one like https://host/v1.")
        if self.key and not (self.key.isascii() and self.key.isprintable() and self.key == self.key.strip()):
            raise Invalid("the key of the writer holds characters that no key has", "Copy it again.")
        if find_spec("pydantic_ai") is None or find_spec(self.maker) is None:
            raise Invalid(
                f"a writer of {self.maker} needs packages that are not installed",
                f"pip install 'recollect[{self.maker}]'",
            )


class ModelWriter:
    """Asks one language model at temperature 0. May be called from any thread, also below a running event loop.

    An answer takes `timeout` seconds at most, with everything that is tried again in between: what may pass (`tries`
    times in all), and an answer of another form, which is sent back once. Errors name the kind of failure; they never
    repeat what the model said, what it was asked, or the key.
    """

    def __init__(
        self, where: "Endpoint | Model", budget: TokenBudget, *, timeout: float = 60.0, tries: int = 3
    ) -> None:
        if timeout <= 0 or tries < 1:
            raise Invalid("timeout and tries of a writer are above zero")
        if isinstance(where, Endpoint):
            where.check()
        self._where, self._budget, self._timeout, self._tries = where, budget, timeout, tries
        self._lock = Lock()
        self._line: _Line | None = None
        self.name = where.model if isinstance(where, Endpoint) else where.model_name

    def write(self, prompt: Prompt[T], *, tenant: TenantId) -> T:
        asked = tokens(prompt.system) + tokens(prompt.user)
        with self._budget.spend(tenant, asked + prompt.longest) as bill:
            bill.tokens = 0  # until it is known what came of it
            try:
                line = self._connected()
                question = _Question(prompt, line.model, self._timeout, self._tries)
                try:
                    return line.ask(question.answer(), self._timeout + _GRACE)
                finally:
                    bill.tokens = question.used(asked)
            except ModelFailed as failed:
                raise ModelFailed(f"{self.name} {failed.what}", failed.help) from None

    def close(self) -> None:
        with self._lock:
            if self._line:
                self._line.hang_up()
            self._line = None

    def _connected(self) -> "_Line":
        with self._lock:
            if self._line is None or not self._line.open:  # a fork has no threads but one
                where = self._where
                self._line = _Line(_model(where) if isinstance(where, Endpoint) else where)
            return self._line


class Writers:
    """One language model for most tasks, and others for some. They share a tenant's budget."""

    def __init__(self, usual: ModelWriter, others: Mapping[str, ModelWriter]) -> None:
        self._usual, self._others = usual, others
        self.name = usual.name

    def write(self, prompt: Prompt[T], *, tenant: TenantId) -> T:
        return self._others.get(prompt.name, self._usual).write(prompt, tenant=tenant)

    def close(self) -> None:
        for one in (self._usual, *self._others.values()):
            one.close()


class _Line:
    """A model and the event loop that it is asked on, in a thread of its own: connections belong to their loop, and
    callers have loops of their own or none."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="recollect-writer", daemon=True)
        self._thread.start()

    @property
    def open(self) -> bool:
        return self._thread.is_alive()

    def ask(self, question: Coroutine[Any, Any, T], patience: float) -> T:
        future = asyncio.run_coroutine_threadsafe(question, self._loop)
        try:
            return future.result(patience)
        except TimeoutError:
            future.cancel()
            raise ModelFailed("did not answer in time", "Try again later, or raise writer_timeout.") from None
        except CancelledError:
            raise ModelFailed("was interrupted", "Try again.") from None

    def hang_up(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


class _Question(Generic[T]):
    """One prompt on its way through one model."""

    def __init__(self, prompt: Prompt[T], model: "Model", timeout: float, tries: int) -> None:
        from pydantic_ai.usage import RunUsage

        self._prompt, self._model, self._timeout, self._tries = prompt, model, timeout, tries
        self._form = Form(prompt.form)
        self._usage = RunUsage()
        self._written = 0
        self._late = False

    def used(self, asked: int) -> int:
        """Tokens that were used: as reported, but no less than the texts account for."""
        reported = self._usage.input_tokens + self._usage.output_tokens
        return max(reported, asked + self._written if self._usage.requests or self._late else 0)

    async def answer(self) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._tried()
        except ModelFailed:
            raise
        except TimeoutError:
            self._late = True
            raise ModelFailed(
                f"did not answer within {self._timeout:g} seconds", "Try again later, or raise writer_timeout."
            ) from None
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a model's library may raise anything; its text may hold anything
            raise ModelFailed(f"failed ({type(error).__name__})", "Try again later.") from None

    async def _tried(self) -> T:
        from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UsageLimitExceeded

        for attempt in range(self._tries):
            try:
                return await self._once()
            except (UnexpectedModelBehavior, UsageLimitExceeded, Unfit):
                raise ModelFailed("gave no answer of the form that was asked for", "Try another model.") from None
            except ModelAPIError as error:
                status = getattr(error, "status_code", None)
                if status is not None and status not in _PASSING:
                    help = "Check the model's name, its address and its key."
                    raise ModelFailed(f"refused the question ({status})", help) from None
                if attempt + 1 == self._tries:
                    why = f"answered {status}" if status else "could not be reached"
                    raise ModelFailed(f"{why}, {self._tries} times in a row", "Try again later.") from None
                await asyncio.sleep(0.5 * 2**attempt)
        raise AssertionError("unreachable")

    async def _once(self) -> T:
        from pydantic_ai import Agent, ModelRetry, StructuredDict
        from pydantic_ai.usage import UsageLimits

        form = StructuredDict(self._form.schema, name=self._prompt.name)
        agent = Agent(self._model, output_type=form, instructions=self._prompt.system, retries={"output": 1})

        def check(answer: dict[str, Any]) -> dict[str, Any]:
            self._written += tokens(str(answer))
            try:
                self._form.fill(answer)
            except Unfit as unfit:
                raise ModelRetry(str(unfit)) from None
            return answer

        agent.output_validator(check)
        settings: Any = {
            "temperature": 0.0,
            "max_tokens": self._prompt.longest,
            "max_retries": 0,  # tried again here, within one limit
            "request_timeout": self._timeout,
            "thinking": False,
        }
        run = await agent.run(
            self._prompt.user,
            model_settings=settings,
            usage=self._usage,
            usage_limits=UsageLimits(request_limit=2 * self._tries),
        )
        return self._form.fill(run.output)


def _model(where: Endpoint) -> "Model":
    try:
        from recollect.models import makers

        make = makers.openai if where.maker == "openai" else makers.anthropic
        return make(where.name, where.url, where.key, LARGEST_ANSWER)
    except Exception as error:  # of the maker's library: no key, an odd address; its text may hold either
        raise ModelFailed(
            f"cannot be used as it is configured ({type(error).__name__})", "Check its key and its address."
        ) from None
