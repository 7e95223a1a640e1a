// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/offcpu.h>

#include "base/clock.h"
#include "live/live_capture.h"

/* Of the kernel's CPU time of what was waited for, a complete account has this much at least;
 * beside the part from fork to exec. */
#define COMPLETE_PART	 0.98
#define COMPLETE_REST_NS (2 * NS_PER_MS)

struct account_sums {
	double values[BENCH_FIGURES];
	double unit_ns;		 /* of all calls of the region */
	struct histogram *units; /* their wall times; NULL: none */
};

struct bench_account {
	struct live_capture *capture;
	uint32_t pid;
	const char *region;
	ARRAY_OF(struct account_sums) sums; /* beside the runs */
};

int bench_account_start(const struct bench_account_options *wanted,
			struct bench_account **ret_account, struct error *error)
{
	struct bench_account *account = calloc(1, sizeof(*account));
	struct live_capture_options options = {
		.session =
			{
				.target_mode = PKBPF_TARGET_PROCESS,
				.pid_count = 1,
				.follow = PKBPF_FOLLOW_DESCENDANTS,
				.want_resources = true,
				.unwind_mode = PKBPF_UNWIND_FP,
				.kinds_mask = 1U << PKBPF_PROFILE_OFFCPU,
				.log = wanted->log,
			},
	};
	int err;

	if (!account)
		return error_set(error, ENOMEM, "cannot account runs: out of memory");
	account->pid = wanted->pid;
	account->region = wanted->region;
	options.session.pids = &account->pid;
	options.session.command = wanted->region ? wanted->program : NULL;
	source_options_init(&options.sources);
	options.sources.regions.wanted = wanted->region;
	err = live_capture_start(&options, &account->capture, error);
	if (err < 0) {
		free(account);
		return err;
	}
	*ret_account = account;
	return 0;
}

int bench_account_wait(struct bench_account *account, int fd, int timeout_ms)
{
	return live_capture_wait(account->capture, fd, timeout_ms);
}

/* ---- whose is it ---- */

/* The last run that began before; NULL: none. */
static const struct bench_run *run_before(const struct bench *bench, uint64_t time_ns)
{
	size_t low = 0, high = bench->runs.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (bench->runs.items[middle].fork_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &bench->runs.items[low - 1] : NULL;
}

/* Sums of the run that a process belongs to, by its birth; NULL: none. What a process does after
 * the run that has left it behind is no part of that. But that it has exited may be heard of in the
 * next slice. A group of processes (birth unknown: 0) is of the run in its slice. */
static struct account_sums *sums_of(const struct bench_account *account, const struct bench *bench,
				    const struct profile *slice, uint64_t born_ns)
{
	const struct profile_info *info = profile_info_read(slice);
	const struct bench_run *run = run_before(bench, born_ns	       ? born_ns
							: info->end_ns ? info->end_ns
								       : UINT64_MAX);
	const struct bench_run *next = run + 1;

	if (!run || born_ns > run->end_ns || (!born_ns && run->end_ns < info->start_ns))
		return NULL;
	if (next < bench->runs.items + bench->runs.count && info->start_ns > next->fork_ns)
		return NULL;
	return &account->sums.items[run - bench->runs.items];
}

/* ---- a slice ---- */

static void add_process(double *sums, const struct resource_process *process)
{
	const struct resource_counters *used = &process->used;

	sums[BENCH_CPU] += (double)used->run_ns;
	sums[BENCH_USER] += (double)used->user_ns;
	sums[BENCH_SYSTEM] += (double)used->system_ns;
	sums[BENCH_MINOR_FAULTS] += (double)used->minor_faults;
	sums[BENCH_MAJOR_FAULTS] += (double)used->major_faults;
	sums[BENCH_READ] += (double)used->read_bytes;
	sums[BENCH_WRITTEN] += (double)used->written_bytes;
	sums[BENCH_VOLUNTARY] += (double)used->voluntary_switches;
	sums[BENCH_INVOLUNTARY] += (double)used->involuntary_switches;
	sums[BENCH_PROCESSES] += process->started_inside ? process->processes : 0;
	if (sums[BENCH_PEAK_RSS] < (double)process->peak_rss_bytes)
		sums[BENCH_PEAK_RSS] = (double)process->peak_rss_bytes;
}

static void add_usage(struct bench_account *account, const struct bench *bench,
		      const struct profile *slice)
{
	const struct resource_usage *usage = profile_resources(slice);
	size_t count = resource_usage_process_count(usage);

	for (size_t i = 0; i < count; i++) {
		struct resource_process process = resource_usage_process(usage, i);
		struct account_sums *sums = process.pid == account->pid
						    ? NULL
						    : sums_of(account, bench, slice,
							      process.pid ? process.start_ns : 0);

		if (sums)
			add_process(sums->values, &process);
	}
}

static const enum bench_figure state_figures[PKBPF_WAIT_STATES] = {
	[PKBPF_WAIT_RUNQUEUE] = BENCH_RUNQUEUE,
	[PKBPF_WAIT_SLEEP] = BENCH_SLEEP,
	[PKBPF_WAIT_DISK] = BENCH_DISK,
	[PKBPF_WAIT_UNINTERRUPTIBLE] = BENCH_UNINTERRUPTIBLE,
	[PKBPF_WAIT_STOPPED] = BENCH_STOPPED,
};

static void add_times(struct bench_account *account, const struct bench *bench,
		      const struct profile *slice)
{
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(slice, i)); i++) {
		const struct distribution_key *key = &distribution->key;
		const struct process *process;
		struct account_sums *sums;

		if (key->kind != PKBPF_PROFILE_OFFCPU || key->measure != PKBPF_OFFCPU_TIME ||
		    key->state == PKBPF_WAIT_NONE || key->state >= PKBPF_WAIT_STATES)
			continue;
		process = process_table_by_id(profile_processes(slice), key->process);
		if (!process || process->pid == account->pid)
			continue;
		sums = sums_of(account, bench, slice,
			       process->born_ns ? process->born_ns : process->start_ns);
		if (sums)
			sums->values[state_figures[key->state]] += (double)distribution->total;
	}
}

