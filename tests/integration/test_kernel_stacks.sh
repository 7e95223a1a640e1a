#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it looks at the stacks of the host
# Kernel stacks that pkbpf walks itself are those that the kernel walks, in system calls, interrupts, page faults, new
# processes and the network; and few are left to the kernel.
# usage: test_kernel_stacks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

grep -q ' __start_orc_unwind_ip$' /proc/kallsyms || skip "this kernel does not say where its unwind tables are"
pids=()
cleanup() {
	kill "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
}

# System calls and page faults, processes, the disk, the network.
(while :; do /bin/true && ls -lR /proc/self/task >/dev/null 2>&1; done) &
pids+=($!)
(while :; do dd if=/dev/zero of="$work/file" bs=1M count=16 oflag=direct 2>/dev/null || dd if=/dev/zero of="$work/file" bs=1M count=16 conv=fsync 2>/dev/null; done) &
pids+=($!)
python3 -c '
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def answer():
    connection = server.accept()[0]
    while connection.recv(4096):
        connection.sendall(bytes(512))
threading.Thread(target=answer, daemon=True).start()
client = socket.create_connection(server.getsockname())
while True:
    client.sendall(bytes(512))
    client.recv(4096)
' 2>/dev/null &
pids+=($!)

record -e cpu -F 4999 -d 5 -o out.json -o out.folded || exit 1
checker - <<'P'
from checks import check, counters, read_report

count = counters(read_report("out.json"))
checked, wrong, left = (count.get("KERNEL_WALK_" + what, 0) for what in ("CHECKED", "WRONG", "LEFT"))
in_kernel = frames = 0
kinds = {"do_syscall_64": 0, "exc_page_fault": 0, "tcp_sendmsg": 0, "handle_softirqs": 0, "__do_softirq": 0}
for line in open("out.folded", errors="replace"):
    stack, samples = line.rsplit(" ", 1)
    kernel = [frame[:-4] for frame in stack.split(";") if frame.endswith("_[k]")]
    if not kernel:
        continue
    in_kernel += int(samples)
    frames += int(samples) * len(kernel)
    for name in kinds:
        kinds[name] += int(samples) * (name in kernel)
print(f"  {in_kernel} samples in the kernel, {frames / max(in_kernel, 1):.1f} frames each; {checked} walks compared, "
      f"{wrong} wrong, {left} left to the kernel; {kinds}")
check(checked >= 50, "enough walks were compared")
check(not wrong, "none differs from the kernel's")
check(left <= 0.1 * in_kernel, "few were left to the kernel")
check(in_kernel >= 2000 and kinds["do_syscall_64"] >= 0.3 * in_kernel and kinds["tcp_sendmsg"] >= 20 and
      kinds["exc_page_fault"] >= 20 and kinds["handle_softirqs"] + kinds["__do_softirq"] >= 5,
      "the programs were seen doing what they do")
P
conclude
