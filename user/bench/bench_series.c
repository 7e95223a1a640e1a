// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/bench_column.h"
#include "process/machine_stat.h"
#include "statistics/random.h"

#define LOOK_MS	    100 /* at the account's rings */
#define ANSWER_SIZE 256

struct series {
	struct bench *bench;
	const struct bench_series_options *options;
	struct launcher *launcher;
	struct bench_account *account;
	const struct bench_observer *observer;
	struct error *error;
	int failure;
	int epoll_fd; /* of the launcher and stop_fd */
	uint64_t begin_ns;
	uint32_t started; /* runs, for the observer */
};

void bench_order(uint64_t seed, uint32_t round, uint32_t count, uint32_t *ret_order)
{
	uint64_t state = seed + round * 0x9e3779b97f4a7c15;

	state = random_next(&state);
	for (uint32_t i = 0; i < count; i++)
		ret_order[i] = i;
	random_shuffle(&state, ret_order, count);
}

/* ---- one command ---- */

static bool is_stopped(const struct series *series)
{
	struct pollfd fd = {.fd = series->options->stop_fd, .events = POLLIN};

	return fd.fd >= 0 && poll(&fd, 1, 0) > 0;
}

static int wait_for_result(struct series *series)
{
	struct pollfd fd = {.fd = launcher_fd(series->launcher), .events = POLLIN};
	bool cancelled = false;
	int err = 0;

	while (err == 0 && poll(&fd, 1, 0) == 0) {
		struct epoll_event event;

		if (!cancelled && is_stopped(series)) {
			epoll_ctl(series->epoll_fd, EPOLL_CTL_DEL, series->options->stop_fd, NULL);
			launcher_cancel(series->launcher);
			cancelled = true;
		}
		if (series->account)
			err = bench_account_wait(series->account, series->epoll_fd, LOOK_MS);
		else
			epoll_wait(series->epoll_fd, &event, 1, -1);
	}
	return err;
}

static enum bench_end run_command(struct series *series, uint32_t command,
				  struct launch_result *ret_result)
{
	int err = launcher_run(series->launcher, command, series->options->timeout_ns);

	if (err == 0)
		err = wait_for_result(series);
	if (err == 0)
		err = launcher_result(series->launcher, ret_result);
	if (err < 0) {
		error_set(series->error, -err, "cannot go on: %s", strerror(-err));
		return BENCH_END_BROKEN;
	}
	if (!ret_result->started) {
		error_set(series->error, ret_result->failure, "%s", ret_result->sentence);
		series->failure = ret_result->failure;
		return BENCH_END_NOT_STARTED;
	}
	return is_stopped(series) ? BENCH_END_STOPPED : BENCH_END_COMPLETE;
}

/* What is not timed. */
static enum bench_end run_beside(struct series *series, uint32_t first, uint32_t variant,
				 const char *option)
{
	struct launch_result result;
	enum bench_end end;

	if (first == BENCH_NO_COMMAND)
		return BENCH_END_COMPLETE;
	end = run_command(series, first + variant, &result);
	if (end != BENCH_END_COMPLETE || result.status == 0)
		return end;
	error_set(series->error, EINVAL, "the command of %s failed with status %d", option,
		  result.status);
	return BENCH_END_FAILED;
}

/* ---- one run ---- */

static double timeval_ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static void set_usage(struct bench_run *run, const struct rusage *usage)
{
	double user = timeval_ns(usage->ru_utime), system = timeval_ns(usage->ru_stime);

	bench_run_set(run, BENCH_USER, user);
	bench_run_set(run, BENCH_SYSTEM, system);
	bench_run_set(run, BENCH_CPU, user + system);
	bench_run_set(run, BENCH_PEAK_RSS, (double)usage->ru_maxrss * 1024);
	bench_run_set(run, BENCH_MINOR_FAULTS, (double)usage->ru_minflt);
	bench_run_set(run, BENCH_MAJOR_FAULTS, (double)usage->ru_majflt);
	bench_run_set(run, BENCH_VOLUNTARY, (double)usage->ru_nvcsw);
	bench_run_set(run, BENCH_INVOLUNTARY, (double)usage->ru_nivcsw);
}

