"""The contract of scikit-learn's estimators, kept without importing scikit-learn.

``import sklearn.base`` takes a second, mostly for scipy.stats and pandas, and a training needs none
of it. What is here behaves as scikit-learn's own base classes do: `clone`, `Pipeline`,
`GridSearchCV`, `set_output` and scikit-learn's checks of estimators accept it.
"""

from __future__ import annotations

import copy
import sys
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from augcl.checks import parameters
from augcl.errors import InputError


class Parametric:
    """Holds hyper-parameters: those of ``__init__``, kept under their names.

    Examples
    --------
    >>> class Blur(Parametric):
    ...     def __init__(self, *, width=3, shape="box"):
    ...         self.width, self.shape = width, shape
    >>> Blur(width=5).set_params(shape="disc")
    Blur(shape='disc', width=5)
    >>> Blur().get_params()
    {'shape': 'box', 'width': 3}
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters by name; `deep`: also those of each that has its own."""
        found = {}
        for name in sorted(parameters(type(self))):
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": v for inner, v in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set hyper-parameters, ``part__name`` for that of a part; return self."""
        own = {name: value for name, value in params.items() if "__" not in name}
        nested: dict[str, dict[str, Any]] = {}
        for name in params.keys() - own.keys():
            part, _, inner = name.partition("__")
            nested.setdefault(part, {})[inner] = params[name]
        known = self.get_params(deep=False)
        for name in [*own, *nested]:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}: it has "
                    f"{', '.join(known)}"
                )
        for name, value in own.items():
            setattr(self, name, value)
        for part, inner_params in nested.items():
            getattr(self, part).set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        usual = parameters(type(self))
        given = self.get_params(deep=False).items()
        changed = [f"{name}={v!r}" for name, v in given if repr(v) != repr(usual[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """Draw it in a notebook as scikit-learn does."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what it is: only scikit-learn asks."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


class Transformer(Parametric):
    """Turns data into an array of named columns, or a table, if `set_output` asks for one."""

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to the data, then transform them."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: graphcl0, graphcl1 and so on."""
        name = type(self).__name__.lower()
        return np.array([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "default" (an array), "pandas" or "polars"."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # sklearn.clone copies this name
        return self

    def _in_container(self, columns: NDArray[np.float32]) -> Any:
        """Return the columns as `set_output` or ``sklearn.set_config`` asks for them."""
        container = getattr(self, "_sklearn_output_config", {}).get("transform")
        if container is None and "sklearn" in sys.modules:
            container = sys.modules["sklearn"].get_config()["transform_output"]
        if container == "pandas":
            import pandas as pd  # type: ignore[import-untyped]

            return pd.DataFrame(columns, columns=self.get_feature_names_out(), copy=False)
        if container == "polars":
            import polars as pl  # type: ignore[import-not-found]

            return pl.DataFrame(columns, schema=list(self.get_feature_names_out()), orient="row")
        if container not in (None, "default"):
            raise InputError(f"output {container!r} is not known: use default, pandas or polars")
        return columns

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags


def unfitted(estimator: Parametric) -> Any:
    """Return a new estimator with the same hyper-parameters and nothing learned."""
    params = estimator.get_params(deep=False)
    return type(estimator)(
        **{
            name: unfitted(value) if isinstance(value, Parametric) else copy.deepcopy(value)
            for name, value in params.items()
        }
    )


def check_fitted(estimator: Any, attribute: str, message: str | None = None) -> None:
    """Raise scikit-learn's NotFittedError unless the attribute is there."""
    if not hasattr(estimator, attribute):
        from sklearn.exceptions import NotFittedError

        name = type(estimator).__name__
        raise NotFittedError(message or f"{name} is not fitted: call fit first")
