#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Verifies the plans of a document of `dlboost plan -j --full`.

usage: plan_checker.py FILE

Written from Documentation/planning.rst alone, and in another way than the
library's checker: a step is played through event by event on R ranks that know
nothing but their lists and what they wait for, and then the times that come out
are held against those of the plan.
"""

import json
import sys

KINDS = ("input_grad", "weight_grad", "update", "forward", "release")


class Wrong(Exception):
    """What is wrong with a plan, in a sentence."""


def must(condition, sentence):
    if not condition:
        raise Wrong(sentence)


class Graph:
    """One graph of the document, and what its step must hold."""

    def __init__(self, document):
        self.name = document["name"]
        self.slot_bytes = document["slot_bytes"]
        self.layers = {layer["name"]: layer for layer in document["layers"]}
        self.readers = {name: [] for name in self.layers}
        for name, layer in self.layers.items():
            for source in layer["inputs"]:
                self.readers[source].append(name)
        self.order = self.sort()
        self.has_sync = any(l["global_sync"] for l in self.layers.values())
        self.reaches = {}
        for name in self.order:
            self.reaches[name] = any(self.learns(i) or self.reaches[i]
                                     for i in self.layers[name]["inputs"])

    def sort(self):
        order, placed = [], set()
        while len(order) < len(self.layers):
            before = len(order)
            for name, layer in self.layers.items():
                if name not in placed and placed.issuperset(layer["inputs"]):
                    order.append(name)
                    placed.add(name)
            must(len(order) > before, f"graph {self.name} has a cycle")
        return order

    def owner(self, name):
        return self.layers[name]["tied_to"] or name

    def members(self, owner):
        return [n for n in self.order if self.owner(n) == owner]

    def learns(self, name):
        return not self.layers[name]["frozen"] and \
            self.layers[self.owner(name)]["parameter_bytes"] > 0

    def is_whole(self, name):
        return not self.layers[name]["splittable"] and self.reaches[name]

    def producer(self, name):
        return ("input_grad" if self.is_whole(name) else "weight_grad", name)

    def work(self):
        """{(kind, layer): time} of everything in a step."""
        found = {("release", None): 0}
        for name, layer in self.layers.items():
            found["forward", name] = layer["forward_ns"]
            if self.reaches[name]:
                found["input_grad", name] = layer["input_grad_ns"]
            if self.learns(name):
                if self.is_whole(name):
                    found["input_grad", name] += layer["weight_grad_ns"]
                else:
                    found["weight_grad", name] = layer["weight_grad_ns"]
                if self.owner(name) == name:
                    found["update", name] = layer["update_ns"]
        return found

    def trained(self):
        return [n for n in self.order if self.learns(n) and self.owner(n) == n]


class Step:
    """What waits for what, for the graphs of one plan."""

    def __init__(self, graphs, machine, plan):
        self.graphs = graphs
        self.machine = machine
        self.plan = plan
        self.has_barrier = plan["has_barrier"]
        self.items = [(i["graph_idx"], i["kind"], i["layer"])
                      for i in plan["items"]]
        self.times = {(g, kind, layer): ns for g, graph in enumerate(graphs)
                      for (kind, layer), ns in graph.work().items()}
        self.messages = [(g["graph_idx"], [(s["layer"], s["offset_bytes"],
                                            s["len_bytes"])
                                           for s in g["slices"]])
                         for g in plan["reductions"]]
        self.waits = {}

    def check_presence(self):
        must(len(set(self.items)) == len(self.items), "work is there twice")
        missing = self.times.keys() - set(self.items)
        extra = set(self.items) - self.times.keys()
        must(not missing, f"missing: {sorted(map(str, missing))[:3]}")
        must(not extra, f"no such work: {sorted(map(str, extra))[:3]}")

    def check_bytes(self):
        seen = {}
        for graph, slices in self.messages:
            must(slices, "an empty reduction")
            for layer, offset, length in slices:
                seen.setdefault((graph, layer), []).append((offset, length))
        for g, graph in enumerate(self.graphs):
            for name in graph.trained() if self.machine["ranks"] > 1 else ():
                at = 0
                for offset, length in sorted(seen.pop((g, name), [])):
                    must(offset == at and length > 0,
                         f"gradient of {name} is not reduced once at {at}")
                    at += length
                must(at == graph.layers[name]["parameter_bytes"],
                     f"gradient of {name} is reduced up to byte {at}")
        must(not seen, f"reductions of nothing: {sorted(seen)[:3]}")

    def messages_of(self, graph, owner):
        return {("message", i) for i, (g, slices) in enumerate(self.messages)
                if g == graph and any(s[0] == owner for s in slices)}

    def all_of(self, graph, wanted):
        return {n for n in self.items if n[0] == graph and n[1] == wanted}

    def find_waits(self):
        for item in self.items:
            self.waits[item] = self.waits_of(*item)
        for i, (g, slices) in enumerate(self.messages):
            graph = self.graphs[g]
            self.waits["message", i] = {
                (g, *graph.producer(member)) for layer, _, _ in slices
                for member in graph.members(layer)}

    def reduced(self, g, owner):
        """What must be over before the gradient of @owner may be used."""
        graph = self.graphs[g]
        return self.messages_of(g, owner) | {
            (g, *graph.producer(m)) for m in graph.members(owner)}

    def waits_of(self, g, kind, name):
        graph = self.graphs[g]
        if kind == "release":
            return {(g, *graph.producer(n)) for n, l in graph.layers.items()
                    if not l["inputs"] and graph.learns(n)}
        if kind in ("input_grad", "weight_grad"):
            found = {(g, "input_grad", r) for r in graph.readers[name]}
            if graph.learns(name) and graph.producer(name) == (kind, name):
                # One gradient is added to by all its layers, the last one first
                members = graph.members(graph.owner(name))
                found |= {(g, *graph.producer(m))
                          for m in members[members.index(name) + 1:]}
            return found
        if kind == "update":
            owners = graph.trained() if self.has_barrier or graph.has_sync \
                else [name]
            return set().union(*(self.reduced(g, o) for o in owners))
        found = {(g, "forward", i) for i in graph.layers[name]["inputs"]}
        if graph.learns(name):
            found.add((g, "update", graph.owner(name)))
        return found | (self.all_of(g, "update") if self.has_barrier else set())


def ring_ns(ranks, length, share, bits_per_s, hop_ns):
    if ranks == 1:
        return 0
    numerator = length * 8 * 2 * (ranks - 1) * 10 ** 9
    return -(-numerator // (ranks * share * bits_per_s)) + 2 * (ranks - 1) * hop_ns


def link_times(machine, length):
    """(local, last) nanoseconds of one reduction."""
    inside = machine["local_ranks"]
    outside = machine["ranks"] // inside
    local = ring_ns(inside, length, 1, machine["local_bits_per_s"],
                    machine["local_hop_ns"])
    if outside == 1:
        return 0, local
    return local, ring_ns(outside, length, inside, machine["link_bits_per_s"],
                          machine["hop_ns"])


def play(step):
    """Ends of everything, when every stream and link does what its list says as
    soon as it can.  Whatever times things took, a cycle would stop it."""
    machine = step.machine
    queues = [[("item", n) for n, i in zip(step.items, step.plan["items"])
               if i["stream_idx"] == s] for s in range(machine["nr_streams"])]
    queues.append([("message", i) for i in range(len(step.messages))])
    ends, free = {}, [0] * len(queues)
    local_free = 0
    has_moved = True
    while has_moved:
        has_moved = False
        for q, queue in enumerate(queues):
            while queue:
                kind, what = queue[0]
                node = what if kind == "item" else ("message", what)
                if not step.waits[node] <= ends.keys():
                    break
                queue.pop(0)
                has_moved = True
                ready = max((ends[w] for w in step.waits[node]), default=0)
                if kind == "item":
                    took = step.times[node]
                else:
                    length = sum(s[2] for s in step.messages[what][1])
                    local, took = link_times(machine, length)
                    if local:
                        ready = local_free = max(ready, local_free) + local
                free[q] = ends[node] = max(ready, free[q]) + took
    stuck = [queue[0][1] for queue in queues if queue]
    must(not stuck, f"nothing ever comes after {stuck[:2]}: something waits for "
         "what is queued behind it")
    return ends


def check_times(step):
    """Every start after what it waits for, one thing at a time on each list."""
    machine, last = step.machine, {}
    is_slowed = machine["nr_streams"] > 1 or machine["interference_permille"]
    ends = {}
    for node, item in zip(step.items, step.plan["items"]):
        ends[node] = item["end_ns"]
        took = item["end_ns"] - item["start_ns"]
        must(took == step.times[node] or (is_slowed and took > step.times[node]),
             f"{node} takes {took} ns")
        must(item["start_ns"] >= last.get(item["stream_idx"], 0),
             f"{node} begins while its stream is busy")
        must(item["stream_idx"] < machine["nr_streams"], f"{node}: no such stream")
        last[item["stream_idx"]] = item["end_ns"]
    for i, message in enumerate(step.plan["reductions"]):
        ends["message", i] = message["end_ns"]
    for node, item in zip(step.items, step.plan["items"]):
        for other in step.waits[node]:
            must(ends[other] <= item["start_ns"], f"{node} begins before {other} "
                 "has ended")
    check_links(step, ends)
    must(max(ends.values()) == step.plan["period_ns"], "another period")
    if not is_slowed:
        must(play(step) == ends, "times are not what the order gives")
    else:
        play(step)


def check_links(step, ends):
    local_free = last_free = 0
    for i, message in enumerate(step.plan["reductions"]):
        length = sum(s["len_bytes"] for s in message["slices"])
        must(length == message["len_bytes"], f"reduction {i}: another length")
        local, took = link_times(step.machine, length)
        ready = max(ends[w] for w in step.waits["message", i])
        must(message["end_ns"] - message["start_ns"] == took,
             f"reduction {i}: another time")
        must(message["local_end_ns"] - message["local_start_ns"] == local,
             f"reduction {i}: another local time")
        begin = message["local_start_ns"] if local else message["start_ns"]
        must(begin >= ready, f"reduction {i} begins before its gradients are there")
        must(message["start_ns"] >= last_free, f"reduction {i}: the link is busy")
        must(not local or (message["local_start_ns"] >= local_free and
                           message["start_ns"] >= message["local_end_ns"]),
             f"reduction {i}: the local link is busy")
        local_free, last_free = message["local_end_ns"], message["end_ns"]


def buffers_of(step):
    """(bytes, items that open it, items that close it, whether it is there at the
    begin) for each piece of memory."""
    for g, graph in enumerate(step.graphs):
        for name, layer in graph.layers.items():
            users = {(g, kind, name) for kind in KINDS[:2]} & step.times.keys()
            if users:
                yield layer["activation_bytes"], set(), users, True
                yield layer["activation_bytes"], {(g, "forward", name)}, set(), False
                yield layer["gradient_bytes"], {
                    (g, "input_grad", r) for r in graph.readers[name]} or users, \
                    users, False
        for name in graph.trained():
            yield graph.layers[name]["parameter_bytes"], {
                (g, *graph.producer(m)) for m in graph.members(name)}, {
                    (g, "update", name)}, False
        yield graph.slot_bytes, set(), {(g, "release", None)}, True
        yield graph.slot_bytes, {(g, "forward", n) for n, l in graph.layers.items()
                                 if not l["inputs"]}, set(), False


def peak_bytes(step):
    spans = {node: (item["start_ns"], item["end_ns"] > item["start_ns"], i,
                    item["end_ns"])
             for i, (node, item) in enumerate(zip(step.items, step.plan["items"]))}
    order = sorted(spans, key=lambda node: spans[node][:3])
    place = {node: i for i, node in enumerate(order)}
    starts = [spans[node][0] for node in order]
    change = [0] * (len(order) + 1)
    now = sum(l["static_bytes"] for graph in step.graphs
              for l in graph.layers.values())
    for size, opens, closes, is_there in buffers_of(step):
        if is_there:
            now += size
        else:
            change[min(place[n] for n in opens)] += size
        if closes:
            # Gone when the first item begins by whose begin all have ended
            end = max(spans[n][3] for n in closes)
            last = max(place[n] for n in closes)
            change[next((i for i in range(last + 1, len(order))
                         if starts[i] >= end), len(order))] -= size
    peak = now
    for delta in change[:-1]:
        now += delta
        peak = max(peak, now)
    return peak


def check_plan(document, plan, graphs=None):
    """Raises Wrong when @plan is."""
    graphs = graphs or [Graph(g) for g in document["graphs"]]
    first = plan["first_graph_idx"]
    graphs = graphs[first:first + plan["nr_graphs"]]
    machine = document["machine"]
    must(plan["has_barrier"] or not machine["has_barrier"], "no barrier")
    step = Step(graphs, machine, plan)
    step.check_presence()
    step.check_bytes()
    step.find_waits()
    check_times(step)
    peak = peak_bytes(step)
    must(peak == plan["peak_bytes"], f"takes {peak} bytes")
    must(not machine["memory_bytes"] or peak <= machine["memory_bytes"],
         "above the cap")


def check_document(document):
    """[(policy, sentence or None)] for every plan."""
    graphs = [Graph(g) for g in document["graphs"]]
    found = []
    for row in document["policies"]:
        for plan in row["plans"]:
            try:
                check_plan(document, plan, graphs)
                found.append((row["policy"], None))
            except Wrong as wrong:
                found.append((row["policy"], str(wrong)))
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        found = check_document(json.load(file))
    for policy, sentence in found:
        print(f"{policy}: {sentence or 'proven'}")
    sys.exit(1 if any(sentence for _, sentence in found) else 0)


if __name__ == "__main__":
    main()
