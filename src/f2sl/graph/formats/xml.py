"""Safe XML parsing for the formats of graphs and networks, with line numbers of elements.

Entities are refused, because they can make small files huge and read other files; so is deep nesting. A
document type declaration is skipped; nothing outside the file is ever read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

from f2sl.errors import shown
from f2sl.graph.formats.common import FormatError, is_number

DEEPEST = 100
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(slots=True)
class Element:
    """Element with its lower-case tag, its attributes, its own text, and its child elements."""

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    inner: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Own text of the element, without surrounding white space."""
        return "".join(self.texts).strip()

    def all(self, *tags: str) -> Iterator[Element]:
        """Yield the child elements that have one of these tags."""
        return (element for element in self.inner if element.tag in tags)

    def first(self, tag: str) -> Element | None:
        """Return the first child element with this tag, or None."""
        return next(self.all(tag), None)

    def named(self, key: str = "id") -> str:
        """Return a required attribute."""
        if not self.attributes.get(key):
            raise FormatError(f"<{self.tag}> has no {key!r}", self.line)
        return self.attributes[key]

    def numbers(self) -> list[float]:
        """Return the numbers in the text."""
        words = self.text.split()
        try:
            if "_" in self.text:  # which Python takes for part of a number
                raise ValueError
            return list(map(float, words))
        except ValueError:
            strange = next(word for word in words if not is_number(word))
            raise FormatError(f"<{self.tag}>: {shown(strange)} is not a number", self.line) from None


def parse(
    content: bytes,
    root: str,
    streamed: str = "",
    each: Callable[[Element, Element, Element], None] | None = None,
) -> Element:
    """Return the outermost element of a file, which must have the tag `root`.

    Each element directly within one with the tag `streamed` is passed to `each` when it ends, with that one
    and the outermost; it is not stored, so that a large file takes little memory.

    Raises
    ------
    FormatError
        If it is not XML, has another root, declares entities or is nested too deeply.

    Examples
    --------
    >>> parse(b'<net><node id="a">1 2</node></net>', "net").inner[0].numbers()
    [1.0, 2.0]
    """
    whole, parser = Element("", 0), expat.ParserCreate()
    within = [whole]

    def fail(problem: str) -> NoReturn:
        raise FormatError(problem, parser.CurrentLineNumber)

    def refuse(*_: object) -> NoReturn:
        fail("the file has entities of its own, in a document type declaration, which are not read")

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(within) > DEEPEST:
            fail("the elements are nested too deeply")
        element = Element(tag.rpartition(":")[2].lower(), parser.CurrentLineNumber, attributes)
        within[-1].inner.append(element)
        within.append(element)

    def end(_: str) -> None:
        element = within.pop()
        if each is not None and within[-1].tag == streamed:
            within[-1].inner.pop()
            each(element, within[-1], whole.inner[0])

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: within[-1].texts.append(text)
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = parser.SkippedEntityHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FormatError(f"not XML: {expat.ErrorString(error.code)}", error.lineno) from None
    except (LookupError, ValueError) as error:
        raise FormatError(f"not XML: {error}") from None
    found = whole.inner[0]
    if found.tag != root:
        raise FormatError(f"the file is a <{found.tag}>, not a <{root}>", found.line)
    return found


def as_id(name: str) -> str:
    """Return a name in a form that XML can hold: unchanged, or as a JSON string."""
    if not name.startswith('"') and not _NOT_XML.search(name):
        return name
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(name, ensure_ascii=False))


def as_text(name: str) -> str:
    """Return a name as text of an element; as a JSON string if XML or a reader would change it.

    Examples
    --------
    >>> as_text("a < b"), as_text(" b")
    ('a &lt; b', '" b"')
    """
    return escape(as_id(name) if name == name.strip() and "\r" not in name else json.dumps(name))


def name_of(text: str) -> str:
    """Return the name that a text stands for.

    Examples
    --------
    >>> name_of("a b"), name_of('" b"')
    ('a b', ' b')
    """
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return text
