# SPDX-License-Identifier: GPL-2.0-or-later
"""Every JSON document against its schema: JSON only grows.

schemas/NAME.json says which keys there must be and of which type; a key that
is not listed is a failure too, so that the schema grows with the document.
"""

import json
from pathlib import Path

import jsonschema
import pytest

SCHEMAS = Path(__file__).parent / "schemas"
FAST = ["--recipe", "imagenet-train:size=32", "--batch", "8"]


def check(document):
    name = document["schema"].removeprefix("dlboost-")
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.validate(document, schema)
    assert document["version"] == 1


CASES = {
    "run": ["run", "{good}", *FAST],
    "run with everything": ["run", "{bad}", *FAST, "--on-error", "zero",
                            "--max-bad", "1", "--digest", "--contact-sheet",
                            "{tmp}/s.png", "--state-out",
                            "{tmp}/state", "--quarantine", "{tmp}/q"],
    "index": ["index", "{good}"],
    "info": ["info", "{bad}"],
    "info of a file": ["info", "{good}/cat/00.jpg"],
    "decode": ["decode", "{good}/cat/00.jpg", "--recipe", "imagenet-train"],
    "recipes": ["recipe", "list"],
    "recipe": ["recipe", "show", "imagenet-train"],
    "engines": ["engine", "list"],
    "engine": ["engine", "show", "cpu"],
    "selftest": ["selftest", "--golden", "{golden}"],
    "stats": ["stats"],
    "plan": ["plan", "alexnet"],
    "plan with everything": ["plan", "alexnet", "vgg16", "--full", "--jitter",
                             "5%", "--svg", "{tmp}/t.svg"],
    "bench": ["bench", "{good}", "--seconds", "1", "--pictures", "4"],
}


def one_line_table(folder, tree):
    """A golden table of its first case, so that this test is quick."""
    table = (tree / "tests/golden/table.tsv").read_text().splitlines()
    case = next(line for line in table if not line.startswith("#"))
    pictures = folder / "pictures"
    pictures.mkdir()
    name = case.split("\t")[0]
    (pictures / name).write_bytes(
        (tree / "tests/golden/pictures" / name).read_bytes())
    (folder / "table.tsv").write_text(case + "\n")
    return case


@pytest.mark.parametrize("name", CASES)
def test_document_fits_its_schema(dlboost, good, bad, tree, tmp_path, name):
    golden = tmp_path / "golden"
    golden.mkdir()
    one_line_table(golden, tree)
    args = [a.format(good=good, bad=bad, tmp=tmp_path, golden=golden)
            for a in CASES[name]]
    out, _ = dlboost.run(*args, "-j")
    assert out.count("\n") == 1
    check(json.loads(out))
    pretty, _ = dlboost.run(*args, "-p")
    assert pretty.count("\n") > 3
    assert json.loads(pretty).keys() == json.loads(out).keys()


def test_failures_have_the_same_keys(dlboost, bad):
    for args, code in ((["run", bad, *FAST], 1),
                       (["run", bad, *FAST, "--on-error", "zero"], 5),
                       (["decode", bad / "cat/page.jpg"], 1)):
        check(dlboost.json(*args, code=code))


def test_verify_lines(dlboost, bad):
    out, _ = dlboost.run("verify", bad, "-j", "-v", code=5)
    head, *rows, last = map(json.loads, out.splitlines())
    check(head)
    schema = json.loads((SCHEMAS / "verify-line.json").read_text())
    for row in rows:
        jsonschema.validate(row, schema)
    jsonschema.validate(last, json.loads(
        (SCHEMAS / "verify-totals.json").read_text()))


def test_batches_manifest(dlboost, good, tmp_path):
    dlboost.run("run", good, *FAST, "--out", tmp_path / "out")
    text = (tmp_path / "out/manifest.jsonl").read_text()
    head, *rows = map(json.loads, text.splitlines())
    check(head)
    for row in rows:
        assert row.keys() == {"epoch", "batch_idx", "nr_samples", "images",
                              "labels", "ids", "status", "paths"}


def test_plan_check(dlboost, tmp_path):
    (tmp_path / "plan.json").write_text(
        dlboost.run("plan", "alexnet", "-j", "--full")[0])
    check(dlboost.json("plan", "--check", tmp_path / "plan.json"))


def test_selftest_notices_wrong_pixels(dlboost, tree, tmp_path):
    case = one_line_table(tmp_path, tree)
    doc = dlboost.json("selftest", "--golden", tmp_path)
    assert (doc["nr_golden"], doc["nr_failed"]) == (1, 0)
    digest = case.split("\t")[-1]
    wrong = ("0" if digest[0] != "0" else "1") + digest[1:]
    (tmp_path / "table.tsv").write_text(case.replace(digest, wrong) + "\n")
    doc = dlboost.json("selftest", "--golden", tmp_path, code=1)
    assert doc["nr_failed"] == 1
    assert doc["failures"][0]["case"].startswith(case.split("\t")[0])
    out, _ = dlboost.run("selftest", "--golden", tmp_path, code=1)
    assert out.startswith("FAILED")


def test_selftest_finds_the_table_by_the_environment(dlboost, tree, tmp_path):
    one_line_table(tmp_path, tree)
    dlboost.env["DLBOOST_GOLDEN_DIR"] = str(tmp_path)
    doc = dlboost.json("selftest")
    assert doc["golden_dir"] == str(tmp_path) and doc["nr_golden"] == 1
    dlboost.env["DLBOOST_GOLDEN_DIR"] = str(tmp_path / "nosuch")
    doc = dlboost.json("selftest")
    assert doc["golden_dir"] is None and doc["nr_builtin"] > 10


def test_labels_of_a_manifest_may_be_huge(dlboost, good, tmp_path):
    """One line makes the number of classes 2**31: no list of them is made."""
    pictures = sorted(good.rglob("*.jpg"))[:3]
    manifest = tmp_path / "m.tsv"
    for last, nr_listed in ((6, 7), (2147483647, 0)):
        labels = (-1, 4, last)
        manifest.write_text("".join(f"{path}\t{label}\n" for path, label
                                    in zip(pictures, labels)))
        doc = dlboost.json("info", manifest, "--histogram",
                           tmp_path / "h.png", timeout=30)
        check(doc)
        assert doc["nr_classes"] == last + 1
        assert len(doc["classes"]) == nr_listed
        out, _ = dlboost.run("info", manifest, timeout=30)
        assert str(last + 1) in out or not nr_listed
        folder = tmp_path / f"out{last}"
        dlboost.run("run", manifest, "--batch", "3", "--no-shuffle", "--out",
                    folder, "--contact-sheet", tmp_path / "s.png", timeout=30)
        head = json.loads((folder / "manifest.jsonl").read_text()
                          .splitlines()[0])
        check(head)
        assert head["nr_classes"] == last + 1
        assert head["classes"] == [None] * nr_listed
