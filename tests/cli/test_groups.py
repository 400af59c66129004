"""One joint answer for all groups: tables, files, comparisons, trends, studies, alerts; and what is refused."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import truecount as tc
from made_groups import made_answer, refused
from truecount.cli.app import app

COLUMNS = ["--label", "human", "--prediction", "verdict"]
ROWS = {("fail", "fail"): 140, ("fail", "pass"): 60, ("pass", "fail"): 20, ("pass", "pass"): 180}
WEEKS = {"2024-01-01": (300, 200), "2024-01-09": (250, 250), "2024-01-10": (10, 40), "2024-01-29": (200, 300)}


@pytest.fixture
def table(tmp_path: Path) -> str:
    lines = ["human,verdict,day,region,site,size"]
    for at, ((human, verdict), number) in enumerate(ROWS.items()):
        lines += [f"{human},{verdict},,,{'xy'[at % 2]},"] * (number // 2)
        lines += [f"{human},{verdict},,,{'yx'[at % 2]},"] * (number - number // 2)
    for at, (day, numbers) in enumerate(WEEKS.items()):
        for verdict, number in zip(("fail", "pass"), numbers, strict=True):
            lines += [f",{verdict},{day},{'north' if at < 3 else 'south'},,{7 if at < 1 else 9}"] * number
    (tmp_path / "runs.csv").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "runs.csv")


@pytest.fixture
def drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer with draws around the counted shares, without an engine: here only what is shown is looked at."""

    def infer(groups, model, engine, seed):
        counted = groups.unlabeled[:, :2] / np.maximum(groups.unlabeled[:, :2].sum(axis=1, keepdims=True), 1)
        shares = dict(zip(groups.groups, np.where(counted.sum(axis=1, keepdims=True) > 0, counted, 0.5), strict=True))
        return made_answer(shares, classes=groups.classes, outputs=groups.outputs, data=groups, model=_whole(model))

    monkeypatch.setattr("truecount.cli.groups.infer_groups", infer)


def _whole(model: tc.LabelShift) -> tc.LabelShift:
    return tc.LabelShift(model.prior, groups=model.groups or tc.Pooled(), confusion=model.confusion)


