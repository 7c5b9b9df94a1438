# SPDX-License-Identifier: GPL-2.0-or-later
"""Promises of Documentation/planning.rst, seen through the command: predictions
for known models, proofs that a second checker repeats, refusals of what is wrong.
"""

import copy
import json
import random
import subprocess
import xml.etree.ElementTree

import jsonschema
import pytest

from plan_checker import Wrong, check_document, check_plan

RESNET = ["resnet50", "--hw", "v100-fp32", "--ranks", "8", "--link", "10Gbit",
          "--hop", "15us"]
GRAPHS = ["alexnet", "bert-base", "densenet121", "resnet50", "vgg16"]
# Parameters as published with torchvision and the papers, in all layers
PARAMETERS = {"alexnet": 61100840, "densenet121": 7978856, "resnet50": 25557032,
              "vgg16": 138357544}
NR_MUTANTS = 1000


def test_v100_gives_the_published_rate(plan):
    row = plan.json(*RESNET, "--batch", "64")["policies"][0]
    assert 360 <= 64e9 / row["bound_compute_ns"] <= 390


def test_gain_where_the_link_is_as_busy_as_the_device(plan):
    small = plan.periods(*RESNET, "--batch", "64")
    assert 1.15 <= small["ddp"] / small["list"] <= 1.25
    large = plan.periods(*RESNET, "--batch", "256")
    assert 1.00 <= large["ddp"] / large["list"] <= 1.03


@pytest.mark.parametrize("batch", [8, 16, 32, 64, 96, 128, 192, 256])
def test_order_gains_nothing_with_a_barrier(plan, batch):
    found = plan.periods(*RESNET, "--batch", batch, "--barrier", "--memory", "none")
    assert 1.00 <= found["ddp"] / found["list"] <= 1.01
    assert 1.00 <= found["ddp"] / found["reverse-first-k"] <= 1.01


@pytest.mark.parametrize("batch", [32, 64, 256])
def test_nothing_to_gain_on_nvlink(plan, batch):
    args = ["resnet50", "--hw", "h200", "--link", "nvlink", "--batch", batch]
    found = plan.periods(*args)
    assert found["ddp"] / found["list"] <= 1.01
    assert "Nothing to gain here" in plan.run(*args)[0]


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_policy_beats_its_bound(plan, graph):
    for extra in ([], ["--barrier"], ["--ranks", "64", "--local-ranks", "8"]):
        rows = plan.json(graph, "--memory", "none", *extra)["policies"]
        found = {row["policy"]: row for row in rows}
        for row in rows:
            assert row["proof_ok"]
            assert row["period_ns"] >= row["bound_ns"]
            assert row["peak_bytes"] >= row["bound_memory_bytes"]
        if not extra or extra[0] != "--barrier":
            assert found["list"]["period_ns"] <= found["ddp-tuned"]["period_ns"]


def test_result_is_the_same_every_time(plan):
    first, second = (plan.run(*RESNET, "-j", "--full")[0] for _ in range(2))
    assert first == second


def test_interleaving_beats_turns(plan):
    found = plan.periods("resnet50", "densenet121", "--batch", "32")
    assert found["interleave"] <= found["list"]


FULL = {
    "chain": ["vgg16"],
    "forks": ["resnet50"],
    "dense": ["densenet121", "--policy", "list"],
    "tied and whole": ["bert-base"],
    "local links": ["bert-base", "--ranks", "16", "--local-ranks", "4"],
    "barrier": ["resnet50", "--barrier"],
    "cap": ["resnet50", "--memory", "5.6GiB"],
    "streams": ["resnet50", "--streams", "3", "--overlap", "30%",
                "--interference", "5%"],
    "one rank": ["alexnet", "--ranks", "1"],
    "several graphs": ["alexnet", "resnet50"],
}


@pytest.mark.parametrize("name", FULL)
def test_second_checker_proves_the_same(plan, tmp_path, name):
    document = plan.json(*FULL[name], "--full")
    found = check_document(document)
    assert found and all(sentence is None for _, sentence in found), found
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    assert plan.json("--check", path)["nr_wrong"] == 0


def retime(items):
    """As an editor would: the same work in another order, without gaps."""
    at = 0
    for item in items:
        took = item["end_ns"] - item["start_ns"]
        item["start_ns"], item["end_ns"] = at, at + took
        at += took


def swap(rng, plan):
    items = plan["items"]
    a, b = rng.sample(range(len(items)), 2)
    items[a], items[b] = items[b], items[a]


def drop(rng, plan):
    where = rng.choice(["items", "reductions"])
    plan[where].pop(rng.randrange(len(plan[where])))


def duplicate(rng, plan):
    where = rng.choice(["items", "reductions"])
    plan[where].append(copy.deepcopy(rng.choice(plan[where])))


def early_forward(rng, plan):
    items = plan["items"]
    forward = rng.choice([i for i in items if i["kind"] == "forward"])
    update = next(n for n, i in enumerate(items) if i["kind"] == "update"
                  and i["layer"] == forward["layer"])
    items.remove(forward)
    items.insert(update, forward)
    retime(items)
    plan["period_ns"] = max(i["end_ns"] for i in items + plan["reductions"])


@pytest.mark.parametrize("mutate", [swap, drop, duplicate, early_forward],
                         ids=lambda f: f.__name__)
def test_mutants_are_refused_by_the_second_checker(plan, mutate):
    document = plan.json("alexnet", "--full", "--policy", "list", "--policy", "ddp")
    rng = random.Random(7)
    refused = 0
    for n in range(NR_MUTANTS):
        row = document["policies"][n % 2]
        mutant = copy.deepcopy(row["plans"][0])
        mutate(rng, mutant)
        try:
            check_plan(document, mutant)
        except Wrong:
            refused += 1
    assert refused == NR_MUTANTS


