# SPDX-License-Identifier: GPL-2.0-or-later
"""Promises of dlboost-run(1): order, resume, policies, outputs, signals."""

import hashlib
import io
import json
import re
import signal
import subprocess

import numpy
import pytest
from PIL import Image

from conftest import BAD, COLOURS, NR_CLASS

NR_GOOD = NR_CLASS * len(COLOURS)
SMALL = "imagenet-train:size=32"


def load(folder):
    """(header, rows, arrays joined over the batches) of --out DIR."""
    header, *rows = map(json.loads,
                        (folder / "manifest.jsonl").read_text().splitlines())
    arrays = {what: numpy.concatenate([numpy.load(folder / r[what])
                                       for r in rows])
              for what in ("images", "labels", "ids", "status")}
    return header, rows, arrays


def test_out_holds_every_sample_once(dlboost, good, tmp_path):
    doc = dlboost.json("run", good, "--batch", "5", "--recipe", SMALL, "--out",
                       tmp_path / "out")
    header, rows, arrays = load(tmp_path / "out")
    assert doc["end"] == "complete"
    assert doc["nr_samples"] == NR_GOOD
    assert sorted(arrays["ids"]) == list(range(NR_GOOD))
    assert arrays["images"].shape == (NR_GOOD, 3, 32, 32)
    assert arrays["images"].dtype == numpy.float32
    assert header["classes"] == sorted(COLOURS)
    assert header["sample_shape"] == [3, 32, 32]
    assert not arrays["status"].any()
    paths = [p for r in rows for p in r["paths"]]
    for path, label in zip(paths, arrays["labels"]):
        assert path.split("/")[-2] == sorted(COLOURS)[label]


def test_out_is_never_mixed_with_another_run(dlboost, good, tmp_path):
    args = ["run", good, "--recipe", SMALL, "--out", tmp_path / "out"]
    dlboost.run(*args)
    before = (tmp_path / "out/manifest.jsonl").read_bytes()
    _, err = dlboost.run(*args, code=1)
    assert "another run" in err
    assert (tmp_path / "out/manifest.jsonl").read_bytes() == before


def test_shuffles_and_no_shuffle_does_not(dlboost, good, tmp_path):
    for name, args in (("a", []), ("b", ["--seed", "1"]),
                       ("c", ["--no-shuffle"])):
        dlboost.run("run", good, "--recipe", SMALL, "--out", tmp_path / name,
                    *args)
    a, b, c = (list(load(tmp_path / n)[2]["ids"]) for n in "abc")
    assert c == list(range(NR_GOOD))
    assert a != b and a != c and b != c


def test_digest_is_sha256_of_what_out_holds(dlboost, good, tmp_path):
    doc = dlboost.json("run", good, "--batch", "8", "--recipe", SMALL,
                       "--digest", "--out", tmp_path / "out")
    _, rows, _ = load(tmp_path / "out")
    digest = hashlib.sha256()
    for row in rows:
        for what in ("images", "labels", "ids", "status"):
            digest.update(numpy.load(tmp_path / "out" / row[what]).tobytes())
    assert doc["digest_sha256"] == digest.hexdigest()


def test_digest_depends_on_seeds_alone(dlboost, good):
    def digest(*args):
        return dlboost.json("run", good, "--batch", "8", "--recipe", SMALL,
                            "--digest", *args)["digest_sha256"]

    base = digest("--engine", "cpu:workers=1")
    assert digest("--engine", "cpu:workers=3", "--slots", "9") == base
    assert digest("--engine", "cpu:workers=1", "--engine",
                  "cpu:workers=1") == base
    assert digest("--seed", "7") != base
    assert digest("--augment-seed", "7") != base
    assert digest("--epoch", "1") != base


