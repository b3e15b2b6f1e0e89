"""Recollect: long-term memory for AI agents that shows its receipts."""

from recollect.domain.ids import ItemId
from recollect.domain.item import Visibility
from recollect.domain.scope import Principal, Role
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.wiring import open_memory
from recollect.write.ingest import Message

__all__ = ["ItemId", "Memory", "Message", "Principal", "RecollectError", "Role", "Visibility", "open_memory"]
