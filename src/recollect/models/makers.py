"""Models of the makers whose libraries are extras, over connections that read no more than an answer may hold."""

from collections.abc import AsyncIterator

import httpx2
from pydantic_ai.models import Model

# Stands in where a service wants no key: the libraries insist on one, and would look for it in the environment.
_NO_KEY = "none"


def openai(name: str, url: str, key: str, largest: int) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = key or (_NO_KEY if url else "")  # never the maker's own key to another address
    provider = OpenAIProvider(base_url=url or None, api_key=key or None, http_client=_client(largest))
    return OpenAIChatModel(name, provider=provider)


def anthropic(name: str, url: str, key: str, largest: int) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = key or (_NO_KEY if url else "")
    provider = AnthropicProvider(base_url=url or None, api_key=key or None, http_client=_client(largest))
    return AnthropicModel(name, provider=provider)


def _client(largest: int) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=_Bounded(largest),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,  # the key stays with its address
        trust_env=False,
    )


class _Bounded(httpx2.AsyncHTTPTransport):
    """Breaks off an answer that is larger than any honest one, or packed: what it would unpack to is not known."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._largest = largest

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the answer is packed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Cut(response.stream, self._largest)
        return response


class _Cut(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, largest: int) -> None:
        self._stream, self._largest = stream, largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > self._largest:
                raise httpx2.ReadError("the answer is too large")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
