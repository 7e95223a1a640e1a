// SPDX-License-Identifier: BSD-2-Clause
/* Options of `pkbpf bench`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_value.h"
#include "bench/bench_column.h"
#include "bench/bench_format.h"
#include "bench/bench_limit.h"
#include "capture/cpu_list.h"
#include "cli/bench_run.h"
#include "cli/command_table.h"

static int check_outputs(struct bench_options *own, struct error *error)
{
	int err = whole_outputs_finish(&own->outputs, bench_format_at, error);

	for (size_t i = 0; i < own->outputs.count && err == 0; i++) {
		const struct bench_format_ops *format =
			bench_format_of(own->outputs.items[i].format);

		if (format->needs_gates && !own->has_gate && !own->limit_count)
			err = error_set(error, EINVAL,
					"%s requires --fail-if-slower or --fail-if: it has a test "
					"case for each",
					format->file.name);
		else if (format->needs_explanation && !own->explain)
			err = error_set(error, EINVAL, "%s requires --explain", format->file.name);
	}
	return err;
}

static int check_strict(const struct bench_options *own, struct error *error)
{
	if (!own->baseline)
		return error_set(error, EINVAL, "--strict-environment requires --baseline");
	if (own->cross_machine)
		return error_set(error, EINVAL,
				 "--strict-environment and --cross-machine are mutually exclusive");
	return 0;
}

/* When all columns are known, which they may name. */
static int check_limits(const struct bench_options *own, struct error *error)
{
	struct bench names;
	int err = 0;

	bench_init(&names);
	for (size_t i = 0; i < own->column_count && err == 0; i++) {
		struct bench_column_spec spec;

		err = bench_column_parse(own->columns[i], &spec, error);
		if (err == 0 && !bench_add_column(&names, spec.name, spec.better))
			err = error_set(error, ENOMEM, "cannot check conditions: out of memory");
	}
	for (size_t i = 0; i < own->limit_count && err == 0; i++) {
		struct bench_limit limit;

		err = bench_limit_parse(own->limits[i], &names, &limit, error);
	}
	bench_done(&names);
	return err;
}

static int check_runs(const struct bench_options *own, struct error *error)
{
	if (own->precision > 0 && (own->runs || own->order == 1))
		return error_set(error, EINVAL, "--precision and --%s are mutually exclusive",
				 own->runs ? "runs" : "order blocks");
	if (own->time_ns && (own->runs || own->order == 1))
		return error_set(error, EINVAL, "--time and --%s are mutually exclusive",
				 own->runs ? "runs" : "order blocks");
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
	if (own->strict_environment && check_strict(own, error) < 0)
		return -EINVAL;
	if (own->unit && own->bare)
		return error_set(error, EINVAL, "--unit region and --bare are mutually exclusive");
	if (check_runs(own, error) < 0)
		return -EINVAL;
	if (own->column_count && own->show_output)
		return error_set(error, EINVAL,
				 "--column and --show-output are mutually exclusive: the commands "
				 "of --column read what a run writes to its stdout");
	if (check_limits(own, error) < 0)
		return -EINVAL;
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

	if (own->limit_count == BENCH_LIMITS_MAX)
		return error_set(error, EINVAL, "more than %d times --fail-if", BENCH_LIMITS_MAX);
	own->limits[own->limit_count++] = value;
	return 0;
}

static int parse_column(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	struct bench_column_spec spec;
	int err = bench_column_parse(value, &spec, error);

	if (err < 0)
		return err;
	if (own->column_count == BENCH_COLUMNS_MAX)
		return error_set(error, EINVAL, "more than %d times --column", BENCH_COLUMNS_MAX);
	own->columns[own->column_count++] = value;
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

static bool add_cpus(const char **at, cpu_set_t *cpus)
{
	uint32_t first, last;

	if (cpu_list_parse_range(at, &first, &last) < 0 || last >= CPU_SETSIZE)
		return false;
	for (uint32_t cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, cpus);
	return true;
}

static int parse_pin(void *context, const char *value, struct error *error)
{
	struct bench_options *own = context;
	const char *at = value;
	bool fits;

	CPU_ZERO(&own->cpus);
	while ((fits = add_cpus(&at, &own->cpus)) && *at == ',')
		at++;
	own->has_cpus = true;
	if (!fits || *at)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --pin: expected CPUs, such as 0,2-3",
				 value);
	return 0;
}

static int parse_format(void *context, const char *value, struct error *error)
{
	return whole_outputs_set_format(&((struct bench_options *)context)->outputs,
					bench_format_at, value, error);
}

static int parse_output(void *context, const char *value, struct error *error)
{
	return whole_outputs_add(&((struct bench_options *)context)->outputs, bench_format_at,
				 value, error);
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
	{0, "column", "NAME=COMMAND",
	 "a figure of your own: the number that COMMAND prints, run by sh after each run with the "
	 "run's stdout as its stdin; not timed; repeatable",
	 RUNS_GROUP, .repeatable = true, .form = OPTION_PARSED, .parse = parse_column,
	 .text = "Such as --column \"accuracy:higher=sed -n 's/acc=//p'\". It is compared, and in "
		 "text, markdown, json and csv; --fail-if may name it. With NAME:higher or "
		 "NAME:lower, it is known what is better, and commands with the best trade-off "
		 "against time and memory are named, as they are with --matrix. The output of a "
		 "run is kept in memory meanwhile. A run that fails has no columns, nor one that "
		 "leaves processes behind."},
	{'i', "ignore-failure", NULL, "count runs with an exit status other than 0", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(ignore_failure)},
	{0, "show-output", NULL, "let commands write to the terminal instead of /dev/null",
	 RUNS_GROUP, .form = OPTION_FLAG, BENCH(show_output)},
	{0, "pin", "CPUS", "run commands on these CPUs only, such as 0,2-3", RUNS_GROUP,
	 .form = OPTION_PARSED, .parse = parse_pin},
	{0, "no-aslr", NULL, "run commands without address space randomization", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(no_aslr)},
	{0, "drop-caches", NULL, "empty the page cache of the machine before each run", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(drop_caches),
	 .text = "After --prepare; others on the machine lose their cached files, too. Needs "
		 "root."},
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
	{0, "strict-environment", NULL,
	 "with --baseline: exit with status 4 if the environment differs in anything", RUNS_GROUP,
	 .form = OPTION_FLAG, BENCH(strict_environment)},
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
	{'f', "format", "NAME",
	 "format of the next --output, or of the one before it at the end; of stdout without any",
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