@pytest.mark.parametrize("taken,world", [(1, 1), (2, 2), (3, 3)])
def test_resume_goes_on_without_loss_or_repetition(dlboost, good, tmp_path,
                                                   taken, world):
    common = ["run", good, "--batch", "4", "--recipe", SMALL]
    doc = dlboost.json(*common, "--batches", taken, "--state-out",
                       tmp_path / "state", "--out", tmp_path / "first")
    assert doc["end"] == "stopped" and doc["nr_samples"] == 4 * taken
    ids = list(load(tmp_path / "first")[2]["ids"])
    for rank in range(world):
        out = tmp_path / f"rank{rank}"
        dlboost.run(*common, "--resume", tmp_path / "state", "--rank", rank,
                    "--world", world, "--out", out)
        ids += list(load(out)[2]["ids"])
    assert sorted(ids) == list(range(NR_GOOD))


def test_epochs_count_from_the_first_one_also_when_resumed(dlboost, good,
                                                           tmp_path):
    state = tmp_path / "state"
    common = ["run", good, "--batch", "9", "--recipe", SMALL, "--state-out",
              state]
    doc = dlboost.json(*common, "--epochs", "2")
    assert (doc["nr_epochs"], doc["nr_samples"]) == (2, 2 * NR_GOOD)
    doc = dlboost.json(*common, "--epochs", "3", "--resume", state)
    assert doc["nr_samples"] == NR_GOOD
    _, err = dlboost.run(*common, "--epochs", "2", "--resume", state, code=2)
    assert "nothing to do" in err


def test_shards_join_to_the_data_set(dlboost, good, tmp_path):
    ids = []
    for rank in range(5):
        out = tmp_path / str(rank)
        dlboost.run("run", good, "--batch", "4", "--recipe", SMALL, "--rank",
                    rank, "--world", "5", "--out", out)
        ids += list(load(out)[2]["ids"])
    assert sorted(ids) == list(range(NR_GOOD))


def test_tail_drop_gives_full_batches_only(dlboost, good):
    doc = dlboost.json("run", good, "--batch", "10", "--recipe", SMALL,
                       "--tail", "drop")
    assert (doc["nr_batches"], doc["nr_samples"]) == (3, 30)
    doc = dlboost.json("run", good, "--batch", "10", "--recipe", SMALL,
                       "--tail", "pad")
    assert (doc["nr_batches"], doc["nr_samples"]) == (4, 40)


def test_fail_stops_at_a_bad_sample_and_names_it(dlboost, bad):
    out, err = dlboost.run("run", bad, "--batch", "4", "--recipe", SMALL, "-j",
                           code=1)
    doc = json.loads(out)
    assert doc["end"] == "bad_sample"
    assert any(name in doc["error"] for name in BAD)
    assert doc["error"] in err
    assert "--on-error" in err


def test_zero_counts_bad_files_by_class(dlboost, bad, tmp_path):
    doc = dlboost.json("run", bad, "--batch", "4", "--recipe", SMALL,
                       "--on-error", "zero", "--max-bad", "50%", "--out",
                       tmp_path / "out")
    found = {row["path"].split("/")[-1]: row["status"]
             for row in doc["bad_files"]}
    assert found == BAD
    assert doc["nr_bad"] == len(BAD) and doc["nr_replaced"] == 0
    assert doc["bad"]["NOT_AN_IMAGE"] == 2 and doc["bad"]["IO"] == 1
    _, _, arrays = load(tmp_path / "out")
    spoiled = arrays["status"] != 0
    assert spoiled.sum() == len(BAD)
    assert not arrays["images"][spoiled].any()
    assert arrays["images"][~spoiled].any(axis=(1, 2, 3)).all()


def test_a_bad_file_is_named_once(dlboost, bad):
    args = ("run", bad, "--batch", "4", "--recipe", SMALL, "--max-bad", "50%")
    for policy in ("zero", "skip-replace"):
        out, _ = dlboost.run(*args, "--on-error", policy)
        for name, status in BAD.items():
            (line,) = (one for one in out.splitlines() if name in one)
            assert line.count(name) == 1 and line.count(status) == 1
        rows = dlboost.json(*args, "--on-error", policy)["bad_files"]
        assert all(row["message"] for row in rows)
        assert not any(".jpg" in row["message"] for row in rows)


