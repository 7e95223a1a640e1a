/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of everything that happens to samples and events, in the BPF programs and in user space.
 * A new counter is one row: X(NAME, enum pkbpf_loss, "text of the report").
 */
#ifndef PKBPF_COUNTER_H
#define PKBPF_COUNTER_H

enum pkbpf_loss {
	PKBPF_LOSS_NONE = 0,   /* nothing is missing, nothing is in doubt: in JSON and with -v */
	PKBPF_LOSS_SAMPLE = 1, /* one expected CPU sample less */
	PKBPF_LOSS_OTHER = 2,  /* something else is missing: a record, a request, a thread */
	PKBPF_LOSS_NOTE = 3,   /* nothing is missing, but the reader may have to doubt something */
};

#define PKBPF_IS_LOSS(loss) ((loss) == PKBPF_LOSS_SAMPLE || (loss) == PKBPF_LOSS_OTHER)

#define PKBPF_COUNTERS(X)                                                                          \
	X(CPU_EXPECTED, PKBPF_LOSS_NONE, "CPU samples expected in the targets")                    \
	X(CPU_RECORDED, PKBPF_LOSS_NONE, "CPU samples recorded")                                   \
	X(CPU_IDLE, PKBPF_LOSS_NONE, "CPU samples of the idle task, not recorded")                 \
	X(LOST_RING_FULL, PKBPF_LOSS_SAMPLE, "ring buffer full")                                   \
	X(LOST_NO_SCRATCH, PKBPF_LOSS_SAMPLE, "no scratch memory in the kernel")                   \
	X(LOST_TARGET_MAP_FULL, PKBPF_LOSS_OTHER,                                                  \
	  "forked processes not followed (target map full)")                                       \
	X(LOST_SIDEBAND, PKBPF_LOSS_OTHER, "task and mmap records (perf ring buffer full)")        \
	X(LOST_MALFORMED, PKBPF_LOSS_SAMPLE, "malformed records")                                  \
	X(LOST_NO_MEMORY, PKBPF_LOSS_SAMPLE, "out of memory during aggregation")                   \
	X(KERNEL_STACK_FAILED, PKBPF_LOSS_NOTE, "kernel stacks that could not be read")            \
	X(USER_STACK_FAILED, PKBPF_LOSS_NOTE, "user stacks that could not be read")                \
	X(STACK_TABLE_FULL, PKBPF_LOSS_NONE, "stacks sent again (stack table full)")               \
	X(STACK_RING_FULL, PKBPF_LOSS_OTHER, "stacks of events (ring buffer full)")                \
	X(STACK_UNKNOWN, PKBPF_LOSS_NOTE, "events whose stack never arrived")                      \
	X(OFFCPU_UNSEEN_SWITCHES, PKBPF_LOSS_NOTE, "switches without a sched_switch event")        \
	X(OFFCPU_STACKS_WALKED, PKBPF_LOSS_NONE, "waits whose stack was unwound")                  \
	X(OFFCPU_MEMO_CHECKED, PKBPF_LOSS_NONE, "cached stacks re-verified")                       \
	X(OFFCPU_MEMO_WRONG, PKBPF_LOSS_NOTE,                                                      \
	  "cached stacks that were wrong, of those re-verified")                                   \
	X(OFFCPU_BLOCKED_SKIPPED, PKBPF_LOSS_NOTE, "blocked threads whose stack was not read")     \
	X(THREAD_TABLE_FULL, PKBPF_LOSS_OTHER, "context switches (thread table full)")             \
	X(ROW_TABLE_FULL, PKBPF_LOSS_NONE, "waits sent one by one (table of waits full)")          \
	X(HISTOGRAM_TABLE_FULL, PKBPF_LOSS_OTHER,                                                  \
	  "wait-time or latency distributions of stacks (histogram table full)")                   \
	X(BLOCKIO_LOST, PKBPF_LOSS_OTHER, "block requests (request table full)")                   \
	X(BLOCKIO_UNFINISHED, PKBPF_LOSS_OTHER, "block requests without a completion event")       \
	X(BLOCKIO_BEGUN_BEFORE, PKBPF_LOSS_NONE,                                                   \
	  "block requests issued before the interval, not recorded")                               \
	X(BLOCKIO_STACKS_WALKED, PKBPF_LOSS_NONE, "block requests whose stack was unwound")        \
	X(BLOCKIO_ERRORS, PKBPF_LOSS_NOTE, "block requests that failed")                           \
	X(BLOCKIO_PARTIAL, PKBPF_LOSS_NONE, "block requests completed in parts")                   \
	X(BLOCKIO_MERGES, PKBPF_LOSS_NONE, "block requests merged")                                \
	X(BLOCKIO_REQUEUES, PKBPF_LOSS_NONE, "block requests requeued")                            \
	X(BLOCKIO_SPLITS, PKBPF_LOSS_NONE, "block requests split")                                 \
	X(FAULTS_TABLE_FULL, PKBPF_LOSS_OTHER, "page-fault counts of exited threads (table full)") \
	X(RESOURCE_LATE, PKBPF_LOSS_NOTE,                                                          \
	  "exited threads accounted only up to shortly before their exit (ring buffer full)")      \
	X(STACK_TRUNCATED, PKBPF_LOSS_NONE, "stacks truncated at the maximum depth")               \
	X(GUESSED_FRAMES, PKBPF_LOSS_NONE,                                                         \
	  "user frames found by unverified frame pointers in code without unwind tables")          \
	X(RAW_STACKS, PKBPF_LOSS_NONE, "samples sent as stack memory, unwound in user space")      \
	X(RAW_STACK_LIMITED, PKBPF_LOSS_NONE,                                                      \
	  "samples not sent as stack memory (too many per second)")                                \
	X(RAW_STACK_RING_FULL, PKBPF_LOSS_NONE,                                                    \
	  "samples not sent as stack memory (ring buffer full)")                                   \
	X(UNWIND_PROCESS_MAP_FULL, PKBPF_LOSS_NOTE,                                                \
	  "forked processes without an unwind entry (map full)")                                   \
	X(UNWIND_MAPPINGS_FULL, PKBPF_LOSS_NOTE,                                                   \
	  "mapping changes that the unwinder could not store (map full)")                          \
	X(UNWIND_CHECKED, PKBPF_LOSS_NONE,                                                         \
	  "user stacks verified by a second unwind in user space")                                 \
	X(UNWIND_CHECK_WRONG, PKBPF_LOSS_NOTE,                                                     \
	  "user stacks that differ from the second unwind, of those verified")                     \
	X(BLOCKIO_REQUESTLESS, PKBPF_LOSS_OTHER,                                                   \
	  "I/O of devices without block requests (zram, RAM disks)")                               \
	X(CPUS_ARRIVED, PKBPF_LOSS_NOTE,                                                           \
	  "CPUs that came online during the interval, sampled from shortly afterwards")            \
	X(OFFCPU_WITHOUT_STACK, PKBPF_LOSS_NOTE,                                                   \
	  "waits without a stack (to stay within --max-overhead or --max-cpu)")                    \
	X(SLOW_IO_LOST, PKBPF_LOSS_OTHER,                                                          \
	  "slow block requests missing from the list of the slowest (ring buffer full)")           \
	X(LOST_TIMER_LATE, PKBPF_LOSS_SAMPLE,                                                      \
	  "sampling timer late, virtual CPU stopped or interrupts off")                            \
	X(LOST_NOT_CALLED, PKBPF_LOSS_SAMPLE,                                                      \
	  "BPF program skipped, another one or a bpf() call was running")                          \
	X(CPU_NOT_CALLED, PKBPF_LOSS_NOTE, "missed samples, thread unknown")                       \
	X(KERNEL_WALK_CHECKED, PKBPF_LOSS_NONE,                                                    \
	  "kernel stacks verified against the kernel's unwinder")                                  \
	X(KERNEL_WALK_WRONG, PKBPF_LOSS_NOTE,                                                      \
	  "kernel stacks that differ from the kernel's unwinder, of those verified (the rest use " \
	  "the kernel's)")                                                                         \
	X(KERNEL_WALK_LEFT, PKBPF_LOSS_NONE, "kernel stacks unwound by the kernel (fallback)")     \
	X(STACK_SHORTENED, PKBPF_LOSS_NOTE, "events with a shortened rare stack (to save memory)") \
	X(RESOURCE_UNFREED, PKBPF_LOSS_NOTE,                                                       \
	  "exited threads accounted only up to shortly before their exit (freed late)")            \
	X(PROCESSES_GROUPED, PKBPF_LOSS_NOTE,                                                      \
	  "exited processes merged into groups of one name and cgroup (to save memory)")           \
	X(RESOURCE_LOST, PKBPF_LOSS_OTHER, "exited threads not accounted (ring buffer full)")      \
	X(OFFCPU_RING_FULL, PKBPF_LOSS_OTHER, "waits, or their run-queue part (ring buffer full)") \
	X(FAULTS_RING_FULL, PKBPF_LOSS_OTHER, "page faults (ring buffer full)")                    \
	X(EVENTS_NO_MEMORY, PKBPF_LOSS_OTHER,                                                      \
	  "waits, requests, faults and accounts (out of memory during aggregation)")               \
	X(EVENTS_NO_SCRATCH, PKBPF_LOSS_OTHER,                                                     \
	  "requests, faults and stacks of waits (no scratch memory in the kernel)")                \
	X(BLOCKIO_UNCHECKED, PKBPF_LOSS_NOTE,                                                      \
	  "final checks of in-flight requests that failed (finished requests may be counted as "   \
	  "in flight)")                                                                            \
	X(BLOCKIO_BY_WORKER, PKBPF_LOSS_NOTE,                                                      \
	  "block requests issued by a kernel worker, originator unknown (cgroup I/O limit, "       \
	  "encryption)")                                                                           \
	X(FAULTS_UNDIVIDED, PKBPF_LOSS_OTHER,                                                      \
	  "processes whose page faults include prefaulted pages (too many processes)")             \
	X(CPU_LIMITS_LEFT_OUT, PKBPF_LOSS_OTHER,                                                   \
	  "cgroups whose limits were not read (too many cgroups)")                                 \
	X(BLOCKIO_REQUESTLESS_HOST, PKBPF_LOSS_NOTE,                                               \
	  "I/O of devices without block requests on the whole host (zram, RAM disks; not "         \
	  "measured, originator unknown)")                                                         \
	X(CGROUPS_UNNAMED, PKBPF_LOSS_NOTE,                                                        \
	  "cgroups without a name (removed before it was read, or too many)")                      \
	X(LATE_RECORDS, PKBPF_LOSS_NOTE,                                                           \
	  "records of an earlier interval that came too late to be counted there")                 \
	X(PYTHON_STACKS, PKBPF_LOSS_NONE, "stacks with Python frames")                             \
	X(PYTHON_NO_THREAD, PKBPF_LOSS_NONE,                                                       \
	  "stacks of Python processes in threads without Python")                                  \
	X(PYTHON_LISTED, PKBPF_LOSS_NONE, "Python threads found in the interpreter's list")        \
	X(PYTHON_UNREADABLE, PKBPF_LOSS_NOTE, "Python frames not read (memory not readable)")      \
	X(PYTHON_TOO_DEEP, PKBPF_LOSS_NOTE, "Python stacks cut short (too many frames)")           \
	X(PYTHON_UNPLACED, PKBPF_LOSS_NONE, "stacks with Python frames that no native frame runs") \
	X(PYTHON_CODES, PKBPF_LOSS_NONE, "Python functions named")                                 \
	X(PYTHON_CODE_LOST, PKBPF_LOSS_NOTE, "Python functions without a name (ring buffer full)") \
	X(V8_FUNCTIONS, PKBPF_LOSS_NONE, "JavaScript functions named")                             \
	X(V8_FUNCTION_LOST, PKBPF_LOSS_NOTE,                                                       \
	  "JavaScript frames without a name (ring buffer full)")                                   \
	X(CODE_NAMES_DROPPED, PKBPF_LOSS_NOTE,                                                     \
	  "samples in generated code without a name or lines (unreadable or over a limit)")        \
	X(TRACE_RING_FULL, PKBPF_LOSS_NOTE,                                                        \
	  "waits missing in the trace (ring buffer full; counted in all sums)")                    \
	X(TRACE_TOO_MANY, PKBPF_LOSS_NOTE,                                                         \
	  "events missing in the trace (too many in a slice; counted in all sums)")                \
	X(NETWORK_LOST, PKBPF_LOSS_OTHER,                                                          \
	  "sockets whose messages are not counted (table of peers full)")                          \
	X(NETWORK_PEERS_FULL, PKBPF_LOSS_NOTE,                                                     \
	  "sockets whose peer is counted among others (table of peers full)")                      \
	X(NETWORK_SPLICED, PKBPF_LOSS_NOTE,                                                        \
	  "bytes that splice() received from sockets: in no row of a peer")                        \
	X(REGION_BEGUN_BEFORE, PKBPF_LOSS_NONE,                                                    \
	  "regions left that were entered before the interval, not recorded")                      \
	X(REGION_TOO_DEEP, PKBPF_LOSS_NOTE,                                                        \
	  "regions not measured (more than 32 open in one thread)")                                \
	X(REGION_THREADS_FULL, PKBPF_LOSS_OTHER, "regions (too many threads with regions)")        \
	X(REGION_TABLE_FULL, PKBPF_LOSS_OTHER, "regions (too many names)")                         \
	X(SLOW_REGIONS_LOST, PKBPF_LOSS_NOTE,                                                      \
	  "slow regions and calls not listed (more than 500 a second on a CPU, or no room)")       \
	X(REGION_IDS_FULL, PKBPF_LOSS_OTHER, "regions with an id (too many open)")                 \
	X(CALLERS_FULL, PKBPF_LOSS_OTHER, "stacks of calls (table full)")                          \
	X(ALLOC_SAMPLES, PKBPF_LOSS_NONE, "sampled allocations recorded")                          \
	X(ALLOC_LOST, PKBPF_LOSS_OTHER, "sampled allocations (ring buffer full)")                  \
	X(ALLOC_LOST_BYTES, PKBPF_LOSS_NOTE, "bytes for which lost sampled allocations stand")     \
	X(ALLOC_FREES_LOST, PKBPF_LOSS_OTHER,                                                      \
	  "frees of sampled allocations (ring buffer full): live memory is an upper bound")        \
	X(ALLOC_NO_MEMORY, PKBPF_LOSS_OTHER,                                                       \
	  "sampled allocations (out of memory during aggregation)")                                \
	X(ALLOC_WINDOWS, PKBPF_LOSS_NOTE,                                                          \
	  "windows of 20 ms in which allocations were seen, without what becomes of them; sums "   \
	  "of "                                                                                    \
	  "allocations are of these alone, shares hold for all")                                   \
	X(MEMORY_LOST, PKBPF_LOSS_OTHER,                                                           \
	  "first writes to pages (ring buffer full; pages next to them may be counted for "        \
	  "others)")                                                                               \
	X(MEMORY_NO_MEMORY, PKBPF_LOSS_OTHER, "pages (out of memory during aggregation)")          \
	X(MEMORY_UNSEEN, PKBPF_LOSS_NOTE,                                                          \
	  "processes that ended before their resident memory was looked at")                       \
	X(MEMORY_TABLES_RELEASED, PKBPF_LOSS_NONE,                                                 \
	  "releases of unused symbol tables (to stay within --max-memory)")                        \
	X(MEMORY_PROCESSES_GROUPED, PKBPF_LOSS_NONE,                                               \
	  "times exited processes were grouped (to stay within --max-memory)")                     \
	X(MEMORY_LINES_LEFT_OUT, PKBPF_LOSS_NOTE,                                                  \
	  "source lines and inlined functions not read any more (to stay within --max-memory)")    \
	X(MEMORY_STACKS_SHORTENED, PKBPF_LOSS_NONE,                                                \
	  "times rare stacks were shortened (to stay within --max-memory)")                        \
	X(MEMORY_STACKS_JOINED, PKBPF_LOSS_NOTE,                                                   \
	  "events whose rare stack is counted as [other stacks: limit of memory]")                 \
	X(MEMORY_ABOVE_LIMIT, PKBPF_LOSS_NOTE,                                                     \
	  "looks that found more memory in use than --max-memory")                                 \
	X(SAMPLES_LEFT_OUT, PKBPF_LOSS_NOTE,                                                       \
	  "CPU samples not taken, others stand for them (to stay within --max-overhead or "        \
	  "--max-cpu)")                                                                            \
	X(OVERHEAD_WAKERS, PKBPF_LOSS_NOTE,                                                        \
	  "wake-ups without a waker stack (to stay within --max-overhead or --max-cpu)")           \
	X(OVERHEAD_FAULTS, PKBPF_LOSS_NONE,                                                        \
	  "page faults not sampled, others stand for them (to stay within --max-overhead or "      \
	  "--max-cpu)")                                                                            \
	X(OVERHEAD_BLOCKIO, PKBPF_LOSS_NOTE,                                                       \
	  "block requests without a stack (to stay within --max-overhead or --max-cpu)")           \
	X(OVERHEAD_ABOVE, PKBPF_LOSS_NOTE,                                                         \
	  "seconds above --max-overhead with nothing left to leave out")                           \
	X(STACK_RING_SHARE, PKBPF_LOSS_OTHER,                                                      \
	  "stacks of events (a container or process sent more than its share)")                    \
	X(MERGE_TOO_MANY, PKBPF_LOSS_NOTE,                                                         \
	  "regions, threads, cgroups and readings of memory of slices left out (too many)")        \
	X(FUNCTIONS_UNKNOWN, PKBPF_LOSS_NONE, "names of --function that meant no function")        \
	X(LOCK_UNREADABLE, PKBPF_LOSS_NOTE, "waits for locks that could not be read")              \
	X(LOCK_OWNER_UNKNOWN, PKBPF_LOSS_NONE,                                                     \
	  "waits for locks with an owner that is no known thread")                                 \
	X(LOCK_TABLE_FULL, PKBPF_LOSS_NOTE, "waits for locks without a row (table of locks full)") \
	X(LOCK_PARTS_FULL, PKBPF_LOSS_NOTE,                                                        \
	  "holders and waits of locks without a place (table full)")                               \
	X(GPU_CLIENTS_ENDED, PKBPF_LOSS_NOTE,                                                      \
	  "users of GPUs that ended between two looks (their last part is not counted)")           \
	X(GPU_LEFT_OUT, PKBPF_LOSS_NOTE, "GPUs and users of GPUs left out (too many)")             \
	X(GPU_CALLS_LOST, PKBPF_LOSS_OTHER, "calls of GPU libraries (tables full)")                \
	X(GPU_STACKS_FULL, PKBPF_LOSS_NOTE, "calls of GPU libraries without a stack (table full)") \
	X(GPU_BLOCKS_FULL, PKBPF_LOSS_NOTE,                                                        \
	  "allocations on GPUs whose end is not seen (table full): live memory is an upper bound") \
	X(GPU_CALLS_BEFORE, PKBPF_LOSS_NOTE,                                                       \
	  "calls of GPU libraries that began before they could be seen (not counted)")             \
	X(GPU_CALLS_OPEN, PKBPF_LOSS_NOTE,                                                         \
	  "calls of GPU libraries that had not returned at the end (not counted)")                 \
	X(GPU_NAMES_FULL, PKBPF_LOSS_NOTE, "names of GPU kernels not kept (table full)")           \
	X(GPU_USERS_UNTIMED, PKBPF_LOSS_NOTE,                                                      \
	  "GPU users without a time: the driver does not count it (absent from all figures)")      \
	X(ACCOUNT_EDGES_MS, PKBPF_LOSS_NOTE,                                                       \
	  "ms spent reading resource usage at the interval's ends (CPU times and process counts "  \
	  "may be off by as much)")                                                                \
	X(CONTEXT_READ, PKBPF_LOSS_NONE, "readings of thread contexts")                            \
	X(CONTEXT_NONE, PKBPF_LOSS_NONE, "readings of threads without a context")                  \
	X(CONTEXT_CHANGING, PKBPF_LOSS_NONE,                                                       \
	  "readings of thread contexts that were being written, not used")                         \
	X(CONTEXT_UNREADABLE, PKBPF_LOSS_NOTE, "thread contexts that could not be read")           \
	X(CONTEXT_LONG, PKBPF_LOSS_NOTE,                                                           \
	  "readings of thread contexts with more than 16 attributes (the rest is not read)")       \
	X(CONTEXT_OTHER, PKBPF_LOSS_NOTE,                                                          \
	  "readings whose labels count as [other] (more than 256 sets of a process, or 4,096)")    \
	X(CONTEXT_NO_SET, PKBPF_LOSS_NOTE, "requests in no sum (more than 4,096 sets of labels)")  \
	X(CONTEXT_NAMES_LOST, PKBPF_LOSS_NOTE,                                                     \
	  "labels that arrived late (ring buffer full): the first samples lack them")              \
	X(CONTEXT_LEFT, PKBPF_LOSS_NOTE,                                                           \
	  "requests that ended unseen (exec, or a thread that is no target any more), not "        \
	  "recorded")                                                                              \
	X(CONTEXT_BEGUN_BEFORE, PKBPF_LOSS_NOTE,                                                   \
	  "requests that began before they could be seen, not recorded")                           \
	X(CONTEXT_NO_SCRATCH, PKBPF_LOSS_NOTE,                                                     \
	  "thread contexts not read (no scratch memory in the kernel)")                            \
	X(REQUESTS_LOST, PKBPF_LOSS_NOTE, "slow requests not listed (ring buffer full)")

enum pkbpf_counter {
#define X(name, loss, text) PKBPF_COUNTER_##name,
	PKBPF_COUNTERS(X)
#undef X
		PKBPF_COUNTER_COUNT
};

#endif
