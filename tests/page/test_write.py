"""The page as text: what it says, how little it weighs, and that it can be repeated."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import truecount as tc
from made_counts import groups_of
from made_posterior import made_posterior
from pictures import HARD, posterior_of
from truecount.errors import InputError
from truecount.models import Model
from truecount.page.answer import confusion_table, counts_lines, fit_table, render
from truecount.page.reproduce import python
from truecount.results.summary import Look, tabulate

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
MOST_BYTES = 500_000


class Reader(HTMLParser):
    """Collects what a reader sees, what stands in attributes, and whether tags are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.text = " ".join(
            " ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "").split()
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return render(made_posterior(), command="truecount estimate")  # type: ignore[arg-type]


def test_it_opens_with_the_answer_and_says_all_that_is_asked_for(page: str) -> None:
    text, posterior = Reader(page).text, made_posterior()
    rows = tabulate(posterior).rows
    span = " ".join(rows[0][3].split())
    order = [
        f"Of the population, about {rows[0][2]} are “fail” (95 % interval {span}) and {rows[1][2]} “pass”",
        "class counted true share 95 % interval",
        "True share of every class",
        "Nothing was found in these data",
        "How it was computed",
        "Labelled items are a random sample of their class, and were not chosen by their output.",
        "truecount estimate",
        "Prior of the shares",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    for number in ("60.0 %", "Seed", "140", "180"):
        assert number in text


def test_level_kind_and_target_change_the_page() -> None:
    usual = render(made_posterior())  # type: ignore[arg-type]
    for change in ({"level": 0.5}, {"kind": "hdi"}, {"target": "realized"}):
        assert render(made_posterior(), Look(**change)) != usual  # type: ignore[arg-type]
    assert "Of these items" in render(made_posterior(), Look(target="realized"))


def test_many_classes_are_summed_up(page: str) -> None:
    text = Reader(render(posterior_of([f"class {number}" for number in range(8)]))).text  # type: ignore[arg-type]
    assert "; 5 more classes share the rest" in text
    assert "“class 0” (95 % interval" in text


def test_counts_of_many_classes_have_a_line_for_each_and_nothing_is_dropped() -> None:
    rng = np.random.default_rng(0)
    labeled = rng.poisson(0.5, (60, 60)) + 9 * np.eye(60, dtype=int)
    labeled[3], labeled[5, :], labeled[5, [1, 2, 4, 7, 9]] = 0, 0, [5, 4, 3, 2, 1]
    counts = tc.Counts(labeled, rng.poisson(20, 60))
    *lines, unlabelled = counts_lines(counts).rows
    numbers = [
        sum(int(part.rpartition(": ")[2].replace(",", "")) for part in line[2].split(", ") if ": " in part)
        for line in (*lines, unlabelled)
    ]
    assert numbers == [*labeled.sum(axis=1).tolist(), counts.unlabeled.sum()]
    assert lines[3][1:] == ["0", "none"]
    assert lines[5][1:] == ["15", "1: 5, 2: 4, 4: 3, 7: 2, 9: 1"]
    assert "56 more outputs" in unlabelled[2]
    posterior = tc.infer(counts, tc.SamePopulation(), engine=tc.Auto(50))
    text = Reader(render(posterior)).text
    assert lines[0][2] in text
    assert "class \\ output" not in text


def test_the_same_answer_gives_the_same_page(page: str) -> None:
    assert render(made_posterior(), command="truecount estimate") == page  # type: ignore[arg-type]


def test_names_and_findings_are_escaped() -> None:
    odd = tc.Finding("few-labels", "serious", "<b>bold</b>", {}, '"&<i>')
    posterior = made_posterior(classes=["<script>alert(1)</script>", "\"'&\x1b\n"], findings=(odd,))
    page = render(posterior, title="<u>", command="<s>")  # type: ignore[arg-type]
    read = Reader(page)
    assert not {"script", "b", "i", "u", "s"} & {tag for tag, _ in read.tags}
    assert "<script>alert(1)</script>" in read.text
    assert "Not to be used as it stands: <b>bold</b>" in read.text
    assert "\x1b" not in page
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for tag, attributes in Reader(page).tags:
        assert tag not in ("script", "img", "iframe", "object")
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert not re.search(r"url\((?!#)|@import", page)


def test_names_within_are_there_once(page: str) -> None:
    names = [attributes["id"] for _, attributes in Reader(page).tags if "id" in attributes]
    assert len(set(names)) == len(names)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', page)
    assert used
    assert set(used) <= set(names)


@pytest.mark.parametrize("classes", [[f"class {number}" for number in range(10)], [str(n) * 200 for n in range(10)]])
def test_ten_classes_weigh_little(classes: list[str], tmp_path: Path) -> None:
    tc.report(posterior_of(classes), tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size < MOST_BYTES


@pytest.mark.parametrize("case", HARD)
def test_every_class_is_in_the_table_in_full(case: str) -> None:
    posterior = HARD[case]()
    text = "".join(Reader(render(posterior)).words)  # type: ignore[arg-type]
    assert all(str(name) in text for name in posterior.classes)


def test_what_the_box_does_stands_in_rows_of_classes() -> None:
    posterior = posterior_of(["a", "b", "c"])
    table = confusion_table(posterior, 0.5)
    assert table is not None
    name, cells = table.rows[1]
    low, high = 100 * np.quantile(posterior.confusion[:, 1, 2], [0.25, 0.75])
    share, mean, span = cells[2]
    assert name == "b"
    assert share == pytest.approx(posterior.confusion[:, 1, 2].mean())
    assert (mean, span) == (f"{100 * share:.0f}", f"{low:.0f} – {high:.0f}")
    assert confusion_table(HARD["sixty"](), 0.5) is None


def test_outputs_that_no_mix_explains_do_not_agree() -> None:
    rows = fit_table(made_posterior(), 0.95)
    assert [row[:2] for row in rows] == [("fail", "600"), ("pass", "400")]
    far = made_posterior(counts=tc.Counts([[9, 1], [1, 9]], [5000, 0]))
    assert [row[3] for row in fit_table(far, 0.95)] == ["no", "no"]
    nothing = made_posterior(counts=tc.Counts([[3, 1], [1, 3]], [0, 0]))
    assert fit_table(nothing, 0.95) == []


@pytest.mark.parametrize(
    ("prior", "engine"),
    [
        (tc.Prior(), tc.Auto()),
        (tc.Prior({"fail": 2, "pass": 1}, "sparse"), tc.Exact(draws=500)),
        (tc.Prior.diagonal(2.0), tc.Gibbs(draws=400, chains=2, warmup=50)),
        (tc.Prior.known_confusion([[0.7, 0.3], [float("nan")] * 2]), tc.Auto(effective_draws=1000)),
    ],
    ids=["usual", "sparse", "diagonal", "known"],
)
@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
def test_the_python_shown_draws_the_same_again(prior: tc.Prior, engine: object, tmp_path: Path, capsys: object) -> None:
    posterior = tc.infer(COUNTS, prior=prior, engine=engine, seed=5)
    tc.report(posterior, tmp_path / "a.html")
    [code] = re.findall(r'<code id="python">(.*?)</code>', (tmp_path / "a.html").read_text(), flags=re.DOTALL)
    assert unescape(code) == python(posterior)
    again: dict[str, tc.Posterior] = {}
    exec(unescape(code), again)  # noqa: S102
    np.testing.assert_array_equal(again["posterior"].prevalence, posterior.prevalence)


@pytest.mark.parametrize("model", [tc.SamePopulation(), tc.ByPrediction(), tc.ByPrediction([0.5, 2])], ids=repr)
def test_other_models_say_what_they_assume_and_are_reproduced(model: Model) -> None:
    posterior = tc.infer(COUNTS, model, seed=2)
    text = Reader(render(posterior)).text  # type: ignore[arg-type]
    assert "The classifier treats each class alike" not in text
    assert "come from the population itself" in text
    again: dict[str, tc.Posterior] = {}
    exec(python(posterior), again)  # noqa: S102
    np.testing.assert_array_equal(again["posterior"].prevalence, posterior.prevalence)


@pytest.mark.parametrize("by", [None, ["A", "A", "B", "B"]], ids=["counts", "groups"])
def test_clusters_and_several_classifiers_are_not_called_independent_items_and_one(by: object, tmp_path: Path) -> None:
    said = {"gpt4": ["x", "x", "y", "y"] * 2, "bem": ["x", "y", "y", "x"] * 2}
    pairs = {"cluster": [0, 0, 1, 1, 2, 2, 3, 3], "new_cluster": [4, 4, 5, 5]}
    counts = tc.count(["x", "y"] * 4, said, {name: column[:4] for name, column in said.items()}, by=by, **pairs)
    tc.report(tc.infer(counts, engine=tc.Auto(40)), tmp_path / "page.html")
    text = Reader((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "Their 4 outputs are what gpt4 and bem said, in this order." in text
    assert "Clusters are independent of each other." in text
    assert "Items are independent" not in text


def test_draws_that_the_counts_alone_do_not_give_are_said_to_be_others() -> None:
    groups = groups_of(COUNTS, {"first": [600, 400], "second": [500, 500]})
    posterior = tc.infer_many(groups)["first"]
    again: dict[str, tc.Posterior] = {}
    exec(python(posterior), again)  # noqa: S102
    assert not np.array_equal(again["posterior"].prevalence[:100], posterior.prevalence[:100])
    assert "Solved together with other problems" in Reader(render(posterior)).text  # type: ignore[arg-type]
    [alone] = tc.infer_many([COUNTS], engine=tc.Exact(100))
    exec(python(alone), again)  # noqa: S102
    np.testing.assert_array_equal(again["posterior"].prevalence, alone.prevalence)
    assert "infer_many" not in python(alone)


def test_names_with_quotes_are_repeated_too() -> None:
    names = ["it's", '"\\n', "é\n日"]
    posterior = tc.infer(tc.Counts(np.eye(3, dtype=int) * 9, [3, 4, 5], classes=names))
    again: dict[str, tc.Posterior] = {}
    exec(python(posterior).replace("print(posterior)", ""), again)  # noqa: S102
    assert again["posterior"].classes == posterior.classes


def test_bad_places_and_bad_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        tc.report(made_posterior(), tmp_path)
    with pytest.raises(InputError, match="posterior is of type Counts"):
        tc.report(COUNTS, tmp_path / "a.html")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="level"):
        tc.report(made_posterior(), tmp_path / "a.html", level=2)
    assert list(tmp_path.iterdir()) == []


def test_nothing_global_changes(tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    tc.report(made_posterior(), tmp_path / "a.html")
    assert dict(mpl.rcParams) == before
