"""A filter flags messages week by week, and some hundred were read once: whether the share of spam has changed.

The log is a Parquet file, read where it lies: one group-by counts it, whatever its size.
"""

import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np

import truecount as tc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
SHARES = [0.10, 0.11, 0.10, 0.14, 0.17, 0.16]  # of spam, in six weeks
FLAGGED = {"spam": 0.85, "fine": 0.06}


def write_log(path: Path) -> None:
    """Make a log: 400 messages that people read before, then six weeks of 3,000 messages each."""
    rng = np.random.default_rng(5)
    rows = ["time,read,flag"]
    for week, share in enumerate([0.3, *SHARES]):
        for number in range(400 if week == 0 else 3000):
            truth = "spam" if rng.random() < share else "fine"
            flag = "spam" if rng.random() < FLAGGED[truth] else "fine"
            day = date(2026, 3, 2) + timedelta(weeks=week, days=number % 7)
            rows.append(f"{day},{truth if week == 0 else ''},{flag}")
    path.with_suffix(".csv").write_text("\n".join(rows))
    duckdb.sql(f"COPY (FROM '{path.with_suffix('.csv')}') TO '{path}' (FORMAT parquet)")


write_log(folder / "log.parquet")
weeks = tc.count_table(folder / "log.parquet", label="read", prediction="flag", by={"time": "week"})
answer = tc.infer(weeks, tc.LabelShift(groups=tc.Walk()), seed=0)
summary = answer.summary(questions=tc.Questions(of="spam"))
for week, mean, (low, high) in zip(summary.names, summary.mean[:, 1], summary.interval[:, 1], strict=True):
    print(f"{week}  {mean:6.1%}  ({low:.1%} – {high:.1%})  {'█' * round(200 * mean)}")
for alert in summary.alerts:
    print(f"Alert: {alert.message}")

tc.report(answer, folder / "weeks.html", questions=tc.Questions(of="spam"))
tc.plots.trend(summary).figure.savefig(folder / "weeks.png", dpi=150)
print(f"Written: {folder / 'weeks.html'} and {folder / 'weeks.png'}")

# All weeks share the labels, so they are drawn together and compared draw by draw.
grown = answer.difference(answer.groups[-1], answer.groups[0]).probability(lambda change: change["spam"] > 0)
print(f"The share of spam has grown since the first week with probability {grown:.1%}.")