/* The first thread's delays are the run's when all its CPU time is that thread's. */
static void set_delay(struct bench_run *run, const struct launch_result *result)
{
	double rest = run->values[BENCH_CPU] - (double)result->run_ns;

	if (result->delay_known && rest < 0.02 * run->values[BENCH_CPU] + 50e3)
		bench_run_set(run, BENCH_RUNQUEUE, (double)result->run_delay_ns);
}

static void set_figures(struct bench_run *run, const struct launch_result *result)
{
	bench_run_set(run, BENCH_WALL, (double)(result->end_ns - result->start_ns));
	set_usage(run, &result->usage);
	set_delay(run, result);
	bench_run_set(run, BENCH_STOPPED, (double)result->stopped_ns);
	if (result->io_known) {
		bench_run_set(run, BENCH_READ, (double)result->read_bytes);
		bench_run_set(run, BENCH_WRITTEN, (double)result->written_bytes);
	}
}

static void set_steal(struct bench_run *run, const struct pkbpf_event_machine *before)
{
	struct pkbpf_event_machine after;

	if (before->header.time_ns && machine_stat_read("/proc", &after) == 0)
		bench_run_set(run, BENCH_STEAL, (double)(after.steal_ns - before->steal_ns));
}

static enum bench_end judge(struct series *series, const struct bench_run *run)
{
	const char *label = series->bench->variants.items[run->variant].label;

	if (run->timed_out) {
		error_set(series->error, ETIMEDOUT,
			  "'%.200s' was ended: it took longer than --timeout allows", label);
		return series->options->ignore_failure ? BENCH_END_COMPLETE : BENCH_END_FAILED;
	}
	if (run->status == 0 || series->options->ignore_failure)
		return BENCH_END_COMPLETE;
	error_set(series->error, EINVAL,
		  "'%.200s' failed with status %d; --show-output shows what it says, "
		  "--ignore-failure counts such runs",
		  label, run->status);
	return BENCH_END_FAILED;
}

/* Dirty pages cannot be dropped: they are written first. */
static enum bench_end drop_caches(struct series *series)
{
	_cleanup_close_ int fd = -1;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "3", 1) == 1)
		return BENCH_END_COMPLETE;
	error_set(series->error, errno,
		  "--drop-caches: cannot write /proc/sys/vm/drop_caches: %s; run as root, outside "
		  "of containers",
		  strerror(errno));
	return BENCH_END_BROKEN;
}

/* What a command of --column has printed. */
static enum bench_end take_answer(struct series *series, size_t column, struct bench_run *run)
{
	const char *name = series->bench->columns.items[column].name;
	char text[ANSWER_SIZE] = "";
	double value;

	if (pread(series->options->answer_fd, text, sizeof(text) - 1, 0) >= 0 &&
	    bench_column_value(text, &value)) {
		bench_run_set(run, (enum bench_figure)(BENCH_COLUMN + column), value);
		return BENCH_END_COMPLETE;
	}
	text[strcspn(text, "\n")] = '\0';
	error_set(series->error, EINVAL,
		  "the command of --column %s printed '%.100s': expected a number", name, text);
	return BENCH_END_FAILED;
}

/* Each reads what the run has written. A run that failed has no columns, nor one with processes
 * that may still write. */
static enum bench_end run_columns(struct series *series, struct bench_run *run)
{
	const struct bench_series_options *options = series->options;
	uint32_t variants = (uint32_t)series->bench->variants.count;
	enum bench_end end = BENCH_END_COMPLETE;

