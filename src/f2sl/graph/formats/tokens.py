r"""Tokens of a text, one after another, for the parsers of DOT, DAGitty's language, BIF and Hugin's language.

One regular expression splits the whole text in one pass. All repetitions in it are possessive (``*+``):
nothing is ever tried twice, so the time is linear for any text. What fits nothing, such as an open quote or
comment, takes the rest of the text with it, so that it is met once. The positions of tokens are not stored:
lines are counted only for an error message.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NoReturn

from f2sl.errors import shown
from f2sl.graph.formats.common import FormatError

STRING = r'"(?:[^"\\]++|\\.)*+"'
"""Pattern of a string in double quotes, in which a backslash stands before a quote or another backslash."""


class Tokens:
    r"""Tokens of a text in order, and the number of the next; the last is empty: the end, or unreadable text.

    Parameters
    ----------
    text : str
        The text.
    between, token : str
        Patterns, in verbose form, of what stands between tokens, and of a token.

    Examples
    --------
    >>> tokens = Tokens('network x {\n} "', r"\s++", rf"[{{}}] | \w++ | {STRING}")
    >>> tokens.texts
    ['network', 'x', '{', '}', '']
    >>> tokens.line(3), tokens.description(4)
    (2, 'a string that is not closed')
    """

    def __init__(self, text: str, between: str, token: str) -> None:
        self._text, self._between = text, f"(?:{between})*+"
        self._token = rf"{self._between} (?: ({token}) | .+ | \Z )"
        self.texts: list[str] = re.compile(self._token, _FLAGS).findall(text)
        # At the end of the text the expression may match nothing once more.
        del self.texts[self.texts.index("") + 1 :]
        self.at = 0

    @property
    def next(self) -> str:
        """Next token, which is not taken."""
        return self.texts[self.at]

    def take(self) -> str:
        """Take the next token."""
        self.at += 1
        return self.texts[self.at - 1]

    def accept(self, *signs: str) -> bool:
        """Take the next token if it is one of these signs, and return whether it is."""
        found = self.texts[self.at] in signs
        self.at += found
        return found

    def expect(self, sign: str, where: str = "") -> None:
        """Take a sign; raise an error for any other token."""
        if not self.accept(sign):
            self.missing(f"{sign!r} {where}".rstrip())

    def missing(self, wanted: str) -> NoReturn:
        """Raise an error about the next token."""
        raise FormatError(f"expected {wanted}, found {self.description(self.at)}", self.line(self.at))

    def line(self, number: int) -> int:
        """Return the line, counted from 1, on which a token begins."""
        return self._text.count("\n", 0, self._place(number)) + 1

    def description(self, number: int) -> str:
        """Return the description of a token for a message."""
        if token := self.texts[number]:
            return shown(token)
        rest = self._text[self._place(number) :][:2]
        if rest[:1] in ('"', "<"):
            return "a string that is not closed"
        if rest == "/*":
            return "a comment that is not closed"
        return repr(rest[0]) if rest else "the end of the file"

    def _place(self, number: int) -> int:
        """Return the position of a token: split the text again, up to it."""
        match = next(islice(re.compile(self._token, _FLAGS).finditer(self._text), number, None))
        if match[1] is not None:
            return match.start(1)
        # What cannot be read begins where a comment or space could not be skipped; the end, at the end.
        begin = re.compile(self._between, _FLAGS).match(self._text, match.start())
        return begin.end() if begin else match.start()


_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE


def unquoted(token: str) -> str:
    r"""Return the name that a word or a string denotes.

    Examples
    --------
    >>> unquoted("a-b"), unquoted('"a b"'), unquoted(r'"say \"b\""')
    ('a-b', 'a b', 'say "b"')
    """
    if not token.startswith('"'):
        return token
    inner = token[1:-1]
    return re.sub(r'\\(["\\])', r"\1", inner) if "\\" in inner else inner
