// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf bench`: runs commands, measures and compares them. */
#include "cli/bench_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_io.h"
#include "bench/bench_account.h"
#include "bench/bench_format.h"
#include "bench/bench_limit.h"
#include "bench/bench_plan.h"
#include "bench/bench_read.h"
#include "bench/bench_series.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/stop_signals.h"
#include "live/command_launch.h"
#include "live/invoking_user.h"
#include "statistics/random.h"

#define RUNS_DEFAULT	  10
#define EXPLAIN_RUNS	  5 /* the least that has a scatter */
#define THRESHOLD_DEFAULT 0.01
#define SEED_MAX	  0xffffffffULL /* short enough to be typed */

struct benching {
	const struct cli_options *options;
	const struct bench_options *own;
	struct console *console;
	struct log log;
	struct bench bench;
	struct bench baseline; /* without variants: none */
	struct bench_plan plan;
	struct invoking_user user;
	struct launcher *launcher;
	struct stop_signals *signals;
	struct bench_account *account;
	struct bench_counters *counters;
	struct bench_profiles *profiles; /* NULL: none */
	struct bench_document document;
	bool has_progress;
	int output_fd, answer_fd; /* of runs and of columns; -1: there are none */
};

static int fail(const struct benching *benching, const struct error *error, int status)
{
	console_status(benching->console, "");
	console_error(benching->console, "%s", error->text);
	return status;
}

/* ---- before the first run ---- */

static void abandon(void *context)
{
	(void)context;
}

/* Runs are measured by what every user may read where the kernel's account is not to be had. */
static int start_account(struct benching *benching)
{
	const struct bench_account_options options = {
		.pid = (uint32_t)launcher_pid(benching->launcher),
		.region = benching->bench.unit,
		.program = benching->plan.commands.items[0][0],
		.log = &benching->log,
	};
	struct error error;
	const char *reason = error.text;
	int err = 0;

	if (benching->own->bare)
		return 0;
	if (!capability_get(CAPABILITY_PRIVILEGED)->probe(&error))
		err = -EPERM;
	if (err == 0)
		err = privileges_reduce(false, &benching->log, &error);
	if (err == 0)
		err = bench_account_start(&options, &benching->account, &error);
	if (err == 0) {
		benching->bench.has_account = true;
		return 0;
	}
	benching->bench.without_account = strdup(reason);
	return 0;
}

static int start_launcher(struct benching *benching, struct error *error)
{
	const struct bench_options *own = benching->own;
	struct launcher_options options = {
		.user = &benching->user,
		.commands = benching->plan.commands.items,
		.show_output = own->show_output,
		.no_aslr = own->no_aslr,
		.cpus = own->has_cpus ? &own->cpus : NULL,
	};
	sigset_t mask;

	if (own->column_count) {
		benching->output_fd = memfd_create("output of a run", MFD_CLOEXEC);
		benching->answer_fd = memfd_create("number of a column", MFD_CLOEXEC);
		if (benching->output_fd < 0 || benching->answer_fd < 0)
			return error_set(error, errno, "cannot keep the output of runs: %s",
					 strerror(errno));
		options.has_readers = true;
		options.output_fd = benching->output_fd;
		options.answer_fd = benching->answer_fd;
		options.writers = (uint32_t)benching->bench.variants.count;
		options.first_reader = benching->plan.columns;
	}
	stop_signals_block(&mask);
	options.mask = &mask;
	benching->launcher = launcher_start(&options, error);
	return benching->launcher ? 0 : -EAGAIN;
}

/* Times of another machine say nothing of this one's. */
static int check_baseline(struct benching *benching)
{
	char differences[1024];
	bool other_machine;
	struct bench *bench = &benching->bench;

	if (strcmp(benching->baseline.unit ? benching->baseline.unit : "",
		   bench->unit ? bench->unit : "") != 0) {
		console_error(benching->console, "cannot compare with %s: it has another --unit",
			      benching->own->baseline);
		return EXIT_STATUS_EMPTY;
	}
	bench_differences(&benching->baseline, bench, differences, sizeof(differences),
			  &other_machine);
	if (!differences[0])
		return EXIT_STATUS_DONE;
	if (other_machine && !benching->own->cross_machine) {
		console_error(benching->console,
			      "cannot compare with %s, it is of another machine: %s; "
			      "--cross-machine compares all the same",
			      benching->own->baseline, differences);
		return EXIT_STATUS_EMPTY;
	}
	if (benching->own->strict_environment) {
		console_error(benching->console,
			      "cannot compare with %s: its environment differs in %s; without "
			      "--strict-environment that is only reported",
			      benching->own->baseline, differences);
		return EXIT_STATUS_EMPTY;
	}
	environment_add_danger(&bench->environment, "the baseline differs in %s", differences);
	return EXIT_STATUS_DONE;
}