	for (size_t i = 0; i < series->bench->columns.count && !run->status && !run->has_failed &&
			   !run->left_behind && end == BENCH_END_COMPLETE;
	     i++) {
		if (ftruncate(options->answer_fd, 0) < 0 ||
		    lseek(options->answer_fd, 0, SEEK_SET) < 0) {
			error_set(series->error, errno, "--column: %s", strerror(errno));
			return BENCH_END_BROKEN;
		}
		end = run_beside(series, options->columns + (uint32_t)i * variants, run->variant,
				 "--column");
		if (end == BENCH_END_COMPLETE)
			end = take_answer(series, i, run);
	}
	return end;
}

/* NULL: out of memory. */
static struct bench_run *add_run(const struct series *series, uint32_t variant, bool is_warmup,
				 const struct launch_result *result)
{
	struct bench *bench = series->bench;
	struct bench_run *run = array_add(&bench->runs);

	if (!run) {
		error_set(series->error, ENOMEM, "cannot keep a run: out of memory");
		return NULL;
	}
	*run = (struct bench_run){
		.variant = variant,
		.number = 1,
		.is_warmup = is_warmup,
		.status = result->status,
		.timed_out = result->timed_out,
		.has_failed = result->timed_out ||
			      (result->status != 0 && !series->options->ignore_failure),
		.left_behind = result->left_behind,
		.fork_ns = result->fork_ns,
		.start_ns = result->start_ns,
		.end_ns = result->end_ns,
	};
	for (size_t i = 0; i + 1 < bench->runs.count; i++)
		run->number += bench->runs.items[i].variant == variant &&
			       bench->runs.items[i].is_warmup == is_warmup;
	return run;
}

static enum bench_end run_variant(struct series *series, uint32_t variant, bool is_warmup)
{
	struct bench *bench = series->bench;
	struct pkbpf_event_machine before = {0};
	struct launch_result result;
	struct bench_run *run;
	enum bench_end end = run_beside(series, series->options->prepare, variant, "--prepare");

	if (end == BENCH_END_COMPLETE && series->options->drop_caches)
		end = drop_caches(series);
	if (end != BENCH_END_COMPLETE)
		return end;
	machine_stat_read("/proc", &before);
	if (series->options->counters)
		bench_counters_begin(series->options->counters);
	if (bench->columns.count)
		(void)!ftruncate(series->options->output_fd, 0);
	end = run_command(series, variant, &result);
	if (end != BENCH_END_COMPLETE)
		return end;
	run = add_run(series, variant, is_warmup, &result);
	if (!run)
		return BENCH_END_BROKEN;
	set_figures(run, &result);
	set_steal(run, &before);
	if (series->options->counters)
		bench_counters_end(series->options->counters, run);
	if (series->account && bench_account_cut(series->account, bench) < 0) {
		error_set(series->error, ENOMEM, "cannot account a run: out of memory");
		return BENCH_END_BROKEN;
	}
	end = judge(series, run);
	if (end == BENCH_END_COMPLETE)
		end = run_columns(series, run);
	return end == BENCH_END_COMPLETE
		       ? run_beside(series, series->options->conclude, variant, "--conclude")
		       : end;
}

/* ---- all of them ---- */

static void tell_progress(struct series *series)
{
	const struct bench_series_options *options = series->options;
	uint32_t each = options->warmup + options->runs;
	bool known = !options->time_ns && options->precision <= 0;

	series->started++;
	if (series->observer)
		series->observer->progress(series->observer->context, series->started,
					   known ? each * (uint32_t)series->bench->variants.count
						 : 0);
}

static enum bench_end run_round(struct series *series, uint32_t round, bool is_warmup)
{
	uint32_t order[BENCH_VARIANTS_MAX];
	uint32_t count = (uint32_t)series->bench->variants.count;
	enum bench_end end = BENCH_END_COMPLETE;

	bench_order(series->bench->seed, round, count, order);
	for (uint32_t i = 0; i < count && end == BENCH_END_COMPLETE; i++) {
		tell_progress(series);
		end = run_variant(series, order[i], is_warmup);
	}
	return end;
}