def test_a_refused_batch_leaves_its_file_in_the_json(dlboost, bad):
    doc = dlboost.json("run", bad, "--batch", "4", "--recipe", SMALL, code=1)
    (row,) = doc["bad_files"]
    assert BAD[row["path"].split("/")[-1]] == row["status"]
    assert row["path"] in doc["error"] and row["message"] in doc["error"]


def test_skip_replace_hands_out_good_ones_only(dlboost, bad, tmp_path):
    doc = dlboost.json("run", bad, "--batch", "4", "--recipe", SMALL,
                       "--on-error", "skip-replace", "--max-bad", "0.5",
                       "--out", tmp_path / "out")
    assert doc["nr_bad"] == doc["nr_replaced"] == len(BAD)
    _, rows, arrays = load(tmp_path / "out")
    assert not arrays["status"].any()
    names = {p.split("/")[-1] for r in rows for p in r["paths"]}
    assert not names & BAD.keys()


def test_budget_ends_with_5(dlboost, bad):
    doc = dlboost.json("run", bad, "--batch", "4", "--recipe", SMALL,
                       "--on-error", "zero", code=5)
    assert doc["end"] == "over_budget"
    assert any(name in doc["error"] for name in BAD)
    _, err = dlboost.run("run", bad, "--batch", "4", "--recipe", SMALL,
                         "--on-error", "zero", code=5)
    assert "--max-bad" in err and "--quarantine" in err


def test_warnings_reject(dlboost, good, tmp_path):
    folder = tmp_path / "data/x"
    folder.mkdir(parents=True)
    whole = (good / "cat/01.jpg").read_bytes()
    # Bytes that belong to nothing behind the JFIF header: libjpeg warns
    assert whole[2:4] == b"\xff\xe0" and whole[20:21] == b"\xff"
    (folder / "warned.jpg").write_bytes(whole[:20] + b"\0\0\0" + whole[20:])
    (folder / "good.jpg").write_bytes(whole)
    accepted = dlboost.json("run", tmp_path / "data", "--recipe", SMALL,
                            "--batch", "2")
    assert (accepted["nr_bad"], accepted["nr_warned"]) == (0, 1)
    rejected = dlboost.json("run", tmp_path / "data", "--recipe", SMALL,
                            "--batch", "2", "--warnings", "reject",
                            "--on-error", "zero", "--max-bad", "1")
    assert rejected["bad"]["CORRUPT"] == 1


def test_quarantine_of_verify_is_known_to_run(dlboost, bad, tmp_path):
    listed = tmp_path / "quarantine"
    dlboost.run("verify", bad, "--quarantine", listed, code=5)
    doc = dlboost.json("run", bad, "--batch", "4", "--recipe", SMALL,
                       "--on-error", "skip-replace", "--quarantine", listed)
    # Known ones do not count against the budget of one
    assert doc["nr_quarantined"] == len(BAD)


def test_contact_sheet_shows_the_batch(dlboost, good, tmp_path):
    sheet = tmp_path / "sheet.png"
    for recipe in ("imagenet-eval:size=128,resize=128",
                   "imagenet-eval:size=128,resize=128,order=bgr,layout=hwc",
                   "imagenet-eval:size=128,resize=128,dtype=f16",
                   "imagenet-eval:size=128,resize=128,dtype=bf16",
                   "imagenet-eval:size=128,resize=128,dtype=u8,mean=none,"
                   "std=none"):
        doc = dlboost.json("run", good, "--batch", "4", "--recipe", recipe,
                           "--no-shuffle", "--contact-sheet", sheet)
        assert doc["contact_sheet"] == str(sheet)
        image = Image.open(sheet).convert("RGB")
        # Four tiles in two rows; all four are of the first class's colour
        near = sum(all(abs(a - b) < 24 for a, b in zip(p, COLOURS["cat"]))
                   for p in image.getdata())
        assert near > 4 * 128 * 128 * 0.8
        assert near < image.width * image.height


