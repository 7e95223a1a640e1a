// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf bench`: runs commands, measures and compares them. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
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

#define OUTPUTS_MAX	  16
#define RUNS_DEFAULT	  10
#define EXPLAIN_RUNS	  5 /* the least that has a scatter */
#define THRESHOLD_DEFAULT 0.01
#define LIMITS_MAX	  64
#define SEED_MAX	  0xffffffffULL /* short enough to be typed */

struct bench_output {
	const char *path;
	const struct bench_format_ops *format;
};

struct bench_options {
	struct bench_output outputs[OUTPUTS_MAX];
	size_t output_count;
	const struct bench_format_ops *pending_format;
	uint32_t runs, warmup;
	bool has_warmup, has_seed, has_gate;
	uint64_t time_ns, timeout_ns, seed;
	double precision, threshold, gate;
	const char *limits[LIMITS_MAX]; /* --fail-if, checked */
	size_t limit_count;
	struct bench_matrix matrix;
	const char *setup, *prepare, *conclude;
	const char *baseline, *save_baseline;
	const char *unit; /* region; NULL: whole runs */
	bool cross_machine, explain;
	uint32_t profiled; /* runs with stacks; 0: the default */
	uint32_t order;	   /* 1: blocks */
	bool ignore_failure, show_output, no_aslr, bare;
	bool has_cpus;
	cpu_set_t cpus;
};

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
		err = privileges_reduce(false, &error);
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
	};
	struct error error;
	uint64_t clock = clock_now_ns();

	if (own->unit)
		benching->bench.unit = strdup(own->unit);
	benching->bench.seed = own->has_seed ? own->seed : random_next(&clock) & SEED_MAX;
	if (own->baseline && bench_read(&benching->baseline, own->baseline, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	if (bench_plan_make(&request, &benching->bench, &benching->plan, &error) < 0)
		return fail(benching, &error, EXIT_STATUS_USAGE);
	if (environment_read(&benching->bench.environment, "") < 0) {
		console_error(benching->console, "cannot measure: out of memory");
		return EXIT_STATUS_FAILED;
	}
	if (own->baseline && check_baseline(benching) != EXIT_STATUS_DONE)
		return EXIT_STATUS_EMPTY;
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
		.setup = benching->plan.setup,
		.prepare = benching->plan.prepare,
		.conclude = benching->plan.conclude,
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

	if (bench_limit_parse(text, &limit, NULL) < 0)
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

static int write_output(struct benching *benching, const struct bench_output *output)
{
	bool to_stdout = strcmp(output->path, "-") == 0;
	const struct invoking_user *user = &benching->user;
	struct error error;
	struct output_file *file = output_file_open(output->path, &error);
	int err;

	if (!file)
		return fail(benching, &error, EXIT_STATUS_FAILED);
	benching->document.width = benching->options->width;
	if (to_stdout && !benching->document.width)
		benching->document.width = console_width(STDOUT_FILENO);
	err = output->format->write(&benching->document, output_file_stream(file));
	if (err < 0 && !ferror(output_file_stream(file)))
		error_set(&error, -err, "cannot write %s: %s", output->path, strerror(-err));
	else
		err = output_file_commit(file, user->behind_sudo ? user->uid : (uid_t)-1,
					 user->behind_sudo ? user->gid : (gid_t)-1, &error);
	output_file_free(file);
	if (err < 0 && !(err == -EPIPE && to_stdout))
		return fail(benching, &error, EXIT_STATUS_FAILED);
	return EXIT_STATUS_DONE;
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
	for (size_t i = 0; i < own->output_count; i++)
		if ((benching->document.explanations.count ||
		     !own->outputs[i].format->needs_explanation) &&
		    write_output(benching, &own->outputs[i]) != EXIT_STATUS_DONE)
			status = EXIT_STATUS_FAILED;
	if (own->save_baseline && status == EXIT_STATUS_DONE)
		status = write_output(
			benching, &(struct bench_output){own->save_baseline, &bench_format_json});
	return status == EXIT_STATUS_DONE ? gates : status;
}

static int bench_run(const struct cli_options *options, struct console *console)
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

/* ---- options ---- */

static int check_outputs(struct bench_options *own, struct error *error)
{
	if (own->pending_format && own->output_count)
		return error_set(error, EINVAL,
				 "--format %s follows the last --output; put it before the "
				 "--output it belongs to",
				 own->pending_format->name);
	if (!own->output_count)
		own->outputs[own->output_count++] = (struct bench_output){
			"-", own->pending_format ? own->pending_format : bench_format_at(0)};
	for (size_t i = 0; i < own->output_count; i++)
		if (own->outputs[i].format->needs_gates && !own->has_gate && !own->limit_count)
			return error_set(error, EINVAL,
					 "%s requires --fail-if-slower or --fail-if: it has a test "
					 "case for each",
					 own->outputs[i].format->name);
	for (size_t i = 0; i < own->output_count; i++)
		if (own->outputs[i].format->needs_explanation && !own->explain)
			return error_set(error, EINVAL, "%s requires --explain",
					 own->outputs[i].format->name);
	return 0;
}

static int bench_check(struct cli_options *options, struct error *error)
{
	struct bench_options *own = options->own;

	if (options->files.count && options->live.targets.command)
		return error_set(error, EINVAL, "'%s' and -- COMMAND are mutually exclusive",
				 options->files.items[0]);
	if (!options->files.count && !options->live.targets.command)
		return error_set(error, EINVAL,
				 "bench requires a command: pkbpf bench -- COMMAND, or pkbpf bench "
				 "'COMMAND A' 'COMMAND B'");
	if (own->unit && own->bare)
		return error_set(error, EINVAL, "--unit region and --bare are mutually exclusive");
	if (own->precision > 0 && (own->runs || own->order == 1))
		return error_set(error, EINVAL, "--precision and --%s are mutually exclusive",
				 own->runs ? "runs" : "order blocks");
	if (own->time_ns && (own->runs || own->order == 1))
		return error_set(error, EINVAL, "--time and --%s are mutually exclusive",
				 own->runs ? "runs" : "order blocks");
	if (own->has_gate && options->files.count < 2 && !own->matrix.count && !own->baseline)
		return error_set(error, EINVAL,
				 "--fail-if-slower requires something to compare with: two "
				 "commands, or --baseline");
	return check_outputs(own, error);
}

/* "5%" or "5": percent. */
static int parse_percent(const char *value, const char *name, double *ret_part, struct error *error)
{
	char extra[2];
	double percent;
	int count = sscanf(value, "%lf%1s", &percent, extra);

	if (count < 1 || (count == 2 && (extra[0] != '%' || value[strlen(value) - 1] != '%')) ||
	    !(percent > 0 && percent <= 1000))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --%s: expected a percentage, such as 5%%",
				 value, name);
	*ret_part = percent / 100;
	return 0;
}

static int parse_precision(void *context, const char *value, struct error *error)
{
	return parse_percent(value, "precision", &((struct bench_options *)context)->precision,
			     error);
}

static int parse_threshold(void *context, const char *value, struct error *error)
{
	return parse_percent(value, "threshold", &((struct bench_options *)context)->threshold,
			     error);
}

static int parse_gate(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;

	own->has_gate = true;
	return parse_percent(value, "fail-if-slower", &own->gate, error);
}

static int parse_limit(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	struct bench_limit limit;
	int err = bench_limit_parse(value, &limit, error);

	if (err < 0)
		return err;
	if (own->limit_count == LIMITS_MAX)
		return error_set(error, EINVAL, "more than %d times --fail-if", LIMITS_MAX);
	own->limits[own->limit_count++] = value;
	return 0;
}

static int parse_warmup(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	uint64_t number;
	int err = parse_u64(value, "--warmup", 0, BENCH_RUNS_MAX, &number, error);

	if (err < 0)
		return err;
	own->has_warmup = true;
	own->warmup = (uint32_t)number;
	return 0;
}

static int parse_seed(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;

	own->has_seed = true;
	return parse_u64(value, "--seed", 0, UINT64_MAX, &own->seed, error);
}

static int parse_matrix(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	int err = bench_matrix_check(value, error);

	if (err < 0)
		return err;
	if (own->matrix.count == BENCH_PARAMETERS_MAX)
		return error_set(error, EINVAL, "more than %d times --matrix",
				 BENCH_PARAMETERS_MAX);
	own->matrix.items[own->matrix.count++] = value;
	return 0;
}

static int parse_unit(void *context, const char *value, struct error *error)
{
	static const char prefix[] = "region:";
	struct bench_options *own = context;

	own->unit = NULL;
	if (strcmp(value, "run") == 0)
		return 0;
	if (strncmp(value, prefix, sizeof(prefix) - 1) != 0 || !value[sizeof(prefix) - 1])
		return error_set(error, EINVAL,
				 "invalid value '%s' for --unit: expected run or region:NAME",
				 value);
	own->unit = value + sizeof(prefix) - 1;
	return 0;
}

static int parse_pin(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	const char *at = value;

	CPU_ZERO(&own->cpus);
	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, &own->cpus);
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			break;
	}
	own->has_cpus = true;
	if (*at || !CPU_COUNT(&own->cpus))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --pin: expected CPUs, such as 0,2-3",
				 value);
	return 0;
}

