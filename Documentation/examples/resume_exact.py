# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Stop anywhere, go on exactly there: resume_exact.py DIR CHECKPOINT [STEPS]

Run it again and again, each time killed or limited to STEPS steps: together
the runs see what one run would have seen, no sample lost and none twice.
"""

import json
import os
import sys

import dlboost

EPOCHS = 2


def save(path: str, document: dict) -> None:
    """Whole or not at all: the file is replaced in one step."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def main() -> int:
    folder, checkpoint = sys.argv[1:3]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else -1
    state = None
    if os.path.exists(checkpoint):
        with open(checkpoint, encoding="utf-8") as file:
            state = json.load(file)
    with dlboost.Loader(
        folder, "imagenet-train:size=64", batch=8, state=state
    ) as loader:
        for epoch in range(loader.epoch, EPOCHS):
            loader.set_epoch(epoch)
            for batch in loader:
                if steps == 0:
                    print("stopped")
                    return 0
                print("epoch", epoch, "samples", *batch.ids)
                # ... train on the batch, then save model and place together
                save(checkpoint, loader.state_dict())
                steps -= 1
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
