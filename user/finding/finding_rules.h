/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of findings, and what they share. */
#ifndef PKBPF_FINDING_FINDING_RULES_H
#define PKBPF_FINDING_FINDING_RULES_H

#include "base/clock.h"
#include "finding/analysis.h"
#include "finding/finding.h"
#include "rows/lock_view.h"

/*
 * The rules there are: ROW(name, summary, reason of its
 * threshold, measurements that its clauses need). Where it is found is in the
 * file of its subject. Of findings that are equally bad, those of earlier rules come first.
 */
#define FINDING_RULES(ROW)                                                                         \
	ROW(out_of_memory, "a process was killed by the OOM killer",                               \
	    "each kill: no process gets over one",                                                 \
	    "oom_mm of the process at its end, and the line of the kernel log; a process that "    \
	    "only shared the memory \"ended when the "                                             \
	    "OOM killer took its memory\"")                                                        \
	ROW(frozen, "a cgroup is frozen: a container is paused",                                   \
	    "each: its threads do nothing until it is thawed",                                     \
	    "state of the cgroup at the end of the interval; CPU time tells that it ran before")   \
	ROW(stopped, "a process is stopped by a signal or a debugger",                             \
	    "a fifth of its wall time: it does nothing meanwhile",                                 \
	    "time in the stopped state (T, t), from sched_switch")                                 \
	ROW(cpu_limit, "a cgroup is throttled by its CPU limit (cpu.max)",                         \
	    "throttled in 5 % of its active periods: below that a request in twenty, or fewer, "   \
	    "waits",                                                                               \
	    "cpu.stat of the cgroup at both ends: periods, throttled periods, throttled time")     \
	ROW(short_lived, "CPU time goes to 50 or more short-lived processes per second",           \
	    "50 per second: to start one takes about 1 ms, so fewer use less than a twentieth of " \
	    "a CPU",                                                                               \
	    "start, end, parent and CPU time of each process")                                     \
	ROW(deadlock, "threads wait for each other's locks",                                       \
	    "each: they wait until the program ends",                                              \
	    "of threads that have not run for a second, the word of the lock that each waits for " \
	    "without a time-out: it names the owner, and the owners make a cycle")                 \
	ROW(lock_bound, "threads wait for a lock that others hold",                                \
	    "a fifth of the active time: halving less would change little",                        \
	    "waits whose stack is in a function that takes a lock; \"released by\" needs sampled " \
	    "wake-ups, \"held by\" an owner in /proc/locks, \"held meanwhile in\" time of one "    \
	    "thread below the function that gives the lock back")                                  \
	ROW(timeout_bound, "a condition is not signalled: waits end by their time-out",            \
	    "nine in ten waits: some time-outs are normal",                                        \
	    "sampled wake-ups of the waits: nine in ten by a timer, and work after them")          \
	ROW(io_limit, "block I/O is held back by a limit of the cgroup",                           \
	    "a fifth of the active time, of which the device explains less than half",             \
	    "the limits of the cgroup, the rate that its processes reach, and the service time "   \
	    "of the device")                                                                       \
	ROW(disk_shared, "block I/O waits behind that of other processes",                         \
	    "others move nine tenths of the bytes of its devices",                                 \
	    "bytes of each device and of each process; a name only where its bytes must be on "    \
	    "this device")                                                                         \
	ROW(fsync_bound, "threads wait for fsync or a file-system journal",                        \
	    "a fifth of the active time",                                                          \
	    "waits whose stack is in fsync, O_SYNC writes, msync or the journal")                  \
	ROW(dirty_throttled,                                                                       \
	    "writers are throttled: they dirty pages faster than the disk takes them",             \
	    "a fifth of the active time",                                                          \
	    "waits whose stack is in balance_dirty_pages of the kernel")                           \
	ROW(swap_bound, "threads wait for pages from swap", "a fifth of the active time",          \
	    "waits whose stack reads from swap; not those for pages that the kernel moves")        \
	ROW(memory_limit, "threads wait for memory to be reclaimed", "a fifth of the active time", \
	    "waits whose stack reclaims memory; a limit is not claimed")                           \
	ROW(disk_bound, "threads wait for block I/O", "a fifth of the active time",                \
	    "time in disk wait, and requests with their service time")                             \
	ROW(kernel_bound, "threads are in D state, but not for I/O", "a fifth of the active time", \
	    "time in D state without I/O; a lock is not claimed")                                  \
	ROW(peer_bound, "a peer does not answer, or does not take what is sent",                   \
	    "half of the looks at its sockets: a peer that is fast is seldom met waiting",         \
	    "a request without an answer in most looks at the socket, or the messages of -e "      \
	    "network; else the process that ends the waits")                                       \
	ROW(peer_fails, "connections to a peer fail",                                              \
	    "5 failures, a tenth of the attempts: single ones are normal",                         \
	    "failed calls of -e network, beside those that succeeded")                             \
	ROW(java_pause, "threads wait for the Java VM (safepoint or heap)",                        \
	    "a fifth of the active time",                                                          \
	    "waits below the VM's functions for safepoints, for operations that stop threads, "    \
	    "and for memory of the heap")                                                          \
	ROW(name_lookup, "lookups of names take long, or get no answer",                           \
	    "3 queries, a tenth of them: each is a wait of seconds",                               \
	    "messages to port 53 without an answer; \"time out\" needs a wait of a second or "     \
	    "more")                                                                                \
	ROW(retransmits, "TCP segments are sent again",                                            \
	    "20 segments, 1 %: from there on throughput falls noticeably",                         \
	    "tcp_retransmit_skb; segments by bytes sent, so the percentage is a lower bound")      \
	ROW(sleep_bound, "a program sleeps between attempts that fail, or between looks",          \
	    "half of its time, with failing connections or 1,000 looks per second",                \
	    "waits in sleep calls, and failed connections of the network namespace or the number " \
	    "of sleeps")                                                                           \
	ROW(spin, "CPU time goes to looking whether something has happened",                       \
	    "half of the CPU time in calls that find nothing to wait for, or in spin locks",       \
	    "CPU samples in a call that waits, without waits between, or in a spin lock")          \
	ROW(fault_storm, "memory is given back and touched again",                                 \
	    "a fifth of the CPU time in page faults while RSS grows by less than a quarter of "    \
	    "what they brought",                                                                   \
	    "minor faults, growth of RSS, and CPU samples in page faults; \"given back\" needs "   \
	    "samples in munmap and its kind")                                                      \
	ROW(syscall_bound, "CPU time goes to many small system calls",                             \
	    "half of the CPU time in one system call that copies little",                          \
	    "CPU samples in one system call; \"small\" needs bytes per call from /proc/PID/io")    \
	ROW(handover, "two threads hand over to each other without end",                           \
	    "5,000 switches per second and thread with less than 50 us of work: a switch costs "   \
	    "about 5 us, or all that the kernel computes where work is shorter than 20 us",        \
	    "context switches, and CPU time between them")                                         \
	ROW(cpu_starved, "more threads are runnable than the CPUs can run",                        \
	    "CPUs 90 % busy, a tenth of runnable time in waiting, p99 of 1 ms: shorter waits are " \
	    "wake-ups, not others' time slices; or half of runnable time in waits of any length",  \
	    "run-queue wait of all threads, and how busy CPUs are")                                \
	ROW(queue_bound, "a process waits for a CPU that others use",                              \
	    "a fifth of the active time, and p99 of 1 ms or CPUs 90 % busy and half of runnable "  \
	    "time in waiting",                                                                     \
	    "run-queue wait of the process; names need sampled waits")                             \
	ROW(slow_device, "service time of block devices: p99 of 20 ms or more",                    \
	    "20 ms: a disk that seeks needs less for nearly every request",                        \
	    "service time of reads and writes of each device, also of those below a loop "         \
	    "device; discards and flushes do not count")                                           \
	ROW(major_faults, "a process has 20 or more major faults per second",                      \
	    "20, and 20 per second: a read takes some milliseconds where disks are slow; below "   \
	    "200, 2 % "                                                                            \
	    "of the interval in waits for a disk, where waits are recorded",                       \
	    "major faults; a program that starts is no alarm")                                     \
	ROW(memory_grows, "memory of a process grows beyond all it has had",                       \
	    "1 MiB/s, 10 MiB and a tenth of it, at its peak at the end: what falls again is no "   \
	    "leak",                                                                                \
	    "RSS without files and shared pages at both ends, and the peak")                       \
	ROW(heap_grows, "live memory of a place of allocation grows like a leak",                  \
	    "growth beyond three standard errors, 1 MiB and 1 % of what is alive, that does not "  \
	    "slow down, from most of the run, and of whose old allocations nine tenths stay",      \
	    "sampled allocations and frees, and their age")                                        \
	ROW(heap_kept, "the allocator holds memory that the program has freed",                    \
	    "64 MiB and half of the private memory: less may be used again",                       \
	    "largest and last live heap, and RSS")                                                 \
	ROW(memory_low, "less than 5 % of memory is available",                                    \
	    "5 %: from there on the kernel reclaims pages that are in use",                        \
	    "MemAvailable: an estimate of the kernel")                                             \
	ROW(gpu_memory_low, "95 % or more of a GPU's memory is in use",                            \
	    "95 %: the next allocation may fail, and allocators that cache work harder before",    \
	    "memory of the device by its driver; the place needs calls (--gpu-calls)")             \
	ROW(gpu_throttled, "heat or a power limit slows a GPU down; power is no alarm",            \
	    "5 % of the time for heat, a fifth for power: at full load that is normal",            \
	    "why clocks are low, by the driver once a second")                                     \
	ROW(gpu_spinning, "CPU time goes to spinning for a GPU", "a fifth of a CPU",               \
	    "CPU samples below calls of CUDA and HIP that only wait (Synchronize)")                \
	ROW(gpu_idle, "a GPU has little to do while its process does something else",              \
	    "less than half busy, waited for less than half of the time, and a fifth of the "      \
	    "time in one other thing",                                                             \
	    "utilization by the driver, of a device that one process uses; time of its threads "   \
	    "below calls that wait for a GPU")                                                     \
	ROW(gpu_launch_bound, "kernels are shorter than their launches",                           \
	    "5,000 launches per second of less than 50 us of GPU time, half of a CPU in them, "    \
	    "hardly a wait for the GPU, and a GPU less than 70 % busy",                            \
	    "launches counted (--gpu-calls), CPU samples below them, and GPU time of the "         \
	    "process by the driver")                                                               \
	ROW(gpu_small_copies, "many small copies to or from a GPU",                                \
	    "1,000 per second below 16 KiB on average, which take 5 % of the time",                \
	    "copies counted, with bytes and time (--gpu-calls)")                                   \
	ROW(gpu_copies_block, "asynchronous copies block their caller",                            \
	    "5 % of the time, 100 us each: to queue a copy takes some microseconds",               \
	    "time of asynchronous copies (--gpu-calls); that their memory is pageable is not "     \
	    "claimed")                                                                             \
	ROW(gpu_unused, "one of several GPUs works, and another does nothing; no alarm",           \
	    "half busy and less than 5 % busy", "utilization by the driver, of equal devices")     \
	ROW(stolen, "steal time: the hypervisor runs other guests", "5 % of all CPU time",         \
	    "steal time of /proc/stat")                                                            \
	ROW(throttled_by_heat, "heat slows the CPUs down",                                         \
	    "once per second: single times pass within milliseconds",                              \
	    "throttle counts of the CPUs")                                                         \
	ROW(samples_lost, "1 % or more of the CPU samples were lost",                              \
	    "1 %: shares are given in whole percent",                                              \
	    "samples expected and recorded; five at least")                                        \
	ROW(waits_lost, "1 % or more of the waits were lost", "1 %: as samples_lost",              \
	    "waits lost and recorded; five at least")                                              \
	ROW(cpu_bound, "a process uses half of a CPU or more; no alarm", "half of a CPU",          \
	    "CPU time of the process; the place from samples")                                     \
	ROW(healthy, "nothing limits it; no alarm", "no other rule holds",                         \
	    "\"nothing limits it\" needs that all waits but sleep and idle are known and below "   \
	    "10 %; else \"nothing is known to limit it\"")                                         \
	ROW(too_short, "the interval is too short for findings; no alarm",                         \
	    "100 ms: ten samples of a CPU at 99 Hz", "length of the interval")

