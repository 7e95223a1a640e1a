/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the BPF programs run. The kernel counts it when asked to, by reading a clock before and
 * after each run, which costs a context switch 2 %; so it is asked for a tenth of the time only,
 * and the rest is taken to be like that. For one thread.
 */
#ifndef PKBPF_CAPTURE_PROGRAM_CLOCK_H
#define PKBPF_CAPTURE_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct program_clock;

/* What the last finished counting found: for how long of passed_ns programs that hang on events
 * ran, all CPUs together. */
struct program_share {
	uint64_t number; /* of the counting, 0: none has finished */
	uint64_t ran_ns, passed_ns;
};

/*
 * Starts counting. `object` is loaded, and borrowed. `always`: programs run so seldom that they are
 * counted without pauses. NULL: no memory, or the kernel does not count (before 5.8, or without
 * privileges).
 */
struct program_clock *program_clock_open(const struct bpf_object *object, bool always,
					 uint64_t now_ns);
/* Takes turns; to be called every now and then. */
void program_clock_poll(struct program_clock *clock, uint64_t now_ns);
/* Begins a new counting, the first of those that program_clock_last() tells of. */
void program_clock_restart(struct program_clock *clock, uint64_t now_ns);
struct program_share program_clock_last(const struct program_clock *clock);
/* Counts from now on: programs that run once at the end are about to. */
void program_clock_resume(struct program_clock *clock, uint64_t now_ns);
/* Nanoseconds the programs have run since the opening. false: unknown; also for a clock that is
 * NULL. */
bool program_clock_read(const struct program_clock *clock, uint64_t now_ns, uint64_t *ret_ns);
void program_clock_close(struct program_clock *clock);

#endif
