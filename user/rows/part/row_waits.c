// SPDX-License-Identifier: BSD-2-Clause
/* Adds up times of threads by state, and lengths of waits. */
#include "rows/part/row_waits.h"

#include <pkbpf/offcpu.h>

#include "base/array.h"
#include "base/histogram.h"
#include "profile/account/distribution.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

/* A row that was stopped, or got no CPU, for this part of the interval is shown: it has done
 * nothing because of that. */
#define HELD_UP_PERCENT 1

static const struct figure figures[] = {
	FIGURE_ROW("waiting", "runqueue", NS, waits.runqueue_ns, 0,
		   "run-queue time: runnable, waiting for a CPU"),
	FIGURE_ROW("offcpu", "total", NS, waits.offcpu_ns, ROW_HAS_WAITS,
		   "off-CPU time of all threads"),
	FIGURE_ROW("offcpu", "oncpu", NS, waits.on_cpu_ns, ROW_HAS_WAITS,
		   "on-CPU time by context switches, but for spinning in calls that wait for a GPU",
		   .is_activity = true),
	FIGURE_ROW("offcpu", "wall", NS, waits.wall_ns, ROW_HAS_WAITS,
		   "wall time of all threads: off-CPU, on-CPU, and spinning for a GPU"),
	FIGURE_ROW("offcpu", "sleep", NS, waits.sleep_ns, ROW_HAS_WAITS,
		   "interruptible sleep, but for that in calls that wait for a GPU"),
	FIGURE_ROW("offcpu", "disk", NS, waits.disk_ns, ROW_HAS_WAITS, "disk wait",
		   .is_activity = true),
	FIGURE_ROW("offcpu", "disk_share", PERCENT, waits.disk_share, ROW_HAS_WAITS,
		   "disk wait as a share of wall time"),
	FIGURE_ROW("offcpu", "uninterruptible", NS, waits.uninterruptible_ns, ROW_HAS_WAITS,
		   "D state, not I/O", .is_activity = true),
	FIGURE_ROW("offcpu", "stopped", NS, waits.stopped_ns, ROW_HAS_WAITS,
		   "stopped by a signal or a debugger, or frozen"),
	FIGURE_ROW("offcpu", "waits", COUNT, waits.count, ROW_HAS_WAIT_LENGTHS,
		   "waits, including their run-queue part; estimated if stacks of some waits were "
		   "skipped"),
	FIGURE_LENGTHS("offcpu", "", waits.lengths, ROW_HAS_WAIT_LENGTHS,
		       "wait time (until the wake-up, and run queue, separately)"),
	FIGURE_LENGTHS("offcpu", "runqueue_", waits.runqueue, ROW_HAS_WAIT_LENGTHS,
		       "run-queue time (preempted, or after a wake-up)"),
	FIGURE_LENGTHS("offcpu", "disk_", waits.disk, ROW_HAS_WAIT_LENGTHS,
		       "disk wait (until the wake-up)"),
};

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	row->waits.account_runqueue_ns += used->run_delay_ns;
}

static void add_time(struct row_waits *waits, const struct distribution *distribution)
{
	uint64_t total = distribution->total;

	switch (distribution->key.state) {
	case PKBPF_WAIT_NONE:
		waits->on_cpu_ns += total;
		break;
	case PKBPF_WAIT_RUNQUEUE:
		waits->runqueue_ns += total;
		break;
	case PKBPF_WAIT_SLEEP:
		waits->sleep_ns += total;
		break;
	case PKBPF_WAIT_DISK:
		waits->disk_ns += total;
		break;
	case PKBPF_WAIT_UNINTERRUPTIBLE:
		waits->uninterruptible_ns += total;
		break;
	case PKBPF_WAIT_STOPPED:
		waits->stopped_ns += total;
		break;
	}
	waits->wall_ns += total;
	if (distribution->key.state != PKBPF_WAIT_NONE)
		waits->offcpu_ns += total;
}

static void add_distribution(struct resource_row *row, const struct distribution *distribution)
{
	if (distribution->key.kind != PKBPF_PROFILE_OFFCPU)
		return;
	if (distribution->key.measure == PKBPF_OFFCPU_TIME)
		add_time(&row->waits, distribution);
	else if (distribution->key.measure == PKBPF_OFFCPU_WAITS)
		/* Not those of the lengths: there a wait and its end on the run queue are two. */
		row->waits.count += distribution->count;
}

static bool is_wait(const struct distribution_key *key)
{
	return key->kind == PKBPF_PROFILE_OFFCPU && key->measure == PKBPF_OFFCPU_LENGTHS;
}

static bool is_runqueue(const struct distribution_key *key)
{
	return is_wait(key) && key->state == PKBPF_WAIT_RUNQUEUE;
}

static bool is_disk(const struct distribution_key *key)
{
	return is_wait(key) && key->state == PKBPF_WAIT_DISK;
}

static bool is_sleep(const struct distribution_key *key)
{
	return is_wait(key) && key->state == PKBPF_WAIT_SLEEP;
}

enum { LENGTHS_ALL, LENGTHS_RUNQUEUE, LENGTHS_DISK, LENGTHS_SLEEP, LENGTHS_COUNT };

static const struct row_length lengths[LENGTHS_COUNT] = {
	[LENGTHS_ALL] = {is_wait, offsetof(struct resource_row, waits.lengths)},
	[LENGTHS_RUNQUEUE] = {is_runqueue, offsetof(struct resource_row, waits.runqueue)},
	[LENGTHS_DISK] = {is_disk, offsetof(struct resource_row, waits.disk)},
	[LENGTHS_SLEEP] = {is_sleep, 0},
};

/* The sum of the values, the longer ones truncated. */
static uint64_t sum_truncated(const struct histogram *histogram, uint64_t longest)
{
	uint64_t sum = 0;

	/* Most processes of a host had none. */
	for (uint32_t i = 0; histogram->count && i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		uint64_t low, middle;

		if (!histogram->buckets[i])
			continue;
		low = histogram_bucket_low(i);
		middle = low + (histogram_bucket_high(i) - low) / 2;
		sum += histogram->buckets[i] * (middle < longest ? middle : longest);
	}
	return sum;
}

static void after_lengths(struct resource_row *row, const struct histogram *histograms)
{
	row->waits.request_sleep_ns =
		sum_truncated(&histograms[LENGTHS_SLEEP], resource_row_request_ns(row));
}

static void finish(const struct resource_rows *rows, struct resource_row *row)
{
	/* Where both are known, the recorded one counts: it is added to at every switch, and by
	 * waits that are not over. */
	if (!(row->known & ROW_HAS_WAITS))
		row->waits.runqueue_ns += row->waits.account_runqueue_ns;
	if (!row->waits.wall_ns)
		row->known &= ~ROW_HAS_WAITS;
	if (row->known & ROW_HAS_WAITS && rows_are_of_processes(rows->by))
		row->known |= ROW_HAS_WAIT_LENGTHS;
	row->waits.disk_share =
		100 * row_ratio((double)row->waits.disk_ns, (double)row->waits.wall_ns);
}

static bool is_active(const struct resource_rows *rows, const struct resource_row *row)
{
	uint64_t held_up_ns = row->waits.stopped_ns + row->waits.runqueue_ns;

	return held_up_ns && held_up_ns >= rows->interval_ns / 100 * HELD_UP_PERCENT;
}

const struct row_part row_waits_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.lengths = lengths,
	.length_count = LENGTHS_COUNT,
	.add_used = add_used,
	.add_distribution = add_distribution,
	.after_lengths = after_lengths,
	.finish = finish,
	.is_active = is_active,
};
