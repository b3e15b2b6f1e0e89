"""Recollect: long-term memory for AI agents that shows its receipts."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.client import Client
    from recollect.domain.event import Trust
    from recollect.domain.ids import ItemId
    from recollect.domain.item import Fact, Visibility
    from recollect.domain.query import Answer, Filters, Form, Query, Source
    from recollect.domain.scope import Principal, Role
    from recollect.domain.turn import Mark, Mode, Task
    from recollect.errors import NeedMoreContext, NothingMore, RecollectError
    from recollect.memory import Memory
    from recollect.wiring import open_memory
    from recollect.write.message import Message
else:
    _HOMES = {
        "Answer": "domain.query",
        "Client": "client",
        "Fact": "domain.item",
        "Filters": "domain.query",
        "Form": "domain.query",
        "ItemId": "domain.ids",
        "Mark": "domain.turn",
        "Memory": "memory",
        "Message": "write.message",
        "Mode": "domain.turn",
        "NeedMoreContext": "errors",
        "NothingMore": "errors",
        "Principal": "domain.scope",
        "Query": "domain.query",
        "RecollectError": "errors",
        "Role": "domain.scope",
        "Source": "domain.query",
        "Task": "domain.turn",
        "Trust": "domain.event",
        "Visibility": "domain.item",
        "open_memory": "wiring",
    }

    def __getattr__(name: str) -> object:
        """Each name is loaded when it is first asked for: a command line must not wait for all of the house."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found


__all__ = [
    "Answer",
    "Client",
    "Fact",
    "Filters",
    "Form",
    "ItemId",
    "Mark",
    "Memory",
    "Message",
    "Mode",
    "NeedMoreContext",
    "NothingMore",
    "Principal",
    "Query",
    "RecollectError",
    "Role",
    "Source",
    "Task",
    "Trust",
    "Visibility",
    "open_memory",
]
