"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
GROUPS = (PROJECT / "docs" / "guides" / "groups.md").read_text(encoding="utf-8")
COMMAND_LINE = (PROJECT / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")


def test_the_python_block_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.startswith("class")
    assert (tmp_path / "answer.npz").exists()


def test_the_first_two_bash_blocks_are_one_line_each():
    blocks = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    assert [block.count("\n") for block in blocks[:2]] == [1, 1]


def test_the_table_shown_is_the_demo_s():
    done = subprocess.run([sys.executable, "-m", "truecount", "demo"], capture_output=True, text=True, check=True)
    [shown] = re.findall(r"```text\n(class  counted.*?)```", README, flags=re.DOTALL)
    assert shown in done.stdout


def test_the_files_of_counts_are_estimated_as_printed(tmp_path):
    for start, name in ((r"class\\output", "confusion.csv"), (r"fail,pass", "outputs.csv")):
        [shown] = re.findall(rf"```text\n({start}.*?)```", COMMAND_LINE, flags=re.DOTALL)
        (tmp_path / name).write_text(shown)
    [line] = [line for line in README.splitlines() if line.startswith("truecount estimate --confusion")]
    arguments = line.partition("#")[0].split()[1:]
    done = subprocess.run([sys.executable, "-m", "truecount", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("class  counted"), done.stderr


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)]+)\)", README))
def test_links_lead_somewhere(target):
    assert (PROJECT / target).exists()


@pytest.mark.parametrize(("name", "page"), [("judge", README), ("models", GROUPS)])
def test_pictures_show_what_is_printed(name, page):
    """``python scripts/pictures.py`` draws them, and writes the answer beside the picture."""
    image = pytest.importorskip("PIL.Image")
    with image.open(PROJECT / "docs" / f"{name}.png") as picture:
        drawn = picture.info["Description"]
    shown = page.encode("ascii", "replace").decode()
    assert [line for line in drawn.splitlines() if not line.startswith("info") and line not in shown] == []


def test_it_is_short():
    """A minute or two, for what is not code or a list of links."""
    read = re.sub(r"```.*?```", "", README.partition("## Documentation")[0], flags=re.DOTALL)
    assert len(re.sub(r"\]\([^)]*\)", "]", read).split()) < 480