def estimate(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["estimate", *arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stdout + done.stderr


def counts(table: str, by: tc.counts.counting.By, **options: str) -> tc.Groups:
    return tc.count_table(table, label="human", prediction="verdict", by=by, **options)


def test_groups_are_answered_jointly(table: str) -> None:
    summary = json.loads(estimate(table, *COLUMNS, "--by", "day:week", "--json", "-", "--seed", "3"))
    wanted = tc.infer(counts(table, {"day": "week"}), seed=3)
    assert (summary["schema"], summary["by"], summary["status"]) == ("truecount.estimates/2", ["day"], wanted.status)
    found = [[row["mean"] for row in group["classes"]] for group in summary["groups"]]
    assert np.array(found) == pytest.approx(wanted.mean)
    assert summary["model"]["groups"]["name"] == "Pooled"


def test_independent_groups_have_a_model_of_their_own(table: str) -> None:
    summary = json.loads(estimate(table, *COLUMNS, "--by", "day:week", "--independent", "--json", "-"))
    assert summary["model"]["groups"]["name"] == "Independent"


def test_a_trend_walks_from_week_to_week_and_predicts_those_without_data(table: str) -> None:
    summary = json.loads(estimate(table, *COLUMNS, "--trend", "day:week", "--json", "-"))
    assert summary["model"]["groups"]["name"] == "Walk"
    days = [group["group"] for group in summary["groups"]]
    assert days == [["2024-01-01"], ["2024-01-08"], ["2024-01-15"], ["2024-01-22"], ["2024-01-29"]]
    assert [group["items"] for group in summary["groups"]] == [500, 550, 0, 0, 500]
    assert "group-without-items" in [finding["code"] for finding in summary["findings"]]
    assert {tuple(row["second"]) for row in summary["changes_since"]} == {("2024-01-01",)}


@pytest.mark.usefixtures("drawn_at_once")
class TestWhatIsShown:
    def test_the_table_has_one_of_two_classes(self, table: str) -> None:
        shown = estimate(table, *COLUMNS, "--by", "region").splitlines()
        assert shown[1].split()[:7] == ["region", "items", "counted", "on", "its", "own", "true"]
        assert [line.split()[0] for line in shown[2:4]] == ["north", "south"]
        assert any(line.startswith("south − north") for line in shown)
        assert estimate(table, *COLUMNS, "--by", "region", "--class", "fail").startswith("fail: from")

    def test_labels_by_study_let_the_confusion_vary(self, table: str) -> None:
        summary = json.loads(estimate(table, *COLUMNS, "--by", "region", "--study", "site", "--json", "-"))
        assert summary["model"]["confusion"]["name"] == "Varying"
        assert summary["counts"]["studies"] == ["x", "y"]
        alone = json.loads(estimate(table, *COLUMNS, "--study", "site", "--json", "-"))
        assert [group["group"] for group in alone["groups"]] == [["all"]]

    def test_two_groups_are_compared(self, table: str) -> None:
        arguments = [table, *COLUMNS, "--by", "day:week", "--json", "-"]
        (fail, good) = json.loads(estimate(*arguments, "--compare", "2024-01-29", "2024-01-01"))["comparisons"]
        assert (good["first"], good["second"], good["class"]) == (["2024-01-29"], ["2024-01-01"], "pass")
        assert good["difference"] == pytest.approx(-fail["difference"])
        assert good["probability_larger"] > 0.9
        assert good["ratio"] == pytest.approx(1.5, abs=0.1)

    def test_all_are_compared_with_a_baseline_or_with_each_other(self, table: str) -> None:
        arguments = [table, *COLUMNS, "--by", "region", "--by", "site", "--json", "-"]
        found = json.loads(estimate(*arguments, "--baseline", "north (none)"))
        assert found["baseline"] == ["north", None]
        assert {tuple(row["second"]) for row in found["comparisons"]} == {("north", None)}
        assert len(json.loads(estimate(*arguments, "--all-pairs"))["comparisons"]) == 2

    def test_thresholds_raise_alerts_and_strict_ends_with_code_3(self, table: str) -> None:
        arguments = [table, *COLUMNS, "--by", "day:week", "--above", "pass=80%"]
        assert "P(above 80.0 %)" in estimate(*arguments)
        said = estimate(*arguments, "--strict", code=3)
        assert "Alert: not-above (2024-01-01)" in said
        assert "P(below 90.0 %)" in estimate(table, *COLUMNS, "--by", "region", "--below", "pass=0.9", "--strict")

    def test_a_change_is_told_and_strict_ends_with_code_3(self, tmp_path: Path) -> None:
        groups = {f"2024-01-{1 + 7 * week:02d}": [500, 500] if week < 3 else [300, 700] for week in range(5)}
        data = tc.Groups([[90, 10], [20, 80]], groups, ["fail", "pass"], by=["week"])
        (tmp_path / "weeks.json").write_text(data.to_json(), encoding="utf-8")
        said = estimate(str(tmp_path / "weeks.json"), "--trend", "week", "--strict", code=3)
        assert "Alert: The share of pass changed" in said
        assert "Alert: changed (2024-01-29)." in said
        estimate(str(tmp_path / "weeks.json"), "--trend", "week")

    def test_every_kind_of_file_is_written(self, table: str, tmp_path: Path) -> None:
        names = {kind: tmp_path / f"answer.{kind}" for kind in ("json", "csv", "parquet", "html")}
        files = [word for kind, path in names.items() for word in (f"--{kind}", str(path))]
        picture = tmp_path / "answer.png"
        title = ["--title", "Which <region>?"]
        assert estimate(table, *COLUMNS, "--by", "region", *files, "--plot", str(picture), *title) == ""
        assert json.loads(names["json"].read_text(encoding="utf-8"))["by"] == ["region"]
        rows = list(csv.DictReader(io.StringIO(names["csv"].read_text(encoding="utf-8"))))
        assert [(row["region"], row["class"]) for row in rows[:2]] == [("north", "fail"), ("north", "pass")]
        assert names["parquet"].read_bytes().startswith(b"PAR1")
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert "<h1>Which &lt;region&gt;?</h1>" in names["html"].read_text(encoding="utf-8")

    def test_one_class_of_interest_is_alone_in_the_csv(self, table: str) -> None:
        shown = estimate(table, *COLUMNS, "--by", "region", "--class", "fail", "--csv", "-")
        assert [row["class"] for row in csv.DictReader(io.StringIO(shown))] == ["fail", "fail"]

    def test_groups_are_sorted_by_size(self, table: str) -> None:
        shown = estimate(table, *COLUMNS, "--by", "region", "--sort", "size").splitlines()
        assert [line.split()[0] for line in shown[2:4]] == ["south", "north"]

    def test_counts_of_groups_are_estimated(self, table: str, tmp_path: Path) -> None:
        output = str(tmp_path / "weeks.json")
        CliRunner().invoke(app, ["counts", table, *COLUMNS, "--by", "day:week", "-o", output], catch_exceptions=False)
        assert estimate(output) == estimate(table, *COLUMNS, "--by", "day:week")
        assert "following a walk" in estimate(output, "--trend", "day")

    def test_several_surveys_are_groups(self) -> None:
        surveys = ["--positive", "north=50/3330", "--positive", "south=71/2900", "--positive", "west=9/800"]
        shown = estimate(*surveys, "--sensitivity", "103/122", "--specificity", "399/401")
        assert [line.split()[0] for line in shown.splitlines()[2:5]] == ["north", "south", "west"]

    def test_covariates_tell_groups_apart(self, table: str) -> None:
        arguments = [table, *COLUMNS, "--by", "day:week", "--json", "-"]
        numbers = json.loads(estimate(*arguments, "--covariate", "size"))["model"]["groups"]["covariates"]
        assert numbers == {"size": {"2024-01-01": 7.0, "2024-01-08": 9.0, "2024-01-29": 9.0}}
        named = json.loads(estimate(*arguments, "--covariate", "region"))["model"]["groups"]["covariates"]
        assert list(named) == ["region=south"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--compare", "A", "B"], "--compare is given without groups: it says something of several groups. Add --by"),
        (["--above", "pass=80%", "--above", "pass=90%"], "--above names 'pass' 2 times"),
        (["--by", "region", "--compare", "A", "A"], "--compare names 'A' twice: a comparison is of two groups"),
        (["--by", "region", "--compare", "A", "B", "--baseline", "A"], "--compare is given with --baseline"),
        (["--by", "region", "--compare", "A", "B", "--all-pairs"], "--compare is given with --all-pairs"),
        (["--by", "region", "--baseline", "A", "--all-pairs"], "--baseline is given with --all-pairs"),
        (["--by", "region", "--compare", "A", "B", "--csv", "-"], "--compare is given with files of groups alone"),
        (["--trend", "day:week", "--independent"], "--trend is given with --independent"),
        (["--trend", "day:week", "--by", "region"], "--trend is given with --by: a trend is one series of periods"),
        (["--trend", "day:week", "--covariate", "size"], "--trend is given with --covariate"),
        (
            ["--trend", "day:week", "--study", "site", "--new-study", "one"],
            "Write --by day:week in place of --trend day:week, or --new-study each",
        ),
        (["--by", "region", "--independent", "--covariate", "size"], "--independent is given with --covariate"),
        (["--by", "region", "--above", "pass=80%", "--above", "pass=90%"], "--above names 'pass' 2 times"),
        (["--by", "region", "--engine", "gibbs"], "--engine is 'gibbs': groups are drawn jointly"),
        (["--by", "region", "--baseline", "A", "--baseline", "B"], "--baseline is given 2 times"),
        (
            ["--by", "region", "--method", "acc"],
            "--method does not go with groups: it is of one population. Leave --method out, or pass the rows of one",
        ),
        (["--by", "region", "--method", "acc", "--compare", "A", "B"], "--compare"),
        (
            ["--by", "region", "--design", "same-population"],
            "--design does not go with groups: groups differ in their shares, and labels carry over from one to the "
            "other under label shift alone. If labels of a group are a random sample of it, give --random-labels",
        ),
        (["--by", "region", "--parquet", "a.csv"], "--parquet 'a.csv' ends in .csv"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_anything_is_read(options: list[str], said: str) -> None:
    assert said in " ".join(estimate("absent.csv", *COLUMNS, *options, code=2).split())


@pytest.mark.usefixtures("drawn_at_once")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "region", "--compare", "nort", "south"], r"--compare is 'nort': .*Perhaps you meant 'north'"),
        (["--by", "region", "--baseline", "east"], r"--baseline is 'east': the groups are 'north', 'south'"),
        (["--by", "region", "--class", "pss"], r"--class is 'pss': the classes are .* meant 'pass'"),
        (["--by", "region", "--above", "pss=80%"], r"--above is 'pss'"),
        (["--by", "region", "--above", "80%"], r"--above is '80%': it must name a class and a share"),
        (["--by", "dy:week"], r"no column 'dy'"),
        (["--trend", "region"], r"--trend finds the groups 'north', 'south': a trend needs times .* Write times like"),
        (["--trend", "region:week"], r"has 'north' in column 'region': periods are cut from times"),
        (["--by", "region", "--covariate", "verdict"], r"prediction is 'verdict', as is by"),
        (["--by", "region", "--covariate", "day"], r"--covariate says two things of north"),
        (["--by", "region", "--covariate", "site"], r"--covariate 'site' is missing for 'north', 'south'"),
        (["--by", "region", "--study", "size"], r"400 rows with a label and no study in column 'size'"),
        (["--by", "region", "--study", "human"], r"study is 'human', as is label"),
    ],
)
def test_what_is_not_in_the_data_is_refused_in_four_parts(table: str, options: list[str], said: str) -> None:
    with pytest.raises(tc.InputError, match=said) as caught:
        estimate(table, *COLUMNS, *options)
    assert all((caught.value.argument, caught.value.found, caught.value.needed, caught.value.remedy))


