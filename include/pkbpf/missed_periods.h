/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the periods of a CPU's sampling timer that passed without a sample, from its times. Runs
 * in BPF and in unit tests. */
#ifndef PKBPF_MISSED_PERIODS_H
#define PKBPF_MISSED_PERIODS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct pkbpf_missed_periods {
	/* Periods that passed before the timer's interrupt came. The current thread was running
	 * throughout. */
	__u64 late;
	/* periods in which the program was not called; the current thread was already running */
	__u64 own;
	/* periods in which the program was not called; another thread may have been running */
	__u64 of_unknown;
};

/*
 * The timer of a cpu-clock event (perf_swevent_hrtimer()) expires at whole periods from its start.
 * The kernel calls the program first, and then moves the expiry to the next whole period in the
 * future. The program therefore still finds the time at which its sample was due. Periods between
 * that time and now were skipped because the interrupt came late. If the due time is later than the
 * first period after the last sample, the timer fired in between without calling the program.
 *
 * All times are nanoseconds of one clock. `expires_ns`: when this sample was due. `last_ns`: when
 * the previous sample of this event came; 0: none. `run_ns`: minimum time for which the current
 * thread has been running.
 */
static inline struct pkbpf_missed_periods
pkbpf_missed_periods(__u64 period_ns, __u64 last_ns, __u64 expires_ns, __u64 now_ns, __u64 run_ns)
{
	struct pkbpf_missed_periods missed = {0};
	__u64 late_ns, not_called, own;

	if (!period_ns || !expires_ns || expires_ns > now_ns)
		return missed;
	late_ns = now_ns - expires_ns;
	missed.late = late_ns / period_ns;
	if (!last_ns || expires_ns <= last_ns)
		return missed;
	not_called = (expires_ns - last_ns - 1) / period_ns;
	own = run_ns > late_ns ? (run_ns - late_ns) / period_ns : 0;
	missed.own = own < not_called ? own : not_called;
	missed.of_unknown = not_called - missed.own;
	return missed;
}

#endif
