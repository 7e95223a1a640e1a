# SPDX-License-Identifier: BSD-2-Clause
"""
Is the profile of an innocent program whole beside one that floods?
usage: adversary_check.py NAME REPORT.json FOLDER MIB PERCENT
FOLDER has *.cpu.folded and so on; MIB and PERCENT are what pkbpf was allowed, 0: not checked.
"""
import glob
import sys
import checks
import folded

NEEDED = 0.95
LONG_SECONDS = 12


def neighbour_stacks(folder, kind):
    found = glob.glob(f"{folder}/*.{kind}.folded")
    stacks = folded.read(found[0]) if found else []
    return [(frames, count) for frames, count in stacks if frames[0] == "neighbour"]


def whole_share(stacks):
    """Of the stacks of a program that has begun, those that lead down from its main function."""
    return folded.share([s for s in stacks if "[truncated: inside execve]" not in s[0]], lambda frames: "main" in frames)[0]


def main():
    name, report, folder = sys.argv[1], checks.read_report(sys.argv[2]), sys.argv[3]
    mib, percent = float(sys.argv[4]), float(sys.argv[5])
    seconds = report["time"]["duration_ns"] / 1e9
    counters = checks.counters(report)
    rows = [row for row in report["rows"] if row["comm"] == "neighbour"]
    if not rows:
        checks.fail(f"{name}: the neighbour has no row")
    cpu, waits, faults = (neighbour_stacks(folder, kind) for kind in ("cpu", "offcpu", "faults"))
    expected = rows[0]["cpu"]["total_ns"] / 1e9 * report["sampling"]["frequency_hz"]
    samples = sum(count for _, count in cpu)
    # So many samples tell a share to so much; those that no program could take are not the flood's doing.
    slack = 3 * expected**0.5 + expected * report["samples"]["lost"] / max(report["samples"]["expected"], 1)
    checks.check(samples >= NEEDED * expected - slack, f"{name}: {samples} samples of the neighbour, {expected:.0f} by its CPU time")
    checks.check(whole_share(cpu) >= NEEDED, f"{name}: {100 * whole_share(cpu):.1f} % of them have a whole stack")
    waited = rows[0]["offcpu"]
    waited_us = sum(waited[state] for state in ("sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns")) / 1e3 + rows[0]["waiting"]["runqueue_ns"] / 1e3
    known_us = sum(count for frames, count in waits if "main" in frames)
    if "offcpu" in report["events"]:
        checks.check(known_us >= NEEDED * waited_us, f"{name}: {known_us / 1e3:.0f} of {waited_us / 1e3:.0f} ms of its waits have a whole stack")
    # With a limit of overhead few of them are sampled.
    if sum(count for _, count in faults) > 1000:
        checks.check(whole_share(faults) >= NEEDED, f"{name}: {100 * whole_share(faults):.1f} % of its page faults have a whole stack")
    account = report["samples"]
    checks.check(account["expected"] == account["recorded"] + account["lost"], f"{name}: each sample is recorded or counted as lost")
    lost = {c["name"]: c["count"] for c in report["counters"] if c["is_loss"]}
    ring = lost.get("LOST_RING_FULL", 0)
    checks.check(ring <= account["expected"] / 100, f"{name}: {ring} of {account['expected']} samples found no room")
    cost = report["cost"]
    used = (cost["cpu_ns"] - cost["start_cpu_ns"] + cost.get("bpf_cpu_ns", 0)) / seconds / 1e7
    memory = cost.get("memory_peak_bytes", 0) / 2**20
    print(f"  pkbpf: {used:.1f} % of a CPU, {memory:.0f} MiB; lost: {lost}")
    if mib:
        checks.check(0 < memory <= mib, f"{name}: {memory:.0f} MiB of {mib:.0f} allowed")
    # Detail is given up step by step, one a second.
    if percent and seconds >= LONG_SECONDS:
        checks.check(used <= percent or counters.get("OVERHEAD_ABOVE", 0) > 0, f"{name}: {used:.1f} % of a CPU; {percent:.0f} % are allowed, or it is said that they do not suffice")


main()