static int prepare(struct benching *benching)
{
	const struct bench_options *own = benching->own;
	const struct cli_options *options = benching->options;
	const struct bench_request request = {
		.texts = options->files.items,
		.text_count = options->files.count,
		.words = options->live.targets.command,
		.matrix = own->matrix,
		.setup = own->setup,
		.prepare = own->prepare,
		.conclude = own->conclude,
		.columns = own->columns,
		.column_count = own->column_count,
	};
	struct error error;
	uint64_t clock = clock_now_ns();

	benching->output_fd = benching->answer_fd = -1;
	if (own->unit)
		benching->bench.unit = strdup(own->unit);
	benching->bench.seed = own->has_seed ? own->seed : random_next(&clock) & SEED_MAX;
	if (own->baseline && bench_read(&benching->baseline, own->baseline, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	if (bench_plan_make(&request, &benching->bench, &benching->plan, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_USAGE);
	if (environment_read(&benching->bench.environment, "") < 0 ||
	    !environment_add(&benching->bench.environment, "page_cache",
			     own->drop_caches ? "dropped" : "kept", false) ||
	    !environment_add(&benching->bench.environment, "output",
			     own->show_output	 ? "shown"
			     : own->column_count ? "kept"
						 : "discarded",
			     false)) {
		console_error(benching->console, "cannot measure: out of memory");
		return EXIT_STATUS_FAILED;
	}
	if (own->baseline && check_baseline(benching) != EXIT_STATUS_DONE)
		return EXIT_STATUS_EMPTY;
	bench_match_columns(&benching->baseline, &benching->bench);
	if (invoking_user_find(&benching->user, &error) < 0 || start_launcher(benching, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	if (!own->bare)
		benching->counters = bench_counters_open(launcher_pid(benching->launcher));
	benching->signals = stop_signals_new(abandon, NULL, &error);
	if (!benching->signals)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	start_account(benching);
	return EXIT_STATUS_DONE;
}

/* ---- the runs ---- */

static void show_progress(void *context, uint32_t number, uint32_t count)
{
	struct benching *benching = context;
	char line[64];

	if (!benching->has_progress)
		return;
	if (count)
		snprintf(line, sizeof(line), "run %u of %u (Ctrl-C to stop)", number, count);
	else
		snprintf(line, sizeof(line), "run %u (Ctrl-C to stop)", number);
	console_status(benching->console, line);
}

static int status_of(const struct benching *benching, enum bench_end end, int failure,
		     const struct error *error)
{
	switch (end) {
	case BENCH_END_COMPLETE:
	case BENCH_END_STOPPED:
		return EXIT_STATUS_DONE;
	case BENCH_END_NOT_STARTED:
		return fail(benching, error, command_failure_status(-failure));
	case BENCH_END_FAILED:
	case BENCH_END_BROKEN:
		break;
	}
	return fail(benching, error, EXIT_STATUS_FAILED);
}

static struct bench_series_options series_options(const struct benching *benching)
{
	const struct bench_options *own = benching->own;

	return (struct bench_series_options){
		.runs = own->runs ? own->runs : RUNS_DEFAULT,
		.warmup = own->has_warmup ? own->warmup : 1,
		.time_ns = own->time_ns,
		.precision = own->precision,
		.timeout_ns = own->timeout_ns,
		.ignore_failure = own->ignore_failure,
		.blocks = own->order == 1,
		.drop_caches = own->drop_caches,
		.setup = benching->plan.setup,
		.prepare = benching->plan.prepare,
		.conclude = benching->plan.conclude,
		.columns = benching->plan.columns,
		.output_fd = benching->output_fd,
		.answer_fd = benching->answer_fd,
		.stop_fd = stop_signals_fd(benching->signals),
		.launcher = benching->launcher,
		.account = benching->account,
		.counters = benching->counters,
	};
}

/* Of one command its slower runs against its faster ones: that needs more of them. */
static void take_profiles(struct benching *benching)
{
	const struct bench_options *own = benching->own;
	const struct bench_series_options options = series_options(benching);
	uint32_t runs = own->profiled			     ? own->profiled
			: benching->bench.variants.count > 1 ? EXPLAIN_RUNS
							     : 2 * EXPLAIN_RUNS;
	struct error error;

	if (!own->explain)
		return;
	if (benching->bench.without_account) {
		console_error(benching->console, "--explain is left out: %s",
			      benching->bench.without_account);
		return;
	}
	if (benching->has_progress)
		console_status(benching->console, "runs with stacks (Ctrl-C to stop)");
	if (bench_profiles_take(&benching->bench, &options, runs, &benching->log,
				&benching->profiles, &error) < 0)
		fail(benching, &error, EXIT_STATUS_FAILED);
	console_status(benching->console, "");
}

static int run_series(struct benching *benching)
{
	const struct bench_series_options options = series_options(benching);
	const struct bench_observer observer = {show_progress, benching};
	struct error error;
	int failure = 0;
	enum bench_end end =
		bench_series_run(&benching->bench, &options, &observer, &failure, &error);

	console_status(benching->console, "");
	if (benching->account && bench_account_finish(benching->account, &benching->bench) < 0)
		console_note(benching->console, "the account of runs is not complete");
	environment_finish(&benching->bench.environment, "");
	bench_account_free(benching->account);
	benching->account = NULL;
	if (end == BENCH_END_COMPLETE)
		take_profiles(benching);
	return status_of(benching, end, failure, &error);
}

/* ---- results ---- */

/* What has failed comes before what could not be checked. */
static int status_of_gates(const struct benching *benching)
{
	int status = EXIT_STATUS_DONE;

	array_foreach(&benching->document.gates, gate) {
		if (gate->outcome == BENCH_GATE_PASSED)
			continue;
		console_error(benching->console, "%s", gate->sentence);
		if (gate->outcome == BENCH_GATE_FAILED)
			status = EXIT_STATUS_CONDITION;
		else if (status == EXIT_STATUS_DONE)
			status = EXIT_STATUS_EMPTY;
	}
	return status;
}

static bool check_limit(struct benching *benching, const char *text)
{
	struct bench_limit limit;

	if (bench_limit_parse(text, &benching->bench, &limit, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < benching->bench.variants.count; i++) {
		struct bench_gate_result *result = array_add(&benching->document.gates);

		if (!result || bench_limit_check(&limit, text, &benching->bench, i, result) < 0)
			return false;
	}
	return true;
}

static int check_gates(struct benching *benching)
{
	const struct bench_options *own = benching->own;
	struct bench_document *document = &benching->document;
	bool done = true;

	array_foreach(&document->pairs, pair) {
		struct bench_gate_result *result =
			own->has_gate ? array_add(&document->gates) : NULL;

		done = done && (result || !own->has_gate);
		if (result)
			bench_gate_check(&pair->decision, &document->judgement, own->gate,
					 benching->bench.variants.items[pair->new].label, result);
	}
	for (size_t i = 0; i < own->limit_count && done; i++)
		done = check_limit(benching, own->limits[i]);
	if (!done)
		console_error(benching->console, "cannot check conditions: out of memory");
	return done ? status_of_gates(benching) : EXIT_STATUS_FAILED;
}

static bool has_pair(const struct bench_document *document, uint32_t variant)
{
	array_foreach(&document->pairs, pair)
		if (pair->new == variant)
			return true;
	return false;
}

/* What the baseline does not have is compared with nothing. */
static int tell_unpaired(const struct benching *benching)
{
	const struct bench_document *document = &benching->document;

	for (uint32_t i = 0; benching->own->baseline && i < benching->bench.variants.count; i++)
		if (!has_pair(document, i))
			console_note(benching->console, "%s does not have '%s'",
				     benching->own->baseline,
				     benching->bench.variants.items[i].label);
	if (document->pairs.count || !benching->own->has_gate)
		return EXIT_STATUS_DONE;
	console_error(benching->console, "--fail-if-slower: nothing to compare");
	return EXIT_STATUS_EMPTY;
}

static void add_explanation(struct benching *benching, uint32_t base, uint32_t new)
{
	struct bench_document *document = &benching->document;
	struct bench_explanation *explanation = array_add(&document->explanations);
	struct error error;

	if (!explanation)
		return;
	if (bench_explanation_init(explanation, &benching->bench, benching->profiles, base, new,
				   &error) == 0)
		return;
	console_error(benching->console, "--explain: %s", error.text);
	bench_explanation_done(explanation);
	document->explanations.count--;
}

static void explain(struct benching *benching)
{
	uint32_t count = (uint32_t)benching->bench.variants.count;

	if (!benching->profiles)
		return;
	if (count == 1)
		add_explanation(benching, 0, 0);
	for (uint32_t i = 1; i < count; i++)
		add_explanation(benching, 0, i);
}

struct writing {
	const struct bench_document *document;
	const struct bench_format_ops *format;
};

static int write_document(const void *context, FILE *out)
{
	const struct writing *writing = context;

	return writing->format->write(writing->document, out);
}

static int write_output(struct benching *benching, const char *path,
			const struct bench_format_ops *format)
{
	const struct writing writing = {&benching->document, format};
	struct error error;

	benching->document.width = benching->options->width;
	if (strcmp(path, "-") == 0 && !benching->document.width)
		benching->document.width = console_width(STDOUT_FILENO);
	if (whole_output_write(path, &benching->user, write_document, &writing, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
}

/* Those that tell of explanations, where there are any, and all others. */
static int write_outputs(struct benching *benching)
{
	const struct whole_outputs *outputs = &benching->own->outputs;
	int status = EXIT_STATUS_DONE;

	for (size_t i = 0; i < outputs->count; i++) {
		const struct bench_format_ops *format = bench_format_of(outputs->items[i].format);

		if (format->needs_explanation && !benching->document.explanations.count)
			continue;
		if (write_output(benching, outputs->items[i].path, format) != EXIT_STATUS_DONE)
			status = EXIT_STATUS_FAILED;
	}
	return status;
}

static bool has_values(const struct bench *bench)
{
	array_foreach(&bench->runs, run)
		if (bench_run_counts(run))
			return true;
	return false;
}

static int write_results(struct benching *benching, int status)
{
	const struct bench_options *own = benching->own;
	double threshold = own->threshold > 0 ? own->threshold : THRESHOLD_DEFAULT;
	double risk = own->precision > 0 ? BENCH_RISK / BENCH_LOOKS : BENCH_RISK;
	int gates;

	if (!has_values(&benching->bench)) {
		if (status == EXIT_STATUS_DONE)
			console_error(benching->console, "stopped before the first run was over");
		return status == EXIT_STATUS_DONE ? EXIT_STATUS_EMPTY : status;
	}
	if (bench_document_init(&benching->document, &benching->bench,
				own->baseline ? &benching->baseline : NULL, threshold, risk) < 0) {
		console_error(benching->console, "cannot compare: out of memory");
		return EXIT_STATUS_FAILED;
	}
	benching->document.full = benching->options->full;
	benching->document.baseline_path = own->baseline;
	explain(benching);
	gates = tell_unpaired(benching);
	if (gates == EXIT_STATUS_DONE)
		gates = check_gates(benching);
	if (write_outputs(benching) != EXIT_STATUS_DONE)
		status = EXIT_STATUS_FAILED;
	if (own->save_baseline && status == EXIT_STATUS_DONE)
		status = write_output(benching, own->save_baseline, &bench_format_json);
	return status == EXIT_STATUS_DONE ? gates : status;
}

int bench_run(const struct cli_options *options, struct console *console)
{
	struct benching benching = {
		.options = options,
		.own = options->own,
		.console = console,
		.log = console_log(console),
		.has_progress = !options->quiet && !options->no_progress &&
				console_is_terminal(STDERR_FILENO),
	};
	int status;

	bench_init(&benching.bench);
	bench_init(&benching.baseline);
	status = prepare(&benching);
	if (status == EXIT_STATUS_DONE)
		status = write_results(&benching, run_series(&benching));
	bench_account_free(benching.account);
	bench_profiles_free(benching.profiles);
	bench_counters_free(benching.counters);
	launcher_free(benching.launcher);
	stop_signals_free(benching.signals);
	bench_document_done(&benching.document);
	bench_plan_done(&benching.plan);
	bench_done(&benching.bench);
	bench_done(&benching.baseline);
	invoking_user_done(&benching.user);
	return status;
}