/* The interval of every median is within the precision, or this was the last look. */
static bool is_precise(const struct series *series, uint32_t rounds)
{
	uint32_t looks = 0;

	for (uint32_t at = BENCH_FIRST_LOOK; looks < BENCH_LOOKS && at < rounds; at *= 2)
		looks++;
	if (rounds != (uint32_t)BENCH_FIRST_LOOK << looks)
		return false;
	if (looks + 1 >= BENCH_LOOKS)
		return true;
	for (uint32_t i = 0; i < series->bench->variants.count; i++) {
		struct bench_summary summary;

		if (bench_summarize_at(series->bench, i, BENCH_WALL, BENCH_RISK / BENCH_LOOKS,
				       &summary) < 0 ||
		    !summary.interval.known ||
		    summary.interval.high - summary.interval.low >
			    2 * series->options->precision * summary.median)
			return false;
	}
	return true;
}

static bool is_enough(const struct series *series, uint32_t rounds)
{
	const struct bench_series_options *options = series->options;

	if (options->time_ns && clock_now_ns() - series->begin_ns >= options->time_ns)
		return true;
	if (options->precision > 0)
		return is_precise(series, rounds);
	return rounds >= (options->time_ns ? BENCH_RUNS_MAX : options->runs);
}

static enum bench_end run_rounds(struct series *series)
{
	uint32_t round = 0;
	enum bench_end end = BENCH_END_COMPLETE;

	for (; round < series->options->warmup && end == BENCH_END_COMPLETE; round++)
		end = run_round(series, round, true);
	for (uint32_t timed = 0; end == BENCH_END_COMPLETE && !is_enough(series, timed); timed++)
		end = run_round(series, round++, false);
	return end;
}

static enum bench_end run_blocks(struct series *series)
{
	const struct bench_series_options *options = series->options;
	enum bench_end end = BENCH_END_COMPLETE;

	for (uint32_t variant = 0; variant < series->bench->variants.count; variant++)
		for (uint32_t i = 0;
		     i < options->warmup + options->runs && end == BENCH_END_COMPLETE; i++) {
			tell_progress(series);
			end = run_variant(series, variant, i < options->warmup);
		}
	return end;
}

static int watch(struct series *series)
{
	struct epoll_event event = {.events = EPOLLIN};
	int stop_fd = series->options->stop_fd;

	series->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (series->epoll_fd < 0 ||
	    epoll_ctl(series->epoll_fd, EPOLL_CTL_ADD, launcher_fd(series->launcher), &event) < 0 ||
	    (stop_fd >= 0 && epoll_ctl(series->epoll_fd, EPOLL_CTL_ADD, stop_fd, &event) < 0))
		return error_set(series->error, errno, "cannot wait for commands: %s",
				 strerror(errno));
	return 0;
}

enum bench_end bench_series_run(struct bench *bench, const struct bench_series_options *options,
				const struct bench_observer *observer, int *ret_failure,
				struct error *error)
{
	struct series series = {.bench = bench,
				.options = options,
				.launcher = options->launcher,
				.account = options->account,
				.observer = observer,
				.error = error,
				.begin_ns = clock_now_ns()};
	enum bench_end end = BENCH_END_COMPLETE;

	bench->interleaved = !options->blocks;
	bench->start_unix_ns = (int64_t)clock_read_ns(CLOCK_REALTIME);
	if (watch(&series) < 0)
		end = BENCH_END_BROKEN;
	for (uint32_t i = 0; i < bench->variants.count && end == BENCH_END_COMPLETE; i++)
		end = run_beside(&series, options->setup, i, "--setup");
	if (end == BENCH_END_COMPLETE)
		end = options->blocks ? run_blocks(&series) : run_rounds(&series);
	close(series.epoll_fd);
	bench->duration_ns = clock_now_ns() - series.begin_ns;
	bench->interrupted = end == BENCH_END_STOPPED;
	*ret_failure = series.failure;
	return end;
}
