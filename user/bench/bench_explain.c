// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_explain.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/measure_profile.h"
#include "live/live_capture.h"
#include "profile/slice/slice.h"

/* Runs are short, and not timed: more samples cost nothing that counts. Not a multiple of what
 * programs do at regular times. */
#define FREQUENCY_HZ 1999
#define LOOK_MS	     100

struct profiled_run {
	uint32_t variant;
	double wall_ns;
	struct profile *profile;
};

struct bench_profiles {
	ARRAY_OF(struct profiled_run) runs;
};

struct profiling {
	const struct bench_series_options *options;
	struct launcher *launcher;
	const struct log *log;
	struct bench_profiles *profiles;
	struct error *error;
};

/* ---- runs ---- */

static bool is_stopped(const struct profiling *profiling)
{
	struct pollfd fd = {.fd = profiling->options->stop_fd, .events = POLLIN};

	return fd.fd >= 0 && poll(&fd, 1, 0) > 0;
}

static int start_capture(const struct profiling *profiling, const uint32_t *pid,
			 struct live_capture **ret_capture)
{
	struct live_capture_options options = {
		.session =
			{
				.target_mode = PKBPF_TARGET_PROCESS,
				.pids = pid,
				.pid_count = 1,
				.waiting_pid = *pid,
				.follow = PKBPF_FOLLOW_DESCENDANTS,
				.want_user_stack = true,
				.want_kernel_stack = true,
				.want_resources = true,
				.want_python = true,
				.kinds_mask = 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU,
				.frequency_hz = FREQUENCY_HZ,
				.log = profiling->log,
			},
		.inlines = true,
	};

	source_options_init(&options.sources);
	return live_capture_start(&options, ret_capture, profiling->error);
}

static int wait_for_result(const struct profiling *profiling, struct live_capture *capture)
{
	struct pollfd fd = {.fd = launcher_fd(profiling->launcher), .events = POLLIN};
	bool cancelled = false;
	int err = 0;

	while (err == 0 && poll(&fd, 1, 0) == 0) {
		if (!cancelled && is_stopped(profiling)) {
			launcher_cancel(profiling->launcher);
			cancelled = true;
		}
		err = live_capture_wait(capture, fd.fd, LOOK_MS);
	}
	return err;
}

/* A copy that outlives the capture. */
static int keep(struct bench_profiles *profiles, uint32_t variant, double wall_ns,
		const struct profile *profile)
{
	struct profiled_run *run = array_add(&profiles->runs);

	if (!run)
		return -ENOMEM;
	*run = (struct profiled_run){variant, wall_ns, slice_new()};
	return run->profile ? slice_merge(run->profile, profile) : -ENOMEM;
}

static int finish_run(const struct profiling *profiling, struct live_capture *capture,
		      uint32_t variant)
{
	struct launch_result result;
	struct profile *profile, *slice;
	int err = wait_for_result(profiling, capture);

	live_capture_stop(capture);
	live_capture_end(capture);
	/* Nothing was cut: the last slice is the whole. */
	while ((slice = live_capture_take_slice(capture, "")))
		profile_free(slice);
	profile = live_capture_finish(capture, "command of a benchmark");
	if (err == 0)
		err = launcher_result(profiling->launcher, &result);
	if (err == 0 && result.started && !result.ended && profile)
		err = keep(profiling->profiles, variant, (double)(result.end_ns - result.start_ns),
			   profile);
	return err;
}

static int run_beside(const struct profiling *profiling, uint32_t first, uint32_t variant)
{
	struct launch_result result;
	int err;

	if (first == BENCH_NO_COMMAND)
		return 0;
	err = launcher_run(profiling->launcher, first + variant, profiling->options->timeout_ns);
	return err < 0 ? err : launcher_result(profiling->launcher, &result);
}

static int run_variant(const struct profiling *profiling, uint32_t variant)
{
	struct live_capture *capture = NULL;
	pid_t pid;
	uint32_t target;
	int err = run_beside(profiling, profiling->options->prepare, variant);

	if (err == 0)
		err = launcher_hold(profiling->launcher, variant, profiling->options->timeout_ns,
				    &pid);
	if (err < 0)
		return error_set(profiling->error, -err, "cannot start commands: %s",
				 strerror(-err));
	target = (uint32_t)pid;
	err = start_capture(profiling, &target, &capture);
	if (err < 0)
		return err;
	err = launcher_release(profiling->launcher);
	if (err == 0)
		err = finish_run(profiling, capture, variant);
	live_capture_free(capture);
	if (err == 0)
		err = run_beside(profiling, profiling->options->conclude, variant);
	return err < 0 ? error_set(profiling->error, -err, "cannot profile a run: %s",
				   strerror(-err))
		       : 0;
}

