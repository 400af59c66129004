"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


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
        [shown] = re.findall(rf"```text\n({start}.*?)```", README, flags=re.DOTALL)
        (tmp_path / name).write_text(shown)
    [line] = [line for line in README.splitlines() if line.startswith("truecount estimate --confusion")]
    arguments = line.partition("#")[0].split()[1:]
    done = subprocess.run([sys.executable, "-m", "truecount", *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("class  counted"), done.stderr


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)]+)\)", README))
def test_links_lead_somewhere(target):
    assert (Path(__file__).parent.parent / target).exists()
