"""What tests ask of the page's server: work of a moment, and work of many seconds."""

SURVEY = {"survey": {"positive": ["5/50"], "sensitivity": ["9/10"], "specificity": ["9/10"]}}
MANY = 12
LONG = {
    "matrix": {
        "classes": [f"c{at}" for at in range(MANY)],
        "outputs": [f"c{at}" for at in range(MANY)],
        "labeled": [[40 if at == to else 8 for to in range(MANY)] for at in range(MANY)],
        "unlabeled": [100 + 10 * at for at in range(MANY)],
    },
    "half_width": "1%",
}
"""Work of many seconds."""
