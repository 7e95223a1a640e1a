# SPDX-License-Identifier: BSD-2-Clause
"""serve_lanes_check.py LANES BY REGION COUNT: a lane has this region, left so often in all windows; fails until it is there."""
import json
import sys

path, by, region, count = sys.argv[1:]
with open(path) as file:
    answer = json.load(file)
assert answer["by"] == by, answer["by"]
names, windows = answer["region_names"], answer["windows"]
assert len(answer["regions_ns"]) == len(windows) and any(answer["regions_ns"]), "regions were not recorded"
assert len(names) <= 257, "names are bounded"
found = 0
for lane in answer["lanes"]:
    tiles = lane.get("regions", [None] * len(windows))
    assert len(tiles) == len(windows), "one region a window"
    for name, wall_ns, left, _ in filter(None, tiles):
        assert left > 0 and wall_ns > 0, "it was left"
        if names[name] == region:
            found += left
assert "regions" not in answer["others"]["lane"], "the others are nobody in particular"
# Groups hold other programs, with regions of their own that may be longer.
assert found == int(count) if by == "process" else names, f"{found} of {count} in {names}"