def test_groups_without_an_answer_say_so_everywhere_and_end_with_code_3(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truecount.cli.groups.infer_groups", lambda *_: refused())
    page, picture = tmp_path / "a.html", tmp_path / "a.png"
    files = ["--html", str(page), "--plot", str(picture), "--json", str(tmp_path / "a.json"), "--table"]
    said = estimate(table, *COLUMNS, "--by", "region", *files, code=3)
    assert "No answer: the chains of the 4 groups disagree" in said
    assert "No answer: not-converged." in said
    assert "No answer" in page.read_text(encoding="utf-8")
    assert picture.read_bytes().startswith(b"\x89PNG")
    summary = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert summary["status"] == "no-answer"
    assert summary["groups"][0]["classes"][0]["mean"] is None


def test_options_of_groups_are_refused_for_counts_of_one_population(tmp_path: Path) -> None:
    counted = tc.Counts([[9, 1], [2, 8]], [30, 20])
    (tmp_path / "counts.json").write_text(counted.to_json(), encoding="utf-8")
    assert "--all-pairs is given without groups" in estimate(str(tmp_path / "counts.json"), "--all-pairs", code=2)


def groups_file(folder: Path, groups: dict[str, list[int]], outputs: list[str]) -> str:
    data = tc.Groups(
        [[30, 10], [8, 42]] if len(outputs) == 2 else [[30, 10, 0], [8, 42, 0]], groups, ["a", "b"], outputs
    )
    (folder / "g.json").write_text(data.to_json(), encoding="utf-8")
    return str(folder / "g.json")


def test_an_empty_group_is_predicted_and_a_finding_says_so(tmp_path: Path) -> None:
    path = groups_file(tmp_path, {"day": [0, 0], "noon": [30, 35], "night": [30, 40]}, ["a", "b"])
    assert "day has no unlabelled items: the answer is a prediction" in estimate(path)


def test_outputs_that_no_label_has_are_told(tmp_path: Path) -> None:
    path = groups_file(tmp_path, {"day": [30, 20, 10], "noon": [30, 35, 0], "night": [30, 40, 0]}, ["a", "b", "odd"])
    assert "have the output odd, which no labelled item has" in estimate(path)


def test_one_group_only_is_answered_with_a_finding(tmp_path: Path) -> None:
    path = groups_file(tmp_path, {"day": [30, 20]}, ["a", "b"])
    shown = estimate(path)
    assert "one-group" in estimate(path, "--json", "-")
    assert "There is one group only" in shown


def test_counts_without_groups_are_refused(table: str, tmp_path: Path) -> None:
    lines = Path(table).read_text(encoding="utf-8").splitlines()
    labeled = "\n".join(line for line in lines if not line.startswith(","))
    (tmp_path / "labeled.csv").write_text(labeled, encoding="utf-8")
    output = str(tmp_path / "labeled.json")
    made = CliRunner().invoke(app, ["counts", str(tmp_path / "labeled.csv"), *COLUMNS, "--by", "region", "-o", output])
    assert made.exit_code == 0, made.output
    with pytest.raises(tc.InputError, match=r"labeled\.json: counts hold no groups: groups are made of unlabelled"):
        estimate(output)


STUDIES = ["--sensitivity", "78/85", "--sensitivity", "27/37", "--specificity", "368/371"]


class TestSurveys:
    """Rates of a test from several studies, and from published ranges."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch, drawn_at_once: None) -> list[tuple[tc.Groups, tc.LabelShift]]:
        """Return what was asked of the engine, in the order asked."""
        import truecount.cli.groups as module

        calls, infer = [], module.infer_groups

        def noted(groups, model, engine, seed):
            calls.append((groups, model))
            return infer(groups, model, engine, seed)

        monkeypatch.setattr(module, "infer_groups", noted)
        return calls

    def test_several_studies_let_a_rate_vary(self, asked) -> None:
        shown = estimate("--positive", "50/3330", *STUDIES)
        [(groups, model)] = asked
        assert groups.groups == ("survey",)
        assert dict(zip(groups.studies, groups.labeled.tolist(), strict=True)) == {
            "sensitivity 1": [[0, 0], [7, 78]],
            "sensitivity 2": [[0, 0], [10, 27]],
            "specificity 1": [[368, 3], [0, 0]],
        }
        assert model.confusion == tc.Varying(new_study="one")
        assert "survey" in shown

    @pytest.mark.parametrize(("more", "chosen"), [([], "one"), (["--new-study", "each"], "each")])
    def test_populations_of_one_command_are_one_new_study_by_default(self, asked, more, chosen) -> None:
        estimate("--positive", "north=50/3330", "--positive", "south=70/3000", *STUDIES, *more)
        [(_, model)] = asked
        assert model.confusion == tc.Varying(new_study=chosen)

    def test_labels_of_groups_may_be_random_samples(self, asked, tmp_path: Path) -> None:
        each = ["pass,pass", "fail,fail", "pass,fail", ",pass", ",fail"] * 4
        lines = ["human,verdict,site", *(f"{row},{site}" for site in "xyz" for row in each)]
        (tmp_path / "sites.csv").write_text("\n".join(lines), encoding="utf-8")
        estimate(str(tmp_path / "sites.csv"), *COLUMNS, "--by", "site", "--study", "site", "--random-labels")
        [(_, model)] = asked
        assert model.confusion == tc.Varying(random_labels=True)

    def test_a_new_study_is_refused_where_there_are_none(self) -> None:
        surveys = ["--positive", "north=50/3330", "--positive", "south=70/3000"]
        with pytest.raises(tc.InputError, match="--new-study is 'one': it says how groups share a study"):
            estimate(*surveys, "--sensitivity", "78/85", "--specificity", "368/371", "--new-study", "one")

    def test_several_populations_and_a_known_rate(self, asked) -> None:
        estimate("--positive", "north=50/3330", "--positive", "south=70/3000", *STUDIES[:4], "--specificity", "99.5%")
        [(groups, model)] = asked
        assert groups.groups == ("north", "south")
        assert groups.studies == ("sensitivity 1", "sensitivity 2")
        assert model.prior.known_for(groups.total)[0].tolist() == [0.995, 0.005]

    def test_a_range_of_one_rate_and_studies_of_the_other(self, asked) -> None:
        estimate("--positive", "50/3330", *STUDIES[:4], "--specificity", "99%..99.9%")
        [(groups, model)] = asked
        assert model.prior.confusion_for(groups.total)[1].tolist() == [1, 1]
        assert model.prior.confusion_for(groups.total)[0].sum() > 100

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--sensitivity", "78/85", "--sensitivity", "80%"], "--sensitivity is given 2 times: each of several"),
            (["--sensitivity", "80%..70%"], r"--sensitivity is '80%..70%': rates lie between 0 and 1"),
            (["--sensitivity", "1..2..3..4"], "a range has two ends, and perhaps a most likely value"),
            (["--sensitivity", "80%..x"], "--sensitivity is 'x': it must be a number"),
            (["--sensitivity", "80%..90%", "--prior-confusion", "sparse"], "--prior-confusion is given with a range"),
        ],
    )
    def test_what_is_no_rate_is_refused(self, options: list[str], said: str) -> None:
        with pytest.raises(tc.InputError, match=said) as caught:
            estimate("--positive", "50/3330", "--specificity", "368/371", *options)
        assert all((caught.value.argument, caught.value.found, caught.value.needed, caught.value.remedy))

    @pytest.mark.parametrize("verb", ["check", "plan", "estimate"])
    def test_ranges_are_refused_where_they_would_be_ignored(self, verb: str) -> None:
        given = ["--positive", "50/3330", "--sensitivity", "80%..90%", "--specificity", "368/371"]
        more = {"estimate": ["--method", "acc"], "plan": ["--budget", "100"]}.get(verb, [])
        done = CliRunner().invoke(app, [verb, *given, *more])
        assert done.exit_code == 2, done.output
        assert "takes no range" in " ".join(done.stderr.split())


def test_a_published_range_is_worth_labels() -> None:
    given = ["--positive", "500/3330", "--specificity", "399/401", "--json", "-"]
    done = CliRunner().invoke(app, ["estimate", *given, "--sensitivity", "75%..85%..92%"])
    assert "--sensitivity: most likely 85.0 %, from 75.0 to 92.0 %: worth" in " ".join(done.stderr.split())
    found = json.loads(done.stdout)["classes"][1]
    right, wrong = tc.Pert(0.85, 0.75, 0.92).shapes
    prior = tc.Prior(confusion={"negative": 1, "positive": {"negative": wrong, "positive": right}})
    counts = tc.Counts([[399, 2], [0, 0]], [2830, 500], ["negative", "positive"])
    assert found["mean"] == pytest.approx(tc.infer(counts, prior=prior).mean[1])
