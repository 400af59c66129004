"""Examples that the page offers: published surveys, a judge, a classifier of three classes."""

from typing import Any

from truecount.examples import JUDGE

EXAMPLES: tuple[dict[str, Any], ...] = (
    {
        "name": "judge",
        "title": "A language model judges answers",
        "words": "1,500 verdicts on a new release, and 300 answers of the release before that people read too.",
        "state": {
            "in": "file",
            "file": {"place": "example:judge", "label": ["human"], "prediction": ["verdict"]},
        },
    },
    {
        "name": "santa-clara",
        "title": "An antibody survey",
        "words": "50 of 3,330 people tested positive; the test found 103 of 122 cases and passed 399 of 401 others.",
        "state": {
            "in": "survey",
            "survey": {"positive": ["50/3330"], "sensitivity": ["103/122"], "specificity": ["399/401"]},
        },
    },
    {
        "name": "below-zero",
        "title": "Fewer positives than false alarms",
        "words": "6 of 151 tested positive, though the test is wrong for 5 % of the healthy: the usual formula "
        "gives a share below zero.",
        "state": {
            "in": "survey",
            "survey": {"positive": ["6/151"], "sensitivity": ["90%"], "specificity": ["95%"]},
        },
    },
    {
        "name": "known-rates",
        "title": "Rates from the literature",
        "words": "45 of 150 tested positive, by a test whose published rates are taken as known.",
        "state": {"in": "survey", "survey": {"positive": ["45/150"], "sensitivity": ["96%"], "specificity": ["89%"]}},
    },
    {
        "name": "regions",
        "title": "Three regions, one test",
        "words": "The same survey in three places: which has the larger share?",
        "state": {
            "in": "survey",
            "survey": {
                "positive": ["north=96/1200", "south=71/1100", "west=34/900"],
                "sensitivity": ["103/122"],
                "specificity": ["399/401"],
            },
        },
    },
    {
        "name": "million",
        "title": "A million items",
        "words": "So many items that only the labels are left to doubt.",
        "state": {
            "in": "matrix",
            "matrix": {
                "classes": ["negative", "positive"],
                "outputs": ["negative", "positive"],
                "labeled": [[450, 50], [60, 440]],
                "unlabeled": [700000, 300000],
            },
        },
    },
    {
        "name": "species",
        "title": "Three species in photographs",
        "words": "A camera trap names animals, and sometimes abstains.",
        "state": {
            "in": "matrix",
            "matrix": {
                "classes": ["deer", "fox", "hare"],
                "outputs": ["deer", "fox", "hare", "unsure"],
                "labeled": [[172, 6, 3, 19], [9, 121, 14, 16], [4, 21, 98, 17]],
                "unlabeled": [2310, 1180, 640, 410],
            },
        },
    },
    {
        "name": "map",
        "title": "Areas of a map",
        "words": "Pixels were sampled by what the map says: the labels are stratified by output.",
        "state": {
            "in": "matrix",
            "design": "by-prediction",
            "matrix": {
                "classes": ["forest", "water", "other"],
                "outputs": ["forest", "water", "other"],
                "labeled": [[66, 1, 5], [2, 55, 3], [7, 4, 92]],
                "unlabeled": [200000, 150000, 3200000],
            },
        },
    },
)
"""Each with a name, words, and the state of the page that shows it."""
FILES = {"example:judge": str(JUDGE)}
"""Files that ship with the package, by what the page calls them."""
