# SPDX-License-Identifier: BSD-2-Clause
"""A training loop whose step loads a batch, computes and optimizes.

usage: training_step.py [BATCH_SIZE [STEPS]]
"""
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "../../../include/python"), "/usr/share/pkbpf"]
import pkbpf  # noqa: E402


@pkbpf.region("load")
def load(size):
    time.sleep(0.002)  # waits for a loader
    return [float(i) for i in range(size)]


@pkbpf.region("compute")
def compute(batch):
    total = 0.0
    for _ in range(200):
        total += sum(x * x for x in batch)
    return total


@pkbpf.region("optimizer")
def optimize(weights, gradient):
    return [w - 1e-9 * gradient for w in weights]


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    weights = [0.0] * 1000
    for _ in range(steps):
        with pkbpf.region("step", items=size):  # items: samples per second
            batch = load(size)
            gradient = compute(batch)
            weights = optimize(weights, gradient)


main()
