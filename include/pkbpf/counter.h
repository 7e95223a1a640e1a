/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of everything that happens to samples on the kernel side and in the readers. One row
 * here is all a new counter needs: X(NAME, enum pkbpf_loss, "text for people").
 */
#ifndef PKBPF_COUNTER_H
#define PKBPF_COUNTER_H

enum pkbpf_loss {
	PKBPF_LOSS_NONE = 0,   /* worth knowing only */
	PKBPF_LOSS_SAMPLE = 1, /* one expected CPU sample less */
	PKBPF_LOSS_OTHER = 2,  /* something else is missing: a record, a request, a thread */
};

#define PKBPF_COUNTERS(X)                                                                          \
	X(CPU_EXPECTED, PKBPF_LOSS_NONE, "CPU samples due in the targets")                         \
	X(CPU_RECORDED, PKBPF_LOSS_NONE, "CPU samples recorded")                                   \
	X(CPU_IDLE, PKBPF_LOSS_NONE, "CPU samples of the idle task, left out")                     \
	X(LOST_RING_FULL, PKBPF_LOSS_SAMPLE, "ring buffer full")                                   \
	X(LOST_NO_SCRATCH, PKBPF_LOSS_SAMPLE, "no scratch memory in the kernel")                   \
	X(LOST_TARGET_MAP_FULL, PKBPF_LOSS_OTHER, "too many followed processes")                   \
	X(LOST_SIDEBAND, PKBPF_LOSS_OTHER, "process and mapping records lost by perf")             \
	X(LOST_MALFORMED, PKBPF_LOSS_SAMPLE, "records the decoder refused")                        \
	X(LOST_NO_MEMORY, PKBPF_LOSS_SAMPLE, "out of memory while aggregating")                    \
	X(KERNEL_STACK_FAILED, PKBPF_LOSS_NONE, "kernel stacks that could not be read")            \
	X(USER_STACK_FAILED, PKBPF_LOSS_NONE, "user stacks that could not be read")                \
	X(STACK_TABLE_FULL, PKBPF_LOSS_NONE,                                                       \
	  "stacks sent again because the table of known ones was full")                            \
	X(STACK_RING_FULL, PKBPF_LOSS_OTHER, "events without their stack: ring buffer full")       \
	X(STACK_UNKNOWN, PKBPF_LOSS_NONE, "events whose stack did not arrive")                     \
	X(OFFCPU_UNSEEN_SWITCHES, PKBPF_LOSS_NONE,                                                 \
	  "context switches that the kernel did not announce")                                     \
	X(OFFCPU_STACKS_WALKED, PKBPF_LOSS_NONE, "waits whose stack was walked")                   \
	X(OFFCPU_MEMO_CHECKED, PKBPF_LOSS_NONE, "recognised stacks walked again as a check")       \
	X(OFFCPU_MEMO_WRONG, PKBPF_LOSS_NONE, "stacks recognised wrongly, among those checked")    \
	X(OFFCPU_BLOCKED_SKIPPED, PKBPF_LOSS_NONE, "blocked threads whose stack was not read")     \
	X(THREAD_TABLE_FULL, PKBPF_LOSS_OTHER,                                                     \
	  "switches of threads without room in the thread table")                                  \
	X(ROW_TABLE_FULL, PKBPF_LOSS_NONE,                                                         \
	  "waits sent one by one because the table of waits was full")                             \
	X(HISTOGRAM_TABLE_FULL, PKBPF_LOSS_OTHER,                                                  \
	  "stacks of waits or requests whose lengths found no room")                               \
	X(BLOCKIO_LOST, PKBPF_LOSS_OTHER, "block requests without room in the tables")             \
	X(BLOCKIO_UNFINISHED, PKBPF_LOSS_OTHER, "block requests whose completion was not seen")    \
	X(BLOCKIO_BEGUN_BEFORE, PKBPF_LOSS_NONE,                                                   \
	  "block requests begun before the start, left out")                                       \
	X(BLOCKIO_STACKS_WALKED, PKBPF_LOSS_NONE, "block requests whose stack was walked")         \
	X(BLOCKIO_ERRORS, PKBPF_LOSS_NONE, "block requests that failed")                           \
	X(BLOCKIO_PARTIAL, PKBPF_LOSS_NONE, "block requests completed in parts")                   \
	X(BLOCKIO_MERGES, PKBPF_LOSS_NONE, "block requests merged into others")                    \
	X(BLOCKIO_REQUEUES, PKBPF_LOSS_NONE, "block requests the device would not take at once")   \
	X(BLOCKIO_SPLITS, PKBPF_LOSS_NONE, "block requests split for being too large")             \
	X(FAULTS_TABLE_FULL, PKBPF_LOSS_OTHER,                                                     \
	  "ended threads without room for the count of their page faults")                         \
	X(RESOURCE_LATE, PKBPF_LOSS_NONE,                                                          \
	  "ended threads accounted without their last moments: ring buffer full")                  \
	X(STACK_TRUNCATED, PKBPF_LOSS_NONE, "stacks deeper than the limit")                        \
	X(GUESSED_FRAMES, PKBPF_LOSS_NONE,                                                         \
	  "user frames found by frame pointers in code without tables")                            \
	X(RAW_STACKS, PKBPF_LOSS_NONE, "samples sent as stack memory, walked later")               \
	X(RAW_STACK_LIMITED, PKBPF_LOSS_NONE,                                                      \
	  "samples not sent as stack memory: too many per second")                                 \
	X(RAW_STACK_RING_FULL, PKBPF_LOSS_NONE,                                                    \
	  "samples not sent as stack memory: ring buffer full")                                    \
	X(UNWIND_PROCESS_MAP_FULL, PKBPF_LOSS_NONE,                                                \
	  "forked processes without room for their unwind entry")                                  \
	X(UNWIND_MAPPINGS_FULL, PKBPF_LOSS_NONE,                                                   \
	  "changes of mappings that the unwinder had no room for")                                 \
	X(UNWIND_CHECKED, PKBPF_LOSS_NONE, "user stacks walked again in user space as a check")    \
	X(UNWIND_CHECK_WRONG, PKBPF_LOSS_NONE,                                                     \
	  "user stacks walked differently, among those checked")                                   \
	X(BLOCKIO_REQUESTLESS, PKBPF_LOSS_OTHER,                                                   \
	  "I/O of devices that make no block requests (zram, RAM disks), not measured")            \
	X(CPUS_ARRIVED, PKBPF_LOSS_NONE,                                                           \
	  "CPUs that came online meanwhile, sampled since shortly after")                          \
	X(OFFCPU_WITHOUT_STACK, PKBPF_LOSS_NONE,                                                   \
	  "waits counted without a stack, to keep within --max-overhead")                          \
	X(SLOW_IO_LOST, PKBPF_LOSS_OTHER,                                                          \
	  "slow block requests counted but not compared one by one: ring buffer full")             \
	X(LOST_TIMER_LATE, PKBPF_LOSS_SAMPLE,                                                      \
	  "sampling timer late: virtual CPU stopped, or interrupts off")                           \
	X(LOST_NOT_CALLED, PKBPF_LOSS_SAMPLE,                                                      \
	  "program not called: another BPF program or bpf() call was running")                     \
	X(CPU_NOT_CALLED, PKBPF_LOSS_NONE,                                                         \
	  "sampling periods without a sample, of threads unknown")                                 \
	X(KERNEL_WALK_CHECKED, PKBPF_LOSS_NONE,                                                    \
	  "kernel stacks walked by the kernel as well, as a check")                                \
	X(KERNEL_WALK_WRONG, PKBPF_LOSS_NONE,                                                      \
	  "kernel stacks walked differently, among those checked: the rest were left to the "      \
	  "kernel")                                                                                \
	X(KERNEL_WALK_LEFT, PKBPF_LOSS_NONE, "kernel stacks left to the kernel's own walk")        \
	X(STACK_SHORTENED, PKBPF_LOSS_NONE,                                                        \
	  "events whose rare stacks were shortened to save memory")                                \
	X(RESOURCE_UNFREED, PKBPF_LOSS_NONE,                                                       \
	  "ended threads accounted without their last moments: freed too late, or where no "       \
	  "programs run")                                                                          \
	X(PROCESSES_GROUPED, PKBPF_LOSS_NONE,                                                      \
	  "ended processes told in groups of one name and cgroup to save memory")                  \
	X(RESOURCE_LOST, PKBPF_LOSS_OTHER, "ended threads not accounted: ring buffer full")        \
	X(OFFCPU_RING_FULL, PKBPF_LOSS_OTHER,                                                      \
	  "waits, or their part in the run queue: ring buffer full")                               \
	X(FAULTS_RING_FULL, PKBPF_LOSS_OTHER, "page faults: ring buffer full")                     \
	X(EVENTS_NO_MEMORY, PKBPF_LOSS_OTHER,                                                      \
	  "waits, requests, faults and accounts: out of memory while aggregating")                 \
	X(EVENTS_NO_SCRATCH, PKBPF_LOSS_OTHER,                                                     \
	  "requests, faults and stacks of waits: no scratch memory in the kernel")                 \
	X(BLOCKIO_UNCHECKED, PKBPF_LOSS_NONE,                                                      \
	  "looks at block requests at the end that failed: what ended unseen counts as under way") \
	X(BLOCKIO_BY_WORKER, PKBPF_LOSS_NONE,                                                      \
	  "block requests that a kernel worker issued, for whom is not known (I/O limits of "      \
	  "cgroups, encryption)")                                                                  \
	X(FAULTS_UNDIVIDED, PKBPF_LOSS_OTHER,                                                      \
	  "processes whose page faults include what the kernel fetched itself: too many "          \
	  "processes")                                                                             \
	X(CPU_LIMITS_LEFT_OUT, PKBPF_LOSS_OTHER,                                                   \
	  "cgroups whose CPU limit was left out: too many cgroups")                                \
	X(BLOCKIO_REQUESTLESS_HOST, PKBPF_LOSS_NONE,                                               \
	  "I/O on the whole host of devices that make no block requests (zram, RAM disks), not "   \
	  "measured, for whom is not known")                                                       \
	X(CGROUPS_UNNAMED, PKBPF_LOSS_NONE,                                                        \
	  "cgroups without a name: gone before it was read, or too many")

enum pkbpf_counter {
#define X(name, loss, text) PKBPF_COUNTER_##name,
	PKBPF_COUNTERS(X)
#undef X
		PKBPF_COUNTER_COUNT
};

#endif