int bench_profiles_take(const struct bench *bench, const struct bench_series_options *options,
			uint32_t runs, const struct log *log, struct bench_profiles **ret_profiles,
			struct error *error)
{
	struct bench_profiles *profiles = calloc(1, sizeof(*profiles));
	struct profiling profiling = {options, options->launcher, log, profiles, error};
	uint32_t order[BENCH_VARIANTS_MAX], count = (uint32_t)bench->variants.count;
	int err = 0;

	if (!profiles)
		return error_set(error, ENOMEM, "cannot profile runs: out of memory");
	for (uint32_t round = 0; round < runs && err == 0; round++) {
		bench_order(~bench->seed, round, count, order);
		for (uint32_t i = 0; i < count && err == 0 && !is_stopped(&profiling); i++)
			err = run_variant(&profiling, order[i]);
	}
	if (err < 0) {
		bench_profiles_free(profiles);
		return err;
	}
	*ret_profiles = profiles;
	return 0;
}

void bench_profiles_free(struct bench_profiles *profiles)
{
	if (!profiles)
		return;
	array_foreach(&profiles->runs, run)
		profile_free(run->profile);
	array_free(&profiles->runs);
	free(profiles);
}

/* ---- comparison ---- */

static double median_wall(const struct bench_profiles *profiles, uint32_t variant)
{
	double walls[BENCH_RUNS_MAX];
	size_t count = 0;

	array_foreach(&profiles->runs, run)
		if (run->variant == variant && count < BENCH_RUNS_MAX)
			walls[count++] = run->wall_ns;
	order_sort(walls, count);
	return count ? order_quantile(walls, count, 0.5) : 0;
}

static int side_of(const struct profiled_run *run, uint32_t base, uint32_t new, double median)
{
	if (base == new && run->variant == base)
		return run->wall_ns > median ? DIFF_NEW : DIFF_BASE;
	return run->variant == base ? DIFF_BASE : run->variant == new ? DIFF_NEW : -1;
}

static int measure_sides(struct bench_explanation *explanation,
			 const struct bench_profiles *profiles, uint32_t base, uint32_t new)
{
	double median = median_wall(profiles, base);

	array_foreach(&profiles->runs, run) {
		int side = side_of(run, base, new, median);
		struct measurement *measurement;

		if (side < 0)
			continue;
		measurement = &explanation->sides[side];
		/* Runs are the slices of one: the scatter is that from run to run. */
		if (measure_profile(measurement, run->profile, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

int bench_explanation_init(struct bench_explanation *explanation, const struct bench *bench,
			   const struct bench_profiles *profiles, uint32_t base, uint32_t new,
			   struct error *error)
{
	static const char *const halves[] = {"faster runs of ", "slower runs of "};
	const uint32_t variants[] = {base, new};
	struct diff_work per_run = {.per = DIFF_PER_WORK, .name = "run"};

	*explanation = (struct bench_explanation){0};
	if (!diff_names_init(&explanation->names))
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	for (int side = 0; side < DIFF_SIDES; side++) {
		measurement_init(&explanation->sides[side], &explanation->names);
		snprintf(explanation->titles[side], sizeof(explanation->titles[side]), "%s%.200s",
			 base == new ? halves[side] : "",
			 bench->variants.items[variants[side]].label);
	}
	if (measure_sides(explanation, profiles, base, new) < 0)
		return error_set(error, ENOMEM, "cannot compare: out of memory");
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!explanation->sides[side].slices.count)
			return error_set(error, EINVAL, "no run with stacks of '%s'",
					 explanation->titles[side]);
		measurement_finish(&explanation->sides[side]);
	}
	per_run.base = (double)explanation->sides[DIFF_BASE].slices.count;
	per_run.new = (double)explanation->sides[DIFF_NEW].slices.count;
	return comparison_init(&explanation->comparison, &explanation->sides[DIFF_BASE],
			       &explanation->sides[DIFF_NEW], &per_run, error);
}

void bench_explanation_done(struct bench_explanation *explanation)
{
	comparison_done(&explanation->comparison);
	for (int side = 0; side < DIFF_SIDES; side++)
		measurement_done(&explanation->sides[side]);
	diff_names_done(&explanation->names);
}
