"""Every regular expression of the package, how it is used, and texts that are made to be hard for it."""

import ast
import importlib
import pkgutil
import re
import re._constants as code
import re._parser as parser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import recollect

METHODS = {"match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
_SIGNS = "a1 .A-_,'\"\n\t/:!é中"
_PLAIN = ("a", " ", ".", "\n", "-", "1", "A", "'", '"', "a.", "a ", ". ", "\n ", "I ", "A a ", "中", "”", "“")


@dataclass(frozen=True)
class Used:
    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    def run(self, text: str) -> None:
        """As it is used: from the beginning alone, or all over the text."""
        read = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        if self.methods - {"match", "fullmatch"}:
            for _ in self.pattern.finditer(read):
                pass
        if "match" in self.methods:
            self.pattern.match(read)
        if "fullmatch" in self.methods:
            self.pattern.fullmatch(read)


def all_used() -> list[Used]:
    """The patterns that modules hold, in whatever they hold them, and those that functions name when called."""
    found: dict[tuple[str, int], Used] = {}
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(recollect.__path__, "recollect.")
        if "__main__" not in info.name
    ]
    for module in modules:
        for used in (*_held_by(module), *_named_in(module)):
            known = found.get((used.pattern.pattern, used.pattern.flags))
            methods = used.methods | known.methods if known else used.methods
            found[used.pattern.pattern, used.pattern.flags] = Used(used.where, used.pattern, methods)
    return list(found.values())


def _source(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text(encoding="utf-8")


def _held_by(module: ModuleType) -> Iterator[Used]:
    source = _source(module)
    for name, value in list(vars(module).items()):
        for pattern in _patterns(value, set()):
            direct = re.findall(rf"\b{name}\.({'|'.join(METHODS)})\(", source) if value is pattern else []
            bound = re.findall(rf"\.({'|'.join(METHODS)})\(", source) if value is not pattern else []
            elsewhere = re.search(rf"[(,\[ ]{name}[),\] ]", source) if value is pattern and not direct else None
            yield Used(f"{module.__name__}.{name}", pattern, frozenset(direct or bound or ["search"] * bool(elsewhere)))


def _patterns(value: Any, seen: set[int]) -> Iterator[re.Pattern[str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for part in (*value.keys(), *value.values()):
            yield from _patterns(part, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _patterns(part, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _patterns(getattr(value, field.name, None), seen)


def _named_in(module: ModuleType) -> Iterator[Used]:
    """The calls of `re` in functions. A pattern that is put together there is nothing that can be tried here."""
    for node in ast.walk(ast.parse(_source(module))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in METHODS):
            continue
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(node) else re.NOFLAG
            pattern = re.compile(node.args[0].value, flags)
            yield Used(f"{module.__name__}:{node.lineno}", pattern, frozenset({node.func.attr}))


# -- texts that are hard for a pattern ----------------------------------------------------------------------


def attacks(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """A beginning, and what is repeated behind it: for every repeat in the pattern what leads to it and what it takes,
    all that it takes again and again, and plain signs."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = {pair: None for way in range(2) for pair in _repeated(tree, way)}
    found |= {("", sample): None for way in range(3) if (sample := _sample(tree, way))}
    found |= {(head, sign): None for sign in _PLAIN for head in ("", "a")}
    return list(found)


def _repeated(items: Any, way: int, before: str = "") -> Iterator[tuple[str, str]]:
    for op, what in items:
        if op in _REPEATS:
            if what[1] > 8:
                for other in range(3):
                    if taken := _sample(what[2], other):
                        yield before, taken
                        yield "", before + taken
            yield from _repeated(what[2], way, before)
        elif op is code.SUBPATTERN:
            yield from _repeated(what[3], way, before)
        elif op is code.ATOMIC_GROUP:
            yield from _repeated(what, way, before)
        elif op is code.BRANCH:
            for branch in what[1]:
                yield from _repeated(branch, way, before)
        before += _sample([(op, what)], way)


def _sample(items: Any, way: int) -> str:
    """A text that the items match, more or less: of what may be one thing or another, another for each way."""
    found: list[str] = []
    for op, what in items:
        if op is code.LITERAL:
            found.append(chr(what))
        elif op is code.NOT_LITERAL:
            found.append("b" if what == ord("a") else "a")
        elif op is code.ANY:
            found.append("a")
        elif op is code.IN:
            fitting = [sign for sign in (*_literals(what), *_SIGNS) if _takes(what, sign)] or ["a"]
            found.append(fitting[way % len(fitting)])
        elif op in _REPEATS:
            found.append(_sample(what[2], way) * (what[0] or way % 2))
        elif op is code.SUBPATTERN:
            found.append(_sample(what[3], way))
        elif op is code.ATOMIC_GROUP:
            found.append(_sample(what, way))
        elif op is code.BRANCH:
            found.append(_sample(what[1][way % len(what[1])], way))
    return "".join(found)


def _literals(what: Any) -> list[str]:
    return [chr(one if op is code.LITERAL else one[0]) for op, one in what if op in (code.LITERAL, code.RANGE)]


def _takes(what: Any, sign: str) -> bool:
    escaped = {
        code.CATEGORY_DIGIT: sign.isdigit(),
        code.CATEGORY_WORD: sign.isalnum() or sign == "_",
        code.CATEGORY_SPACE: sign.isspace(),
    }
    negated = {
        code.CATEGORY_NOT_DIGIT: not escaped[code.CATEGORY_DIGIT],
        code.CATEGORY_NOT_WORD: not escaped[code.CATEGORY_WORD],
        code.CATEGORY_NOT_SPACE: not escaped[code.CATEGORY_SPACE],
    }
    held = False
    for op, one in what:
        held |= op is code.LITERAL and one == ord(sign)
        held |= op is code.RANGE and one[0] <= ord(sign) <= one[1]
        held |= op is code.CATEGORY and (escaped | negated).get(one, False)
    return held != (what[0][0] is code.NEGATE)
