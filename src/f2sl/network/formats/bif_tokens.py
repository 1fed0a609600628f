r"""Tokens of a BIF file.

BIF, the Interchange Format for Bayesian Networks (Cozman 1998), consists of *words*, the symbols ``{ } [ ] (
) ;``, and strings in double quotes. White space, commas, bars and comments (``// ...`` to the end of the
line, ``/* ... */``) separate them and have no meaning, so ``(a | b, c)`` and ``( "a" "b" "c" )`` are the
same. A word is any other sequence of characters: ``LVFAILURE``, ``0.5``, ``50-100%``, ``<5``. A string may
contain anything, also line breaks; a quote is written ``\"`` and a backslash ``\\``.

One regular expression splits the whole text in one pass, in linear time for any text. The positions of tokens
are not stored: lines are counted only for an error message.

>>> Tokens('probability ( "a b" | c ) // why\n').texts
['probability', '(', '"a b"', 'c', ')', '']
"""

from __future__ import annotations

import re
from itertools import islice

from f2sl.errors import shown

# All repetitions are possessive (*+): nothing is ever tried twice. What fits nothing, an open quote or
# comment, takes the rest of the text with it, so that it is met once.
_TOKEN = re.compile(
    r"""(?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )*+
        (?: ( [{}\[\]();]
            | "(?:[^"\\]++|\\.)*+"
            | (?:[^\s,|{}\[\]();"/]++|/(?![/*]))++
            )
          | .+ | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"""(?:[^\s,|{}\[\]();"/]++|/(?![/*]))++""")
_ESCAPED = re.compile(r'\\(["\\])')


class Tokens:
    r"""Tokens of a text, in order; the last one is empty and marks the end, or unreadable text.

    Examples
    --------
    >>> tokens = Tokens('network x {\n} "')
    >>> tokens.texts
    ['network', 'x', '{', '}', '']
    >>> tokens.line(3), tokens.description(4)
    (2, 'a string that is not closed')
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.texts: list[str] = _TOKEN.findall(text)
        # At the end of the text the expression may match nothing once more.
        del self.texts[self.texts.index("") + 1 :]

    def line(self, number: int) -> int:
        """Return the line, counted from 1, on which a token begins."""
        return self._text.count("\n", 0, self._place(number)) + 1

    def description(self, number: int) -> str:
        """Return the description of a token for a message."""
        token = self.texts[number]
        if token:
            return shown(token)
        rest = self._text[self._place(number) :][:2]
        if rest.startswith('"'):
            return "a string that is not closed"
        return "a comment that is not closed" if rest == "/*" else "the end of the file"

    def _place(self, number: int) -> int:
        """Return the position of a token: split the text again, up to it."""
        match = next(islice(_TOKEN.finditer(self._text), number, None))
        if match.group(1) is not None:
            return match.start(1)
        # What cannot be read begins where a comment or space could not be skipped; the end, at the end.
        begin = _SKIPPED.match(self._text, match.start())
        return begin.end() if begin else match.start()


_SKIPPED = re.compile(r"(?:[\s,|]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)


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
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def quoted(name: str) -> str:
    r"""Return a name as BIF writes it: unquoted if it is a word, because some tools cannot read strings.

    Examples
    --------
    >>> print(quoted("50-100%"), quoted("a b"), quoted('say "b"'))
    50-100% "a b" "say \"b\""
    """
    if _WORD.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