struct finding_rule {
	const char *name, *summary, *reason, *proof;
};

enum finding_rule_number {
#define ROW(name, summary, reason, proof) FINDING_RULE_##name,
	FINDING_RULES(ROW)
#undef ROW
		FINDING_RULE_COUNT
};

extern const struct finding_rule finding_rules[FINDING_RULE_COUNT];

/* A finding of this rule, about nobody yet. */
struct finding finding_new(enum finding_rule_number rule);

/* Each offers the findings of its subject. */
void find_locks(const struct analysis *analysis, struct findings *findings);
/* Also of one process that lock_bound would name: does its threads' deadlock explain its waits? */
void find_deadlocks(const struct analysis *analysis, struct findings *findings);
/* Says why a followed lock makes threads wait: held across I/O, priority inversion, starving
 * writers, a convoy. Returns what to do about it; NULL: nothing of these. */
const char *finding_say_lock_pattern(struct finding *finding, const struct analysis *analysis,
				     const struct lock_view *view);
bool activity_has_deadlock(const struct analysis *analysis, const struct activity *activity);
void find_waits(const struct analysis *analysis, struct findings *findings);
void find_peers(const struct analysis *analysis, struct findings *findings);
void find_cpu(const struct analysis *analysis, struct findings *findings);
void find_calls(const struct analysis *analysis, struct findings *findings);
void find_storage(const struct analysis *analysis, struct findings *findings);
void find_memory(const struct analysis *analysis, struct findings *findings);
void find_gpu(const struct analysis *analysis, struct findings *findings);
void find_host(const struct analysis *analysis, struct findings *findings);
void find_healthy(const struct analysis *analysis, struct findings *findings);

