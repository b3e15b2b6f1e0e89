"""The five lengths of a memory, and how a shorter one came from a longer one."""

from enum import IntEnum, StrEnum


class Level(IntEnum):
    """R5 keeps everything; R1 is one word. A higher number is closer to the evidence."""

    R1 = 1
    """Semantic trace: an index word."""
    R2 = 2
    """Concept packet: a compressed hint."""
    R3 = 3
    """Structured summary, every bullet with witnesses."""
    R4 = 4
    """Clean log: normalised and deduplicated."""
    R5 = 5
    """Raw events."""


class Derivation(StrEnum):
    COMPRESS = "compress"
    NORMALIZE = "normalize"
    SUMMARIZE = "summarize"
    TRACE = "trace"
    MERGE = "merge"
    SPLIT = "split"
