/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the BPF programs run. The kernel counts it when asked to, by reading a clock before and after each run, which
 * costs a context switch 2 %; so it is asked for a tenth of the time only, and the rest is taken to be like that.
 * For one thread.
 */
#ifndef PKBPF_CAPTURE_PROGRAM_CLOCK_H
#define PKBPF_CAPTURE_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct program_clock;

/*
 * Starts counting. `object` is loaded, and borrowed. `always`: somebody reads the kernel's counts at any time, so they go on
 * without pauses. NULL: no memory, or the kernel does not count (before 5.8, or without privileges).
 */
struct program_clock *program_clock_open(const struct bpf_object *object, bool always, uint64_t now_ns);
/* Takes turns; to be called every now and then. */
void program_clock_poll(struct program_clock *clock, uint64_t now_ns);
/* Counts from now on: programs that run once at the end are about to. */
void program_clock_resume(struct program_clock *clock, uint64_t now_ns);
/* Nanoseconds the programs have run since the opening. false: unknown; also for a clock that is NULL. */
bool program_clock_read(const struct program_clock *clock, uint64_t now_ns, uint64_t *ret_ns);
void program_clock_close(struct program_clock *clock);

#endif
