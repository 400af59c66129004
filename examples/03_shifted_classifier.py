"""A classifier was trained where three classes were equally common. Where it runs now, they are not."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from truecount.sklearn import Quantifier, Recalibrated

TRUE_SHARES = np.array([0.7, 0.2, 0.1])

items, labels = make_classification(
    9000, n_features=6, n_informative=4, n_classes=3, n_clusters_per_class=1, class_sep=0.8, random_state=0
)
train, rest = slice(0, 1500), np.arange(1500, 9000)
rng = np.random.default_rng(0)
sizes = (2000 * TRUE_SHARES).astype(int)
now = np.concatenate([rng.choice(rest[labels[rest] == name], size, replace=False) for name, size in enumerate(sizes)])

quantifier = Quantifier(LogisticRegression()).fit(items[train], labels[train])
counted = np.bincount(quantifier.estimator_.predict(items[now]), minlength=3) / len(now)
posterior = quantifier.posterior(items[now])
print(posterior)
print(f"Counted {counted.round(3)}, estimated {posterior.mean.round(3)}, true {TRUE_SHARES}")

# The shares also correct every single prediction.
plain = LogisticRegression().fit(items[train], labels[train])
corrected = Recalibrated(LogisticRegression()).fit(items[train], labels[train]).adapt(items[now])
before, after = (model.score(items[now], labels[now]) for model in (plain, corrected))
print(f"Right predictions: {before:.1%} before, {after:.1%} after.")
