"""scikit-learn's conventions for learners, without importing scikit-learn.

Importing scikit-learn takes longer than learning a hundred variables. A class needs little to be an estimator
for `clone`, pipelines and the estimator checks: the constructor's arguments are the options, stored under
their own names, and can be read and set. scikit-learn is imported only when it asks for tags.

Here the options are fields (:func:`f2sl._options.option`), and the constructor is made from them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, ClassVar, Self, dataclass_transform

from f2sl._notes import Note, Part, Use
from f2sl._options import CATALOGUE, Option, anything, problems_with, refuse
from f2sl._registry import refuse_unknown

_RANK = {name: rank for rank, name in enumerate(CATALOGUE)}


@dataclass_transform(kw_only_default=True, eq_default=False)
class Estimator:
    """Base class of everything with options; each field of the class is an option.

    Examples
    --------
    >>> from f2sl._options import option
    >>> class Learner(Estimator):
    ...     delta: float = option("delta")
    ...     ties: str = option("ties", "keep")
    >>> Learner(ties="drop")
    Learner(ties='drop')
    >>> Learner().set_params(delta=0.1).get_params()
    {'delta': 0.1, 'ties': 'keep'}
    >>> Learner(delta=-1, ties="x").check_options()
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: delta must be a number of 0 or more, or 'auto', not -1; ties must be one of 'drop', 'keep', not 'x'
    """  # noqa: E501

    _ignores: ClassVar[tuple[tuple[str, Any, tuple[str, ...]], ...]] = ()
    """Values of options beside which others have no effect, added to those of the base classes.

    Each is an option, its value or a function that tells whether a value is meant, and the others' names.
    """

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Make the constructor from the fields, in the catalogue's order, and document them."""
        super().__init_subclass__(**arguments)
        by_hand = "__init__" in vars(cls)
        dataclasses.dataclass(kw_only=True, repr=False, eq=False)(cls)
        if by_hand:
            return
        first, *fields = inspect.signature(cls.__init__).parameters.values()
        fields.sort(key=lambda field: _RANK.get(field.name, len(_RANK)))
        signature = inspect.Signature([first, *fields])
        cls.__init__.__signature__ = signature  # type: ignore[attr-defined]
        if cls.__doc__ is not None and "Parameters\n" not in cls.__doc__:
            cls.__doc__ = _documented(cls, inspect.cleandoc(cls.__doc__), fields)

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """Raise an error for unknown options, which says where they belong."""
        cls._refuse_unknown(options)
        return super().__new__(cls)

    @classmethod
    def _refuse_unknown(cls, options: Iterable[str]) -> None:
        known = cls.option_defaults()
        refuse_unknown(cls.__name__, [name for name in options if name not in known], known, cls)

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """Return the options with their default values, in the order of the constructor."""
        if cls.__init__ is object.__init__:
            return {}
        return dict(_defaults_of(cls.__init__))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options; `deep` exists for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in self.option_defaults()}

    def set_params(self, **options: Any) -> Self:
        """Set some options; an unknown one is an error that says where it belongs."""
        self._refuse_unknown(options)
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def check_options(self) -> None:
        """Raise one error for all invalid options."""
        refuse(self._problems())

    def _problems(self) -> Iterator[Note]:
        """Yield all problems of the options; learners add checks that involve several options."""
        fields = {field.name: field for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        for name in self.option_defaults():
            check = fields[name].metadata.get("check") if name in fields else None
            if check is not None:
                yield from problems_with(check, name, getattr(self, name))
        reported: set[str] = set()
        rules = (rule for base in type(self).__mro__ for rule in vars(base).get("_ignores", ()))
        for name, value, others in rules:
            own = getattr(self, name, None)
            new = [one for one in others if one not in reported]
            notes = [*self._without_effect(new, " beside ", Use(name, own))]
            if notes and (value(own) if callable(value) else own == value):
                yield from notes
                reported.update(others)

    def _without_effect(self, names: Iterable[str], *why: Part) -> Iterator[Note]:
        """Yield a problem for each of the options that is not at its default although nothing uses it."""
        defaults = self.option_defaults()
        for name in names:
            if name in defaults and repr(getattr(self, name)) != repr(defaults[name]):
                yield Note("no-effect", Use(name), " has no effect", *why)

    def __repr__(self) -> str:
        defaults = self.option_defaults()
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which describe what kind of estimator this is."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(
                categorical=True, string=True, allow_nan="mixed" in getattr(self, "_takes", ())
            ),
        )


@cache
def _defaults_of(constructor: Callable[..., None]) -> dict[str, Any]:
    """Return the parameters of a constructor with their defaults; to inspect it takes long."""
    _, *parameters = inspect.signature(constructor).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def _documented(cls: Any, text: str, fields: list[inspect.Parameter]) -> str:
    """Insert sections on options and attributes into a docstring: before others, or at the end.

    A class documents its own attributes; those of its bases are added.
    """
    text, cls._attributes = _without_attributes(text)
    lines = ["Parameters", "----------"]
    for field in fields:
        known = CATALOGUE.get(field.name) or Option(field.name, anything)
        lines += known.documented(field.annotation, field.default)
    entries: dict[str, str] = {}
    for base in cls.__mro__:
        new = vars(base).get("_attributes", {})
        entries |= {name: entry for name, entry in new.items() if name not in entries}
    if entries:
        lines += ["", "Attributes", "----------", *dict.fromkeys(entries.values())]
    sections = [text.find(f"\n\n{name}\n---") for name in ("Notes", "Examples")]
    position = min((at for at in sections if at >= 0), default=len(text))
    return f"{text[:position]}\n\n" + "\n".join(lines) + text[position:]


def _without_attributes(text: str) -> tuple[str, dict[str, str]]:
    """Remove the section on attributes from a docstring; return also the entry of each attribute."""
    before, heading, rest = text.partition("\n\nAttributes\n----------\n")
    section, blank, after = rest.partition("\n\n")
    entries: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section) if heading else ():
        names = entry.split("\n")[0].partition(" : ")[0]
        entries |= dict.fromkeys(names.split(", "), entry)
    return before + blank + after, entries