@pytest.mark.parametrize("mutate", [swap, drop, duplicate, early_forward],
                         ids=lambda f: f.__name__)
def test_mutants_are_refused_by_the_command(plan, tmp_path, mutate):
    document = plan.json("alexnet", "--full", "--policy", "list")
    rng = random.Random(8)
    for n in range(20):
        mutant = copy.deepcopy(document)
        mutate(rng, mutant["policies"][0]["plans"][0])
        path = tmp_path / f"{n}.json"
        path.write_text(json.dumps(mutant))
        _, err = plan.run("--check", path, code=1)
        assert f"{n}.json: list: " in err


def test_shipped_graphs_are_what_their_script_makes(tree):
    subprocess.run([tree / "libdl/plan/graphs/make_graphs.py", "--check"],
                   check=True)
    for name in GRAPHS:
        document = json.loads((tree / f"libdl/plan/graphs/{name}.json").read_text())
        jsonschema.validate(document, json.loads(
            (tree / "libdl/plan/graph.schema.json").read_text()))
        total = sum(layer["parameters"] for layer in document["layers"])
        assert total == PARAMETERS.get(name, total)
        assert name != "resnet50" or len(document["layers"]) == 54


def test_example_of_the_documentation_can_be_planned(plan, tree, tmp_path):
    text = (tree / "Documentation/planning.rst").read_text()
    block = text.split("share/dlboost/plan/graphs``::\n\n")[1].split("\n\n")[0]
    document = json.loads(block)
    jsonschema.validate(document, json.loads(
        (tree / "libdl/plan/graph.schema.json").read_text()))
    path = tmp_path / "two.json"
    path.write_text(block)
    found = plan.periods(path)
    assert found["exact"] <= found["list"] <= found["ddp"]


def measured(**change):
    """Two measured layers; @change is applied to the second."""
    layers = [{"name": n, "kind": "fc", "inputs": i, "forward_ns": 1000,
               "input_grad_ns": 1000, "weight_grad_ns": 1000, "update_ns": 10,
               "activation_bytes": 8, "gradient_bytes": 8, "parameter_bytes": 8,
               "static_bytes": 16} for n, i in (("one", []), ("two", ["one"]))]
    layers[1].update(change)
    return {"schema": "dlboost-graph", "version": 1, "name": "m", "layers": layers}


BAD_GRAPHS = [
    ({"forward_ns": -1}, "two: 'forward_ns' is -1, not a whole number"),
    ({"forward_ns": 1.5}, "two: 'forward_ns' is 1.5"),
    ({"forward_ns": float("nan")}, "two: 'forward_ns' is NaN"),
    ({"forward_ns": 10 ** 13}, "two: 'forward_ns'"),
    ({"forward_ns": "x"}, "two: 'forward_ns' is \"x\""),
    ({"inputs": ["none"]}, "layer 'two': 'inputs' names no layer: \"none\""),
    ({"inputs": ["two"]}, "layer 'two' is part of a cycle"),
    ({"inputs": []}, "nobody reads layers 'one' and 'two'"),
    ({"name": "one"}, "layer 'one' is there twice"),
    ({"splittable": 1}, "two: 'splittable' is neither true nor false"),
    ({"tied_to": "one"}, "tied to 'one' and with parameters of its own"),
    ({"flops": 1, "kind": "cov"}, "two: device v100-fp32 knows no kind 'cov'; did "
                                  "you mean 'conv'?"),
    ({"flops": 1}, "two: 'bytes' is missing"),
]


@pytest.mark.parametrize("change,said", BAD_GRAPHS, ids=lambda v: str(v)[:40])
def test_bad_graphs_are_named(plan, tmp_path, change, said):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(measured(**change)))
    out, err = plan.run(path, code=1)
    assert said in err and "bad.json" in err and not out


def test_absent_times_are_named(plan, tmp_path):
    document = measured()
    del document["layers"][1]["update_ns"]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    assert "two: 'update_ns' is missing" in plan.run(path, code=1)[1]


def test_text_that_is_no_graph(plan, tmp_path):
    path = tmp_path / "bad.json"
    for text, said in (("{", "no JSON object"), ("[]", "no JSON object"),
                       ("{}", "\"schema\" is not \"dlboost-graph\"")):
        path.write_text(text)
        assert said in plan.run(path, code=1)[1]


def test_policies_that_do_not_apply_are_noted(plan):
    out, err = plan.run("resnet50", "-j")
    assert "exact is left out: " in err
    assert "exact" not in [r["policy"] for r in json.loads(out)["policies"]]
    _, err = plan.run("resnet50", "--memory", "1GiB", code=1)
    assert "list is left out: list needs" in err and "no policy applies" in err


def test_timeline_is_a_small_picture(plan, tmp_path):
    path = tmp_path / "t.svg"
    plan.run(*RESNET, "--svg", path)
    assert path.stat().st_size < 1_000_000
    text = "".join(xml.etree.ElementTree.parse(path).getroot().itertext())
    for word in ("ddp", "list", "stream", "link", "dX layer4.2.conv3", "bound"):
        assert word in text


def test_jitter_is_simulated(plan):
    row = plan.json(*RESNET, "--jitter", "10%")["policies"][-1]
    assert row["period_ns"] * 0.9 < row["jittered_period_ns"] < \
        row["period_ns"] * 1.1
    assert plan.json(*RESNET)["policies"][-1]["jittered_period_ns"] is None
