/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures the run time of the BPF programs. The kernel measures on request, by reading a clock
 * before and after each run. That costs a context switch 2 %, so the clock measures a tenth of
 * the time and extrapolates. Switching has a price, too, for the kernel changes its code on all
 * CPUs; while programs run so rarely that measuring costs less, it goes on. For one thread. */
#ifndef PKBPF_CAPTURE_PROGRAM_CLOCK_H
#define PKBPF_CAPTURE_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct program_clock;

/* Result of the last finished measurement: run time of programs attached to events within
 * passed_ns, summed over all CPUs. */
struct program_share {
	uint64_t number; /* number of the measurement; 0: none has finished */
	uint64_t ran_ns, passed_ns;
};

/* Measuring runs in every tenth of a second costs less than to stop it for the nine others. `runs`:
 * in a measurement of counted_ns. switch_ns: CPU time of stopping and starting again. */
bool program_clock_stays(uint64_t runs, uint64_t counted_ns, uint64_t switch_ns);
/* Starts measuring. `object` is loaded and borrowed. `always`: programs run so rarely that
 * measuring needs no pauses. NULL: no memory, or the kernel cannot measure (before 5.8, or
 * without privileges). */
struct program_clock *program_clock_open(const struct bpf_object *object, bool always,
					 uint64_t now_ns);
/* Switches between measuring and pause. Call periodically. */
void program_clock_poll(struct program_clock *clock, uint64_t now_ns);
/* Starts a new measurement, the first that program_clock_last() returns. */
void program_clock_restart(struct program_clock *clock, uint64_t now_ns);
struct program_share program_clock_last(const struct program_clock *clock);
/* Measures from now on: programs that run once at the end are about to start. */
void program_clock_resume(struct program_clock *clock, uint64_t now_ns);
/* Nanoseconds the programs have run since program_clock_open(). false: unknown, also for NULL. */
bool program_clock_read(const struct program_clock *clock, uint64_t now_ns, uint64_t *ret_ns);
void program_clock_close(struct program_clock *clock);

#endif