/* Parts of find_cpu(). */
void find_frozen(const struct analysis *analysis, struct findings *findings);
void find_stopped(const struct analysis *analysis, const struct activity *activity,
		  struct findings *findings);
void find_cpu_limit(const struct analysis *analysis, struct findings *findings);
void find_short_lived(const struct analysis *analysis, struct findings *findings);

/* Part of find_memory(). */
void find_heap(const struct analysis *analysis, const struct activity *activity,
	       struct findings *findings);

/* Part of find_calls(); whether there is such a finding. */
bool find_handover(const struct analysis *analysis, const struct activity *activity,
		   struct findings *findings);

/* Keeps it when it is among the worst. */
void findings_offer(struct findings *findings, struct finding *finding);

/*
 * Thresholds of several rules; others stand with their rule. A time counts from a fifth of the
 * active time on: below that, halving it would change little. A rate needs a good number of events,
 * so that one slow request is no finding.
 */
#define ACTIVE_PERCENT 20
/* In percent: less hurts nobody. */
#define LEAST_SEVERITY 1
/* Run-queue wait in the runnable time, of the machine. */
#define CPU_QUEUE_PERCENT 10
/* Shorter waits for a CPU are wake-ups, longer ones the time slices of others. */
#define RUNQUEUE_P99_NS NS_PER_MS
/* Programs named in one finding. */
#define LISTED 4