static int add_unit(struct account_sums *sums, const struct region *region)
{
	if (!sums->units)
		sums->units = calloc(1, sizeof(*sums->units));
	if (!sums->units)
		return -ENOMEM;
	sums->values[BENCH_UNITS] += (double)region->sums.count;
	sums->unit_ns += (double)region->sums.total_ns;
	region_histogram(region, sums->units);
	return 0;
}

static int add_units(struct bench_account *account, const struct bench *bench,
		     const struct profile *slice)
{
	const struct region_table *regions = profile_regions(slice);
	const struct region *region;
	int err = 0;

	for (size_t i = 0; account->region && (region = region_table_at(regions, i)) && !err; i++) {
		const struct process *process =
			process_table_by_id(profile_processes(slice), region->process);
		struct account_sums *sums;

		if (!process || strcmp(profile_string(slice, region->name), account->region) != 0)
			continue;
		sums = sums_of(account, bench, slice,
			       process->born_ns ? process->born_ns : process->start_ns);
		if (sums && region->sums.count)
			err = add_unit(sums, region);
	}
	return err;
}

static int add_slice(struct bench_account *account, const struct bench *bench,
		     const struct profile *slice)
{
	while (account->sums.count < bench->runs.count)
		if (!array_add(&account->sums))
			return -ENOMEM;
	add_usage(account, bench, slice);
	add_times(account, bench, slice);
	return add_units(account, bench, slice);
}

static int take_slices(struct bench_account *account, const struct bench *bench)
{
	struct profile *slice;
	int err = 0;

	while ((slice = live_capture_take_slice(account->capture, ""))) {
		if (err == 0)
			err = add_slice(account, bench, slice);
		profile_free(slice);
	}
	return err;
}

int bench_account_cut(struct bench_account *account, const struct bench *bench)
{
	int err = live_capture_cut(account->capture);
	int slice_err = take_slices(account, bench);

	return err < 0 ? err : slice_err;
}

/* The kernel's own sum, of what was waited for, says whether something is missing. */
static void give_sums(const struct account_sums *sums, struct bench_run *run)
{
	double count = sums->values[BENCH_UNITS];

	if (count > 0) {
		bench_run_set(run, BENCH_UNITS, count);
		bench_run_set(run, BENCH_UNIT, sums->unit_ns / count);
		bench_run_set(run, BENCH_UNIT_P99, (double)histogram_percentile(sums->units, 990));
	}
	if (sums->values[BENCH_CPU] + COMPLETE_REST_NS < COMPLETE_PART * run->values[BENCH_CPU])
		return;
	for (int figure = BENCH_CPU; figure <= BENCH_PROCESSES; figure++)
		bench_run_set(run, (enum bench_figure)figure, sums->values[figure]);
}

int bench_account_finish(struct bench_account *account, struct bench *bench)
{
	int err = live_capture_stop(account->capture), slice_err;
	struct profile *last;

	live_capture_end(account->capture);
	slice_err = take_slices(account, bench);
	last = live_capture_finish(account->capture, "");
	if (last && slice_err == 0)
		slice_err = add_slice(account, bench, last);
	for (size_t i = 0; i < account->sums.count; i++)
		give_sums(&account->sums.items[i], &bench->runs.items[i]);
	return err < 0 ? err : slice_err;
}

void bench_account_free(struct bench_account *account)
{
	if (!account)
		return;
	live_capture_free(account->capture);
	array_foreach(&account->sums, sums)
		free(sums->units);
	array_free(&account->sums);
	free(account);
}
