"""scikit-learn's conventions for learners, without importing scikit-learn.

Importing scikit-learn takes longer than learning a hundred variables. What makes a class an estimator for
`clone`, pipelines and the estimator checks is small: the constructor's arguments are the options, stored
under their own names, and can be read and set. scikit-learn itself is only met when it asks for tags.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

from f2sl.errors import OptionError, unknown_name


class Estimator:
    """Base of everything with options: the arguments of ``__init__`` are the options.

    Examples
    --------
    >>> class Learner(Estimator):
    ...     def __init__(self, *, delta=0.05, ties="drop"):
    ...         self.delta = delta
    ...         self.ties = ties
    >>> Learner(ties="keep")
    Learner(ties='keep')
    >>> Learner().set_params(delta=0.1).get_params()
    {'delta': 0.1, 'ties': 'drop'}
    """

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """The options with their default values, in the order of the constructor."""
        if cls.__init__ is object.__init__:
            return {}
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the options as they are set; `deep` is there for scikit-learn, options hold no learners."""
        return {name: getattr(self, name) for name in self.option_defaults()}

    def set_params(self, **options: Any) -> Self:
        """Set some options; one that there is not is an error that lists those there are."""
        known = self.option_defaults()
        for name in options:
            if name not in known:
                raise OptionError(unknown_name(f"option of {type(self).__name__}", name, known))
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self.option_defaults()
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, when it asks, what kind of estimator this is."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(categorical=True, string=True),
        )