/* Part of a whole; 0 of nothing. */
double finding_percent(double part, double whole);
/* Length of the interval. */
double finding_seconds(const struct resource_rows *rows);
/* A time as a share of the interval, at most 100: a process that lived for a moment is no worse off
 * than that is long. */
double finding_severity(const struct resource_rows *rows, uint64_t time_ns);
/* A time of any number of threads as a share of the interval: cost of a finding. */
double finding_cost(const struct resource_rows *rows, uint64_t time_ns);
/* A time of a group as a share of what it does, and of the interval. */
double activity_severity(const struct analysis *analysis, const struct activity *activity,
			 uint64_t time_ns);
/* Part of a CPU that a group would use on an idle machine. Who is preempted more often than it
 * waits of its own accord would compute in the time in which it waits for a CPU. */
double computing_severity(const struct analysis *analysis, const struct activity *activity);
/* Of the time that wanted a CPU, what went by in waiting for one. */
double finding_queue_percent(const struct resource_row *row);
/* Targets that wait for CPUs mostly because they may not use more of them. */
bool finding_targets_are_limited(const struct resource_rows *rows);
/* The same of a group; of targets as a whole. */
bool finding_is_limited(const struct analysis *analysis, const struct activity *activity);
const char *finding_name(const struct resource_row *row);
/* The I/O limit of the group's cgroup, if that and not the device explains waits of this length;
 * NULL: none. */
