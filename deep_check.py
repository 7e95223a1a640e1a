import sys
import checks
import folded

burning = wrong = 0
for frames, count in folded.read("deep.folded"):
    names = [name.split(" (")[0] for name in frames]
    if "burn" in names:
        burning += count
        before = names[:names.index("burn")]
        run = len(before) - before.index("deep") if "deep" in before else 0
        first = before[before.index("deep") - 1] if run else ""
        # From the innermost frame on: deep() alone, up to the mark, or all of it below the module.
        right = run > 100 and set(before[-run:]) == {"deep"} and ("truncated" in first or (first == "<module>" and run == int(sys.argv[1]) + 1))
        wrong += 0 if right else count
print(f"  depth {sys.argv[1]}: {burning} samples, {wrong} of them out of order or without a mark")
if burning < 20 or wrong:
    checks.fail(f"{wrong} of {burning} samples of a recursion out of order")