@pytest.mark.parametrize("signo,name", [(signal.SIGINT, "Interrupt"),
                                        (signal.SIGTERM, "Terminated")])
def test_signal_stops_at_once_with_the_state(dlboost, good, tmp_path, signo,
                                             name):
    state = tmp_path / "state"
    process = dlboost.start("run", good, "--batch", "4", "--recipe", SMALL,
                            "--epochs", "100000", "--state-out", state, "-v")
    # Kept: a wrapper that is collected closes the pipe, and the next line of
    # the run would be its end by SIGPIPE
    stderr = io.TextIOWrapper(process.stderr)
    for line in stderr:
        if "epoch 1 is over" in line:
            break
    process.send_signal(signo)
    out = process.communicate(timeout=30)[0].decode()
    # The parent sees the signal itself, a shell 128 + its number
    assert process.returncode == -signo
    assert name in out
    fields = dict(line.split(": ", 1) for line in
                  state.read_text().splitlines()[1:])
    assert int(fields["epoch"]) >= 1
    doc = dlboost.json("run", good, "--batch", "4", "--recipe", SMALL,
                       "--epochs", str(int(fields["epoch"]) + 1), "--resume",
                       state)
    assert doc["nr_samples"] == NR_GOOD - int(fields["position"])


def test_start_and_summary_for_people(dlboost, bad):
    out, err = dlboost.run("run", bad, "--batch", "4", "--recipe", SMALL,
                           "--on-error", "zero", "--max-bad", "50%")
    assert re.search(r"slots of \S+ \S+ \(4 samples\), memory cap", err)
    for word in ("samples", "rate", "CPU-seconds per 1,000", "limited by",
                 "peak memory", "bad           4 of 40", "TRUNCATED"):
        assert word in out
    assert "\033" not in out + err


def test_json_run_is_quiet_on_stderr(dlboost, good):
    assert dlboost.run("run", good, "--recipe", SMALL, "-j")[1] == ""


def test_peak_memory_is_within_the_cap(dlboost, good):
    doc = dlboost.json("run", good, "--batch", "4", "--recipe", SMALL)
    # The command itself, C library and JSON included, beside the stream
    assert 0 < doc["peak_memory_bytes"] < doc["cap_bytes"] + (16 << 20)


def test_the_last_epoch_can_be_run(dlboost, good, tmp_path):
    args = ("run", good, "--recipe", SMALL, "--epoch", "4294967295")
    doc = dlboost.json(*args, "--state-out", tmp_path / "state")
    assert (doc["end"], doc["first_epoch"]) == ("complete", 4294967295)
    dlboost.run(*args, "--epochs", "2", code=2)


def test_a_list_that_cannot_be_written_is_a_failure(dlboost, bad, tmp_path):
    """What is found is written at the end: by then the place is gone."""
    lists = tmp_path / "lists"
    lists.mkdir()
    args = ("run", bad, "--batch", "4", "--recipe", SMALL, "--on-error",
            "zero", "--max-bad", "1", "--quarantine", lists / "q")
    out, err = dlboost.run(*args)
    assert f"quarantine    {lists / 'q'}" in out
    (lists / "q").unlink()
    limited = ("sh", "-c", 'ulimit -f 0; trap "" XFSZ; exec "$0" "$@"',
               dlboost.command, *map(str, args))
    done = subprocess.run(limited, env=dlboost.env, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 1
    assert str(lists / "q") in done.stderr.decode()
    assert "quarantine " not in done.stdout.decode()
    assert list(lists.iterdir()) == []


def test_warnings_of_the_library_are_shown(dlboost, tmp_path):
    for name in ("a/1.jpg", "stray.jpg"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (9, 9)).save(tmp_path / "data" / name)
    _, err = dlboost.run("run", tmp_path / "data", "--recipe", SMALL)
    assert "warning" in err and "1 pictures beside" in err