const struct relation *finding_io_limit(const struct analysis *analysis,
					const struct activity *activity, uint64_t wait_ns);
/* Cause, and what to do. */
void finding_say_io_limit(struct finding *finding, const struct relation *limit);
/* What to do about a peer that is waited for, pid 0: unknown; is_due: a request was seen that it
 * has not answered. */
void finding_say_peer_advice(struct finding *finding, uint32_t pid, bool is_due);
/* A relation of one of a group's processes. */
bool activity_has_pid(const struct activity *activity, uint32_t pid);

/* Appends to a part of a finding, up to its size. */
void finding_say(char part[FINDING_PART_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "postgres 812", "postgres (4 processes)", "docker:0123456789ab"; whom the finding is about,
 * too. */
void finding_say_group(char part[FINDING_PART_SIZE], const struct row_group *group);
void finding_say_who(struct finding *finding, const struct analysis *analysis,
		     const struct activity *activity);
/* "83 % of wall time" */
void finding_say_wall(char part[FINDING_PART_SIZE], const struct activity *activity,
		      uint64_t time_ns);
/* Stacks that explain a finding. */
struct finding_stacks {
	enum pkbpf_profile_kind kind;
	unsigned int states;		  /* as for resource_rows_explain() */
	const struct wait_choice *choice; /* too */
};

#define FINDING_SHARE_SIZE 32
/* "57 %", "57 +- 4 %"; returns buffer. */
const char *finding_share(char buffer[FINDING_SHARE_SIZE], double percent, double error);
/* Fewer samples are no figure: of five, two standard errors of their number (Poisson) are 4.5, of
 * four 4, so that there may be none. */
#define LEAST_COUNTED 5
/* Two standard errors of a percentage of so many samples (binomial). */
double finding_share_error(double percent, uint64_t samples);

/* "XLogFlush > fdatasync", or of what has no names the address met most often, "[gzip+0x1234]";
 * nothing when no function with a name explains half of it, or when fewer than LEAST_COUNTED
 * samples do. Returns its percentage, 0: nothing. */
double finding_say_place(char part[FINDING_PART_SIZE], const struct analysis *analysis,
			 const struct activity *activity, const struct finding_stacks *stacks);
/* The same as the finding's place, with the part of `base` ("of it") that is there. Returns whether
 * there is one. */
bool finding_set_place(struct finding *finding, const char *base, const struct analysis *analysis,
		       const struct activity *activity, const struct finding_stacks *stacks);
/* Waits of some classes (WAIT_CLASS_BIT): for the above. */
struct class_choice {
	const struct analysis *analysis;
	uint64_t classes;
	struct wait_choice choice; /* of the above */
};
struct finding_stacks class_stacks(struct class_choice *choice, const struct analysis *analysis,
				   uint64_t classes);

#endif
