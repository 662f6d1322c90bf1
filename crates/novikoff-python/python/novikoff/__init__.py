"""Linear learning with proofs.

Estimators follow scikit-learn's conventions, and every convex fit comes with a duality gap and a
certificate. Scikit-learn is imported when an estimator is first asked for.

Examples
--------
>>> import novikoff
>>> model = novikoff.LinearSVC(loss="hinge").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
>>> model.predict([[0.5], [3.5]]).tolist()
[0, 1]
>>> bool(model.gap_ <= 1e-4)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._novikoff import Model, __version__

if TYPE_CHECKING:
    from ._bayes import NaiveBayes as NaiveBayes
    from ._certificates import Certificate as Certificate
    from ._certificates import Checked as Checked
    from ._certificates import Verification as Verification
    from ._functions import (
        Bounds as Bounds,
    )
    from ._functions import (
        Certified as Certified,
    )
    from ._functions import (
        Comparison as Comparison,
    )
    from ._functions import (
        Margin as Margin,
    )
    from ._functions import (
        Rows as Rows,
    )
    from ._functions import (
        Tuned as Tuned,
    )
    from ._functions import (
        bounds as bounds,
    )
    from ._functions import (
        certify as certify,
    )
    from ._functions import (
        compare as compare,
    )
    from ._functions import (
        load as load,
    )
    from ._functions import (
        margin as margin,
    )
    from ._functions import (
        read as read,
    )
    from ._functions import (
        save as save,
    )
    from ._functions import (
        tune as tune,
    )
    from ._functions import (
        verify as verify,
    )
    from ._linear import (
        ElasticNet as ElasticNet,
    )
    from ._linear import (
        HuberRegressor as HuberRegressor,
    )
    from ._linear import (
        Lasso as Lasso,
    )
    from ._linear import (
        LeastAbsoluteDeviations as LeastAbsoluteDeviations,
    )
    from ._linear import (
        LinearSVC as LinearSVC,
    )
    from ._linear import (
        LogisticRegression as LogisticRegression,
    )
    from ._linear import (
        MaxMarginClassifier as MaxMarginClassifier,
    )
    from ._linear import (
        QuantileRegressor as QuantileRegressor,
    )
    from ._linear import (
        Ridge as Ridge,
    )
    from ._network import Network as Network
    from ._network import NetworkRegressor as NetworkRegressor
    from ._online import (
        AveragedPerceptron as AveragedPerceptron,
    )
    from ._online import (
        KernelPerceptron as KernelPerceptron,
    )
    from ._online import (
        PassiveAggressive as PassiveAggressive,
    )
    from ._online import (
        Perceptron as Perceptron,
    )
    from ._online import (
        VotedPerceptron as VotedPerceptron,
    )
    from ._table import TableClassifier as TableClassifier
    from ._table import TableRegressor as TableRegressor
    from ._text import TextClassifier as TextClassifier

#: Where each name is, by module: importing those takes scikit-learn's time.
_MODULES = {
    "_bayes": ["NaiveBayes"],
    "_certificates": ["Certificate", "Checked", "Verification"],
    "_functions": [
        "Bounds",
        "Certified",
        "Comparison",
        "Margin",
        "Rows",
        "Tuned",
        "bounds",
        "certify",
        "compare",
        "load",
        "margin",
        "read",
        "save",
        "tune",
        "verify",
    ],
    "_linear": [
        "ElasticNet",
        "HuberRegressor",
        "Lasso",
        "LeastAbsoluteDeviations",
        "LinearSVC",
        "LogisticRegression",
        "MaxMarginClassifier",
        "QuantileRegressor",
        "Ridge",
    ],
    "_network": ["Network", "NetworkRegressor"],
    "_online": [
        "AveragedPerceptron",
        "KernelPerceptron",
        "PassiveAggressive",
        "Perceptron",
        "VotedPerceptron",
    ],
    "_table": ["TableClassifier", "TableRegressor"],
    "_text": ["TextClassifier"],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["Model", "__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