static int parse_format(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	const struct bench_format_ops *format = bench_format_by_name(value);
	char list[128] = "";

	if (!format) {
		for (size_t i = 0; (format = bench_format_at(i)); i++) {
			strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
			strncat(list, format->name, sizeof(list) - strlen(list) - 1);
		}
		return error_set(error, EINVAL, "invalid value '%s' for --format: expected %s",
				 value, list);
	}
	own->pending_format = format;
	return 0;
}

static int parse_output(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	struct bench_output *output = &own->outputs[own->output_count];

	if (own->output_count == OUTPUTS_MAX)
		return error_set(error, EINVAL, "more than %d times --output", OUTPUTS_MAX);
	output->path = value;
	output->format = own->pending_format ? own->pending_format : bench_format_by_suffix(value);
	if (!output->format && strcmp(value, "-") == 0)
		output->format = bench_format_at(0);
	if (!output->format)
		return error_set(error, EINVAL,
				 "cannot tell the format of %s by its suffix; use --format", value);
	own->pending_format = NULL;
	own->output_count++;
	return 0;
}

#define RUNS_GROUP    .group = OPTION_GROUP_EVENTS
#define OUTPUT_GROUP  .group = OPTION_GROUP_OUTPUT
#define BENCH(member) OPTION_AT(struct bench_options, member)

