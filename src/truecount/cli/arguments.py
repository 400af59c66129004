"""The arguments of the command, each with its help."""

from pathlib import Path
from typing import Annotated, TypeAlias

from truecount._command import Argument, Option
from truecount.cli.completion import among, columns, methods
from truecount.cli.options import DESIGNS, ENGINES, be_quiet, one_of

_KINDS = (
    "One table, or a labelled and an unlabelled one: CSV, TSV, JSON or Parquet, a pattern in quotes, a folder, - for "
    "the standard input; or logs of Inspect, promptfoo and other evaluation tools, which are one table. "
    "In one table, rows with an empty label are the unlabelled population."
)
Tables: TypeAlias = Annotated[list[str] | None, Argument(metavar="[FILE]...", help=_KINDS)]
CountedTables: TypeAlias = Annotated[list[str], Argument(metavar="FILE...|merge FILE...", help=_KINDS)]
By: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN|COLUMN:PERIOD",
        complete=columns,
        help="Column of groups, or of times with minute, hour, day, week, month, quarter or year; several with commas "
        "between them, or repeated.",
    ),
]
Weight: TypeAlias = Annotated[str | None, Option(metavar="COLUMN", complete=columns, help="Column of weights.")]
Cluster: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        complete=columns,
        help="Column that says which items belong together: epochs of a question, patients, households; several with "
        "commas between them, such as model,question.",
    ),
]
TargetLabels: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="FILE|COLUMN=VALUE",
        help="Labelled items of the population itself, at random or chosen by their output, beside labels from "
        "elsewhere: a file as for check --audit, whose items are not among the unlabelled ones, or the rows of the "
        "data whose COLUMN holds VALUE.",
    ),
]
Output: TypeAlias = Annotated[str, Option(names=("--output", "-o"), metavar="FILE|-", help="Where the counts go.")]
StrictClasses: TypeAlias = Annotated[bool, Option(help="Refuse to merge counts whose classes or outputs differ.")]
Compare: TypeAlias = Annotated[
    tuple[str, str] | None,
    Option(metavar="GROUP GROUP", help="Compare two groups: difference, ratio, and which is larger."),
]
Baseline: TypeAlias = Annotated[
    str | None, Option(metavar="GROUP", help="Compare every group with this one; with --trend, changes since then.")
]
AllPairs: TypeAlias = Annotated[bool, Option(help="Compare every two groups.")]
Trend: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="COLUMN:PERIOD",
        complete=columns,
        help="Column of times and a period, as in --by: shares go from one period to the next, those without data are "
        "predicted, and an alert says that a share changed.",
    ),
]
Study: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        complete=columns,
        help="Column that says where a label comes from: the confusion then varies between studies; several with "
        "commas between them, such as model,language.",
    ),
]
NewStudy: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="one|each",
        callback=one_of("one", "each"),
        complete=among(("one", "each")),
        help="Whether groups without labels of their own are one new study together (usual with --positive) or one "
        "each (usual with --study).",
    ),
]
RandomLabels: TypeAlias = Annotated[
    bool,
    Option(
        help="Labels of a group are a random sample of its items, so that they tell its shares too; with --study and "
        "--by of one column.",
    ),
]
Above: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="CLASS=SHARE",
        help="How probable it is that a share lies above, as in pass=80%; may be repeated. With --strict, exit code 3 "
        "where that is improbable, at 5 % or less.",
    ),
]
Below: TypeAlias = Annotated[
    list[str] | None, Option(metavar="CLASS=SHARE", help="How probable it is that a share lies below.")
]
Covariate: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        complete=columns,
        help="Column with one value in each group, a number or a name, which tells groups apart; may be repeated.",
    ),
]
IndependentGroups: TypeAlias = Annotated[
    bool,
    Option(help="Groups have nothing in common but the confusion: none borrows from others."),
]
Separate: TypeAlias = Annotated[
    bool,
    Option(help="Infer each group by itself: none borrows, and groups are not to be compared."),
]
Results: TypeAlias = Annotated[
    str | None,
    Option(
        names=("--output", "-o"),
        metavar="FILE",
        help="Write a row for each group and class as .parquet, .csv or .jsonl, by its ending. Over 1,000 groups are "
        "inferred one by one; finished ones stand in FILE.parts until all are there.",
    ),
]
Partition: TypeAlias = Annotated[
    str | None,
    Option(metavar="COLUMN[,COLUMN]", help="With --output: a folder of Parquet files, one for each value of a column."),
]
Resume: TypeAlias = Annotated[bool, Option(help="With --output: go on where a run that was stopped left off.")]
Workers: TypeAlias = Annotated[
    str | None,
    Option(metavar="NUMBER", help="Processes for groups that are inferred one by one; by default one for each core."),
]
Title: TypeAlias = Annotated[str | None, Option(metavar="TEXT", help="Heading of the page.")]
Parquet: TypeAlias = Annotated[str | None, Option(metavar="FILE", help="Write the table as Parquet.")]
Label: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        complete=columns,
        help="Column with the true class; repeated, one for each rater, of whom each may err.",
    ),
]
Prediction: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        complete=columns,
        help="Column with the output; repeated, one for each of several classifiers, used together.",
    ),
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    Option(metavar="WORD", help="Word that means a missing value, such as NA; may be repeated; '' if no other does."),
]
OutputsAreClasses: TypeAlias = Annotated[
    bool, Option(help="Every output is a class, also one that no labelled item belongs to.")
]
Confusion: TypeAlias = Annotated[
    Path | None, Option(metavar="CSV", help="Labelled counts, a row a class; the top-left cell reads class\\output.")
]
Unlabeled: TypeAlias = Annotated[
    Path | None, Option(metavar="CSV", help="Unlabelled counts: one row below the outputs, or rows of output,count.")
]
Positive: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N/M|NAME=N/M",
        help="A survey: N tested positive of M tested; weighted numbers are of an effective sample size M. Several "
        "populations that the same test surveyed have a NAME each, and the option is repeated.",
    ),
]
Sensitivity: TypeAlias = Annotated[
    str | None,
    Option(metavar="N/M|P", help="N tested positive of M truly positive; 0.96 or 96% means that it is known."),
]
Specificity: TypeAlias = Annotated[
    str | None,
    Option(metavar="N/M|P", help="N tested negative of M truly negative; 0.96 or 96% means that it is known."),
]
Sensitivities: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N/M|P|P..P",
        help="N tested positive of M truly positive; 0.96 or 96% means that it is known, 80%..95% a range, as does "
        "80%..90%..95% with the most likely value. Repeated, each is a study, and the rate varies between them.",
    ),
]
Specificities: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N/M|P|P..P",
        help="N tested negative of M truly negative, or a rate or range, or several studies, as with --sensitivity.",
    ),
]
Level: TypeAlias = Annotated[str, Option(metavar="P", help="Nominal level of the intervals: 0.95 or 95%.")]
Interval: TypeAlias = Annotated[
    str,
    Option(
        metavar="equal-tailed|hdi",
        callback=one_of("equal-tailed", "hdi"),
        complete=among(("equal-tailed", "hdi")),
        help="hdi is the shortest.",
    ),
]
Target: TypeAlias = Annotated[
    str,
    Option(
        metavar="population|realized",
        callback=one_of("population", "realized"),
        complete=among(("population", "realized")),
        help="The share in the population behind the unlabelled items, or in this finite sample.",
    ),
]
PriorPrevalence: TypeAlias = Annotated[
    str,
    Option(
        metavar="NUMBER|learned|CLASS=NUMBER,...",
        help="Concentration of the shares: 1 is flat. auto is 1, and learned from 20 classes on.",
    ),
]
PriorConfusion: TypeAlias = Annotated[
    str,
    Option(
        metavar="NUMBER|flat|sparse|learned|diagonal:NUMBER",
        complete=among(("flat", "sparse", "learned", "auto", "diagonal:")),
        help="Concentration of each class's outputs: flat is 1, sparse 1/K. auto is flat, learned from 6 classes on.",
    ),
]
PriorOutput: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="NUMBER|CLASS=NUMBER,...",
        help="With --design same-population or by-prediction: concentration of each output's classes.",
    ),
]
Design: TypeAlias = Annotated[
    str,
    Option(
        metavar="|".join(DESIGNS),
        callback=one_of(*DESIGNS),
        complete=among(DESIGNS),
        help="Sampling design of the labels: from another population or stratified by class, a random sample of this "
        "population, or stratified by output.",
    ),
]
KnownLabelError: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="P|CSV",
        help="Labels may be wrong: with a known probability, 0.05 or 5%, or as in a file that counts items of known "
        "class by the label that they got, a row a class.",
    ),
]
EachClassifier: TypeAlias = Annotated[
    bool,
    Option(help="With several --prediction: what each adds, alone and left out, beside all."),
]
IndependentClassifiers: TypeAlias = Annotated[
    bool,
    Option(
        help="Assume that several classifiers err independently, given the class; a finding says where they do not.",
    ),
]
Draws: TypeAlias = Annotated[
    str | None, Option(metavar="NUMBER", help="How many draws; with auto, how many effective ones.")
]
Engine: TypeAlias = Annotated[
    str,
    Option(
        metavar="|".join(ENGINES),
        callback=one_of(*ENGINES),
        complete=among(ENGINES),
        help="Engine that draws from the posterior.",
    ),
]
Seed: TypeAlias = Annotated[str, Option(metavar="NUMBER", help="Same seed, same data, same version: same answer.")]
Method: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="NAME",
        complete=among(methods),
        help="Return the point estimate of this method, such as acc or bbse, and no posterior; rogan-gladen has the "
        "interval of Lang and Reiczigel.",
    ),
]
AllMethods: TypeAlias = Annotated[bool, Option(help="Set every estimator that applies beside the posterior.")]
Json: TypeAlias = Annotated[str | None, Option(metavar="FILE|-", help="Write the answer as JSON; - prints only that.")]
Csv: TypeAlias = Annotated[str | None, Option(metavar="FILE|-", help="Write the table as CSV; - prints only that.")]
OpenMetrics: TypeAlias = Annotated[
    str | None,
    Option(
        metavar="FILE|-",
        help="Write shares, intervals and findings as OpenMetrics text, for a dashboard; - prints only that.",
    ),
]
Junit: TypeAlias = Annotated[
    str | None, Option(metavar="FILE", help="Write JUnit XML: a test case for the answer, each claim, each finding.")
]
GithubSummary: TypeAlias = Annotated[
    bool,
    Option(
        help="Append shares, claims and findings to the summary of this step of GitHub Actions; elsewhere print them.",
    ),
]
Html: TypeAlias = Annotated[
    str | None, Option(metavar="FILE|-", help="Write the answer as one HTML page, to read, print or pass on.")
]
OfInterest: TypeAlias = Annotated[
    str | None,
    Option(
        names=("--class",),
        metavar="CLASS",
        help="The class of interest: one row, and a sentence above it. JSON has all.",
    ),
]
Sort: TypeAlias = Annotated[
    str,
    Option(
        metavar="name|size",
        callback=one_of("name", "size"),
        complete=among(("name", "size")),
        help="Order of the classes, of groups that of the groups; size puts the largest first.",
    ),
]
ShowTable: TypeAlias = Annotated[
    bool,
    Option(help="Print the table too where a file is written, which otherwise stands there alone."),
]


Quiet: TypeAlias = Annotated[
    bool,
    Option(
        names=("--quiet", "-q"), callback=be_quiet, help="On the standard error, say only what is serious: no progress."
    ),
]
Plot: TypeAlias = Annotated[
    str | None, Option(metavar="FILE.png|svg|pdf", help="Draw the shares and their intervals, with --all-methods all.")
]
Strict: TypeAlias = Annotated[
    bool, Option(help="Exit with code 3 also when a finding is serious; see above which are.")
]
