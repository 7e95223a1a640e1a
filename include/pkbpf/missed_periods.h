/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many periods of a CPU's sampling timer passed without a sample, from its times; runs in BPF
 * and in unit tests. */
#ifndef PKBPF_MISSED_PERIODS_H
#define PKBPF_MISSED_PERIODS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct pkbpf_missed_periods {
	/* passed before the timer's interrupt came: the current thread was there all the time */
	__u64 late;
	__u64 own; /* the program was not called, and the current thread was running already */
	__u64 of_unknown; /* the same, but another thread may have been running */
};

/*
 * The timer of a cpu-clock event (perf_swevent_hrtimer()) expires at whole periods from its start.
 * The kernel calls the program first and then moves the expiry to the next of these that lies
 * ahead, so the program still finds when its sample was due. Periods between that and now are
 * skipped because the interrupt came late. Where it is later than the first one due after the last
 * sample, the timer fired in between, but the program was not called.
 *
 * All times in nanoseconds of one clock: `expires_ns` when this sample was due, `last_ns` when the
 * one before came (0: there was none of this event), `run_ns` how long the current thread has been
 * running at least.
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