static const char *const orders[] = {"interleave", "blocks", NULL};

static const struct option_row own_options[] = {
	{'r', "runs", "N", "runs of each command; default 10", RUNS_GROUP, .form = OPTION_NUMBER,
	 .least = 1, .most = BENCH_RUNS_MAX, BENCH(runs),
	 .text = "An interval of a median needs 6, a comparison 4 of each."},
	{0, "warmup", "N", "runs of each command before these, which count for nothing; default 1",
	 RUNS_GROUP, .form = OPTION_PARSED, .parse = parse_warmup},
	{0, "time", "TIME", "run for about this long in all, instead of a number of runs",
	 RUNS_GROUP, .form = OPTION_DURATION, BENCH(time_ns)},
	{0, "precision", "PERCENT",
	 "run until the interval of every median is within this; looks at 10, 20, 40 and 80 runs",
	 RUNS_GROUP, .form = OPTION_PARSED, .parse = parse_precision,
	 .text = "Each look has a quarter of the risk of 5 %, so that several looks deceive no "
		 "more often than one."},
	{0, "matrix", "NAME=VALUE,...",
	 "run the command once for each value, in place of {NAME}; repeatable: all combinations",
	 RUNS_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_matrix},
	{0, "unit", "run|region:NAME",
	 "compare the wall time of a region that programs mark, instead of whole runs; default run",
	 RUNS_GROUP, .form = OPTION_PARSED, .parse = parse_unit,
	 .text = "A run counts once, with its mean: the calls within it are not independent. "
		 "Programs mark regions by pkbpf.h or pkbpf.py."},
	{0, "order", "interleave|blocks",
	 "interleave: each round runs every command once, in random order; default interleave",
	 RUNS_GROUP, .form = OPTION_CHOICE, .choices = orders, BENCH(order),
	 .text = "What changes over time, such as heat, then hits all commands alike. With "
		 "blocks, a drift looks like a difference."},
	{0, "seed", "N", "seed of the order; default a random one, which is printed", RUNS_GROUP,
	 .form = OPTION_PARSED, .parse = parse_seed},
	{0, "timeout", "TIME", "end a run that takes longer, and stop", RUNS_GROUP,
	 .form = OPTION_DURATION, BENCH(timeout_ns)},
	{0, "setup", "COMMAND", "run by sh once for each command, before all runs", RUNS_GROUP,
	 .form = OPTION_TEXT, BENCH(setup)},
	{0, "prepare", "COMMAND", "run by sh before each run; not timed", RUNS_GROUP,
	 .form = OPTION_TEXT, BENCH(prepare)},
	{0, "conclude", "COMMAND", "run by sh after each run; not timed", RUNS_GROUP,
	 .form = OPTION_TEXT, BENCH(conclude)},
	{'i', "ignore-failure", NULL, "count runs with an exit status other than 0", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(ignore_failure)},
	{0, "show-output", NULL, "let commands write to the terminal instead of /dev/null",
	 RUNS_GROUP, .form = OPTION_FLAG, BENCH(show_output)},
	{0, "pin", "CPUS", "run commands on these CPUs only, such as 0,2-3", RUNS_GROUP,
	 .form = OPTION_PARSED, .parse = parse_pin},
	{0, "no-aslr", NULL, "run commands without address space randomization", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(no_aslr)},
	{0, "bare", NULL, "without the kernel's account of waits: times, memory and faults only",
	 RUNS_GROUP, .form = OPTION_FLAG, BENCH(bare),
	 .text = "So it is without the rights to load BPF programs, too."},
	{0, "explain", NULL,
	 "extra runs with stacks, not timed: functions that take more; of one command, in its "
	 "slower "
	 "runs",
	 RUNS_GROUP, .form = OPTION_FLAG, BENCH(explain)},
	{0, "profile", "N",
	 "with --explain: extra runs of each command; default 5, of one command 10", RUNS_GROUP,
	 .form = OPTION_NUMBER, .least = 1, .most = BENCH_RUNS_MAX, BENCH(profiled),
	 .text = "Fewer than 5 have no scatter, and only the error of sampling is known."},
	{0, "baseline", "FILE",
	 "compare with this earlier result, in JSON, instead of the first command", RUNS_GROUP,
	 .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT, BENCH(baseline),
	 .text = "Commands are compared with those of the same text; a single one with a single "
		 "one. Differences of the environment are reported."},
	{0, "save-baseline", "FILE",
	 "write the result to this file for --baseline, as -o FILE.json", OUTPUT_GROUP,
	 .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT, BENCH(save_baseline)},
	{0, "cross-machine", NULL, "compare with a baseline of another machine all the same",
	 RUNS_GROUP, .form = OPTION_FLAG, BENCH(cross_machine)},
	{0, "threshold", "PERCENT", "smaller changes count as none; default 1%", OUTPUT_GROUP,
	 .form = OPTION_PARSED, .parse = parse_threshold},
	{0, "fail-if-slower", "PERCENT",
	 "exit with status 3 if a command is slower than the first, or the baseline, by more than "
	 "this, and that is no chance",
	 OUTPUT_GROUP, .form = OPTION_PARSED, .parse = parse_gate},
	{0, "fail-if", "EXPR",
	 "exit with status 3 if a figure of a command is beyond a limit: 'wall>100ms', "
	 "'wall.p99>1s', "
	 "'peak_rss.max>64MiB'; repeatable",
	 OUTPUT_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_limit,
	 .text = "Without .mean, .min, .max, .p95 or .p99 it is the median, and its whole interval "
		 "has to be beyond the limit. Figures have their names in JSON, without the unit."},
	{'o', "output", "FILE",
	 "output file, - for stdout; the suffix selects the format; repeatable", OUTPUT_GROUP,
	 .repeatable = true, .completes = OPTION_COMPLETES_FILE, .form = OPTION_PARSED,
	 .parse = parse_output},
	{'f', "format", "NAME", "format of the next --output, or of stdout without --output",
	 OUTPUT_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_format},
	{0},
};

const struct command_row command_bench = {
	.name = "bench",
	.synopsis = "bench [OPTIONS] -- COMMAND | 'COMMAND A' 'COMMAND B'...",
	.summary = "Runs commands, measures and compares them",
	.options = (const char *const[]){"full", "width", "quiet", "verbose", "progress", "color",
					 NULL},
	.own_options = own_options,
	.own_size = sizeof(struct bench_options),
	.takes_command = true,
	.takes_files = true,
	.check = bench_check,
	.run = bench_run,
};
