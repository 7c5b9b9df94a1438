#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Writes the layer graphs that are shipped, from the shapes of their layers.

usage: make_graphs.py [--check] [FOLDER]

Figures are for one sample and elements of 4 bytes; Documentation/planning.rst,
"Graphs", says what each means.  A multiplication and an addition are two
operations.  --check writes nothing and fails where a file is out of date.
"""

import json
import pathlib
import sys

WORD = 4
# Passes over memory beside the convolution itself, in sizes of its output:
# batch normalisation reads twice and writes once, the activation reads and
# writes; their backward passes read more
FORWARD_PASSES, BACKWARD_PASSES = 5, 8
PLAIN_FORWARD_PASSES, PLAIN_BACKWARD_PASSES = 2, 3


class Graph:
    def __init__(self, name, source, sample_elements):
        self.name = name
        self.source = source
        self.sample_bytes = sample_elements * WORD
        self.layers = []

    def add(self, name, kind, inputs, *, flops, passes, kept, out, parameters,
            **more):
        """Elements: kept for the backward pass, out of the layer; passes are
        the elements moved (forward, backward) beside the arithmetic."""
        layer = {"name": name, "kind": kind, "inputs": inputs, "flops": flops,
                 "bytes": passes[0] * WORD, "backward_bytes": passes[1] * WORD,
                 "activation_bytes": kept * WORD, "output_bytes": out * WORD,
                 "parameters": parameters, "efficiency_permille": 1000,
                 "splittable": True}
        layer.update(more)
        self.layers.append(layer)
        return name

    def document(self):
        return {"schema": "dlboost-graph", "version": 1, "name": self.name,
                "source": self.source, "sample_bytes": self.sample_bytes,
                "layers": self.layers}

    def conv(self, name, inputs, shape, *, has_norm=True, extra=0, norm_first=0):
        """shape: (channels in, channels out, kernel, rows and columns out,
        stride, rows and columns in).  extra: tensors of the output's size that
        are added.  norm_first: elements of an input that is normalised first."""
        c_in, c_out, kernel, side, _stride, side_in = shape
        out = c_out * side * side
        weights = c_in * c_out * kernel[0] * kernel[1]
        parameters = weights + (2 * c_out if has_norm else c_out)
        passes = (PLAIN_FORWARD_PASSES * out, PLAIN_BACKWARD_PASSES * out)
        kept = c_in * side_in * side_in
        if norm_first:
            parameters = weights + 2 * c_in
            passes = (FORWARD_PASSES * norm_first, BACKWARD_PASSES * norm_first)
            kept = 2 * norm_first
        elif has_norm:
            passes = ((FORWARD_PASSES + extra) * out,
                      (BACKWARD_PASSES + extra) * out)
            kept += out
        return self.add(name, "conv", inputs, flops=2 * weights * side * side,
                        passes=passes, kept=kept, out=out, parameters=parameters)

    def fc(self, name, inputs, c_in, c_out, *, rows=1, kind="fc", extra=0,
           parameters=None, **more):
        out = rows * c_out
        return self.add(name, kind, inputs, flops=2 * rows * c_in * c_out,
                        passes=((1 + extra) * out, (2 + extra) * out),
                        kept=rows * c_in + extra * out, out=out,
                        parameters=c_in * c_out + c_out if parameters is None
                        else parameters, **more)


def resnet50():
    g = Graph("resnet50", "He et al. 2015, table 1, with the stride in the 3x3 "
              "convolution; 53 convolutions and one inner product, 25.6 M "
              "parameters, 4.1 G multiplications", 3 * 224 * 224)
    last = g.conv("conv1", [], (3, 64, (7, 7), 112, 2, 224))
    c_in, side = 64, 56
    for stage, (nr, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512)), 1):
        for block in range(nr):
            stride = 2 if stage > 1 and block == 0 else 1
            before, out = side, side // stride
            name = f"layer{stage}.{block}"
            a = g.conv(f"{name}.conv1", [last], (c_in, width, (1, 1), before, 1,
                                                before))
            b = g.conv(f"{name}.conv2", [a], (width, width, (3, 3), out, stride,
                                             before))
            short = last
            if block == 0:
                short = g.conv(f"{name}.downsample", [last],
                               (c_in, 4 * width, (1, 1), out, stride, before))
            last = g.conv(f"{name}.conv3", [b, short],
                          (width, 4 * width, (1, 1), out, 1, out), extra=2)
            c_in, side = 4 * width, out
    g.fc("fc", [last], 2048, 1000)
    return g


def chain(g, convs, fcs):
    last = []
    for name, shape in convs:
        last = [g.conv(name, last, shape, has_norm=False)]
    for name, c_in, c_out in fcs:
        last = [g.fc(name, last, c_in, c_out)]
    return g


def vgg16():
    g = Graph("vgg16", "Simonyan and Zisserman 2014, configuration D; 138.4 M "
              "parameters, 15.5 G multiplications", 3 * 224 * 224)
    convs, c_in, side = [], 3, 224
    for stage, (nr, width) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512),
                                         (3, 512)), 1):
        for i in range(1, nr + 1):
            convs.append((f"conv{stage}_{i}", (c_in, width, (3, 3), side, 1, side)))
            c_in = width
        side //= 2
    return chain(g, convs, (("fc6", 512 * 7 * 7, 4096), ("fc7", 4096, 4096),
                            ("fc8", 4096, 1000)))


def alexnet():
    g = Graph("alexnet", "Krizhevsky 2014 (one tower, as in torchvision); 61.1 M "
              "parameters, 0.7 G multiplications", 3 * 224 * 224)
    convs = (("conv1", (3, 64, (11, 11), 55, 4, 224)),
             ("conv2", (64, 192, (5, 5), 27, 1, 27)),
             ("conv3", (192, 384, (3, 3), 13, 1, 13)),
             ("conv4", (384, 256, (3, 3), 13, 1, 13)),
             ("conv5", (256, 256, (3, 3), 13, 1, 13)))
    return chain(g, convs, (("fc6", 256 * 6 * 6, 4096), ("fc7", 4096, 4096),
                            ("fc8", 4096, 1000)))


def densenet121():
    g = Graph("densenet121", "Huang et al. 2017, table 1, growth 32; 8.0 M "
              "parameters, 2.9 G multiplications", 3 * 224 * 224)
    first = g.conv("conv0", [], (3, 64, (7, 7), 112, 2, 224))
    c_in, side, growth = 64, 56, 32
    for stage, nr in enumerate((6, 12, 24, 16), 1):
        parts = [first]
        for i in range(1, nr + 1):
            name = f"block{stage}.{i}"
            a = g.conv(f"{name}.conv1", list(parts),
                       (c_in, 4 * growth, (1, 1), side, 1, side),
                       norm_first=c_in * side * side)
            b = g.conv(f"{name}.conv2", [a], (4 * growth, growth, (3, 3), side, 1,
                                             side),
                       norm_first=4 * growth * side * side)
            parts.append(b)
            c_in += growth
        if stage < 4:
            first = g.conv(f"transition{stage}", parts,
                           (c_in, c_in // 2, (1, 1), side, 1, side),
                           norm_first=c_in * side * side)
            c_in //= 2
            side //= 2
    # The last normalisation counts with the classifier
    g.fc("fc", parts, c_in, 1000, extra=FORWARD_PASSES * c_in * side * side // 1000,
         parameters=c_in * 1000 + 1000 + 2 * c_in)
    return g


def bert_base(length=128, width=768, nr_heads=12, nr_blocks=12, nr_words=30522):
    g = Graph("bert-base", "Devlin et al. 2018, BERT-base with its masked language "
              "head, whose weights are those of the word embedding; sequences of "
              f"{length}; 109 M parameters", length)
    out = length * width
    last = g.add("embeddings", "embedding", [], flops=0, passes=(6 * out, 8 * out),
                 kept=out, out=out, parameters=(nr_words + 512 + 2 + 2) * width)
    for i in range(nr_blocks):
        scores = nr_heads * length * length
        qkv = g.fc(f"block{i}.qkv", [last], width, 3 * width, rows=length)
        mixed = g.add(f"block{i}.attention", "attention", [qkv],
                      flops=4 * length * length * width,
                      passes=(6 * scores, 8 * scores), kept=3 * out + 2 * scores,
                      out=out, parameters=0)
        joined = g.fc(f"block{i}.output", [mixed, last], width, width, rows=length,
                      extra=6, parameters=width * width + 3 * width)
        wide = g.fc(f"block{i}.ffn1", [joined], width, 4 * width, rows=length,
                    extra=2)
        last = g.fc(f"block{i}.ffn2", [wide, joined], 4 * width, width, rows=length,
                    extra=6, parameters=4 * width * width + 3 * width)
    head = g.fc("head.transform", [last], width, width, rows=length, extra=6,
                parameters=width * width + 3 * width)
    # 15 % of the words are masked and predicted
    g.fc("head.decoder", [head], width, nr_words, rows=length * 15 // 100 + 1,
         extra=2, parameters=0, tied_to="embeddings")
    return g


def main():
    words = sys.argv[1:]
    is_check = words[:1] == ["--check"]
    folder = pathlib.Path(words[-1] if words[is_check:] else
                          pathlib.Path(__file__).parent)
    stale = []
    for graph in (resnet50(), vgg16(), alexnet(), densenet121(), bert_base()):
        path = folder / f"{graph.name}.json"
        document = graph.document()
        layers = ",\n".join("  " + json.dumps(layer) for layer in
                            document.pop("layers"))
        text = json.dumps(document)[:-1] + f',\n "layers": [\n{layers}\n ]}}\n'
        if is_check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not is_check:
            path.write_text(text)
    if stale:
        sys.exit(f"out of date, run make_graphs.py: {', '.join(stale)}")


if __name__ == "__main__":
    main()
