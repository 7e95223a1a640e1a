#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Programs that say they are Python, with structures made to mislead: cycles, chains without end, huge lengths, pointers into
# the kernel, functions that have another name each time. They get wrong names for themselves: a Python program beside them
# has its own, and pkbpf stays within its limits.
. "$(dirname "$0")/prelude.sh"

python=$(python3 -c 'import sys; print(sys.executable)') || skip "needs python3"
cp "$workloads/fake_python" python3.11
cat >honest.py <<'END'
import sys
import time


def burn(end):
    while time.process_time() < end:
        pass


def caller(end):
    burn(end)


caller(float(sys.argv[1]))
END
cat >all.sh <<'END'
"$1" honest.py 0.5 &
for which in endless cycle lengths kernel names; do
	./python3.11 "$which" 0.4 &
done
wait
END
cat >check.py <<'END'
import re
import sys

import checks
import folded

report = checks.read_report(sys.argv[2])
honest, fake, mixed, odd = 0, {}, 0, 0
for frames, count in folded.read(sys.argv[1]):
    python = [frame for frame in frames if frame.endswith("_[p]")]
    names = {re.sub(r" \(.*", "", frame) for frame in python}
    is_honest = any("honest.py" in frame for frame in python)
    odd += count * any(c < " " for frame in frames for c in frame)
    if is_honest:
        honest += count
        mixed += count * any("fake" in frame or re.match(r"n[0-9a-f]{4} ", frame) for frame in frames)
        if "burn" in names and not folded.holds_in_order(
                python, ["<module> (honest.py)_[p]", "caller (honest.py)_[p]", "burn (honest.py)_[p]"]):
            mixed += count
    for name in names & {"endless", "cycle", "kernel", "lengths"}:
        fake[name] = fake.get(name, 0) + count
checks.check(honest > 20 and not mixed, f"{honest} samples of a Python program have its functions, {mixed} have others")
checks.check({"endless", "cycle"} <= set(fake), f"functions that were made up are read: {fake}")
checks.check(not odd, f"{odd} stacks have control characters")
samples = report["total"]["cpu"]["samples"]
checks.check(report["cost"]["bpf_cpu_ns"] < samples * 5_000_000, f"{report['cost']['bpf_cpu_ns'] / max(1, samples):.0f} ns a sample")
checks.check(report["cost"]["max_resident_bytes"] < 256 << 20, f"{report['cost']['max_resident_bytes'] >> 20} MiB")
END

begin "made-up structures beside an honest program"
record -e cpu -F 499 -o fake.folded -o fake.json -- bash all.sh "$python" &&
	checker check.py fake.folded fake.json

conclude
