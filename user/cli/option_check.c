// SPDX-License-Identifier: BSD-2-Clause
/* Checks what no single option can see. */
#include "cli/option_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/option_table.h"
#include "source/source.h"

#define EVERY_MIN_NS (2 * NS_PER_SECOND)
/* A cut reads every thread of the targets. */
#define SLICE_MIN_NS (NS_PER_SECOND / 10)
/* Shorter waits are many, and little time. */
#define TRACE_NS NS_PER_MS

bool option_name_is_given(const char *name, const struct cli_options *options)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(i)); i++)
		if (strcmp(row->name, name) == 0)
			return option_is_given(row, options);
	return false;
}

static int check_targets(const struct cli_options *options, struct error *error)
{
	const struct {
		const char *name;
		bool given;
	} choices[] = {
		{"--pid", options->live.targets.pids.count > 0},
		{"--tid", options->live.targets.tids.count > 0},
		{"--cgroup", options->live.targets.cgroup_path != NULL},
		{"--container", options->live.targets.container != NULL},
		{"-- COMMAND", options->live.targets.command != NULL},
	};
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		if (!choices[i].given)
			continue;
		if (first)
			return error_set(error, EINVAL, "%s and %s are mutually exclusive", first,
					 choices[i].name);
		first = choices[i].name;
	}
	if (option_name_is_given("children", options) &&
	    option_name_is_given("no-children", options))
		return error_set(error, EINVAL,
				 "--children and --no-children are mutually exclusive");
	if (options->live.targets.follow == PKBPF_FOLLOW_DESCENDANTS &&
	    !options->live.targets.pids.count && !options->live.targets.command)
		return error_set(error, EINVAL, "--children requires --pid");
	if (options->live.targets.follow == PKBPF_FOLLOW_NONE &&
	    !options->live.targets.pids.count && !options->live.targets.command)
		return error_set(error, EINVAL, "--no-children requires --pid or a command");
	return 0;
}

int options_check_events(const struct cli_options *options, uint32_t kinds_mask,
			 struct error *error)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(i)); i++) {
		const struct source_ops *source = row->needs ? source_by_name(row->needs) : NULL;

		if (source && !(kinds_mask & 1U << source->kind) && option_is_given(row, options))
			return error_set(error, EINVAL, "--%s requires %s in --events", row->name,
					 source->name);
	}
	return 0;
}

/* sudo keeps none of the variable's kind, so its absence is the likeliest mistake. */
static int check_debuginfod(const struct live_options *live, struct error *error)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (live->debuginfod_limit_ns && !live->debuginfod)
		return error_set(error, EINVAL, "--debuginfod-limit requires --debuginfod");
	if (live->debuginfod && (!urls || !urls[strspn(urls, " ")]))
		return error_set(error, EINVAL,
				 "--debuginfod requires DEBUGINFOD_URLS, which is not set; "
				 "with sudo: --preserve-env=DEBUGINFOD_URLS");
	return 0;
}

int options_check_outputs(struct cli_options *options, struct error *error)
{
	struct output_request *request;

	/* "-o FILE -f NAME" means what "-f NAME -o FILE" does. */
	if (options->pending_format && options->outputs.count > 0) {
		request = &options->outputs.items[options->outputs.count - 1];
		if (request->format)
			return error_set(error, EINVAL,
					 "--format %s belongs to no --output: %s has one",
					 options->pending_format, request->path);
		request->format = options->pending_format;
		options->pending_format = NULL;
	}
	if (options->outputs.count > 0)
		return 0;
	request = array_add(&options->outputs);
	if (!request)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	request->path = "-";
	request->format = options->pending_format;
	options->pending_format = NULL;
	return 0;
}

/* %t tells seconds. */
static int check_intervals(const struct cli_options *options, struct error *error)
{
	if (options->keep && !options->live.every_ns)
		return error_set(error, EINVAL, "--keep requires --every");
	if (!options->live.every_ns)
		return 0;
	if (options->live.every_ns < EVERY_MIN_NS)
		return error_set(error, EINVAL, "invalid value for --every: expected 2s or more");
	if (!output_requests_have_time(options->outputs.items, options->outputs.count))
		return error_set(error, EINVAL,
				 "--every requires %%t in the name of each --output, such as "
				 "'app-%%t.json', or each interval overwrites the one before");
	return 0;
}

static int check_slices(const struct cli_options *options, struct error *error)
{
	const struct live_options *live = &options->live;

	if (!live->slice_ns)
		return 0;
	if (live->slice_ns < SLICE_MIN_NS)
		return error_set(error, EINVAL,
				 "invalid value for --slice: expected 100ms or more");
	if (!output_requests_have_slices(options->outputs.items, options->outputs.count) &&
	    !output_requests_show_times(options->outputs.items, options->outputs.count))
		return error_set(error, EINVAL,
				 "--slice requires an output that is written in slices, such as -o "
				 "FILE.pkbpf");
	if (live->debuginfod)
		return error_set(
			error, EINVAL,
			"--slice and --debuginfod are mutually exclusive: servers are asked "
			"for names at the end, when slices are written");
	return 0;
}

static int check_trace(struct cli_options *options, struct error *error)
{
	struct live_options *live = &options->live;

	if (live->trace_ns && !options->trace)
		return error_set(error, EINVAL, "--trace-min requires --trace");
	if (!options->trace)
		return 0;
	if (!output_requests_have_slices(options->outputs.items, options->outputs.count) &&
	    !output_requests_show_times(options->outputs.items, options->outputs.count))
		return error_set(error, EINVAL,
				 "--trace requires an output that holds times, such as -o "
				 "FILE.pkbpf");
	if (!live->trace_ns)
		live->trace_ns = TRACE_NS;
	live->sources.offcpu.trace_ns = live->trace_ns;
	live->sources.blockio.trace_ns = live->trace_ns;
	return 0;
}

static int check_slow(const struct region_options *regions, struct error *error)
{
	if (regions->slow_function_ns != UINT64_MAX && !regions->function_count &&
	    !regions->syscall_count && !regions->kernel_count)
		return error_set(error, EINVAL,
				 "--slow-function requires --function: which calls are measured");
	if (regions->callers && !regions->function_count && !regions->syscall_count &&
	    !regions->kernel_count)
		return error_set(error, EINVAL,
				 "--callers requires --function: which calls are seen");
	return 0;
}

static bool asks_for(const struct cli_options *options, enum pkbpf_profile_kind kind)
{
	for (size_t i = 0; i < options->source_count; i++)
		if (options->sources[i]->kind == kind)
			return true;
	return false;
}

/* What is left of allocations is known from these alone. */
static int check_live(const struct cli_options *options, struct error *error)
{
	if (!asks_for(options, PKBPF_PROFILE_LIVE) || asks_for(options, PKBPF_PROFILE_ALLOC) ||
	    options->live.sources.alloc.wanted)
		return 0;
	return error_set(error, EINVAL, "--events live requires alloc: -e alloc,live");
}

static int check_contexts(const struct cli_options *options, struct error *error)
{
	const struct source_options *sources = &options->live.sources;
	struct context_labels labels;

	if (options->by == ROWS_BY_LABEL && !sources->context.by_key)
		return error_set(error, EINVAL,
				 "--by label requires a key: --by label:KEY, such as "
				 "label:http.route");
	if (options->by == ROWS_BY_LABEL && sources->regions.frames)
		return error_set(
			error, EINVAL,
			"--by label:KEY and --region-frames are mutually exclusive: stacks "
			"begin with one of both");
	if (sources->context.slow_ns != UINT64_MAX && !asks_for(options, PKBPF_PROFILE_OFFCPU))
		return error_set(error, EINVAL,
				 "--slow-request requires the events of offcpu: -e cpu,offcpu");
	if ((sources->context.key_count || sources->context.hashed_count) &&
	    !sources->context.by_key && !asks_for(options, PKBPF_PROFILE_OFFCPU))
		return error_set(error, EINVAL,
				 "--label and --hash-label require --by label:KEY, or the events "
				 "of offcpu: -e cpu,offcpu");
	return context_labels_choose(&sources->context, &labels, error);
}

/* The interpreter is asked from inside, from its start. */
static int check_python_calls(const struct live_options *live, struct error *error)
{
	const char *name = live->python_lines ? "--python-lines" : "--python-calls";

	if (!live->python_calls && !live->python_lines)
		return 0;
	if (!live->targets.command)
		return error_set(error, EINVAL,
				 "%s requires a command: calls are counted inside the interpreter "
				 "from its start; pkbpf %s -- python3 SCRIPT.py",
				 name, name);
	if (live->python_mode == PKBPF_PYTHON_OFF)
		return error_set(error, EINVAL,
				 "%s and --python off are mutually exclusive: times of functions "
				 "are those of stacks with Python frames",
				 name);
	if (live->every_ns)
		return error_set(error, EINVAL,
				 "%s and --every are mutually exclusive: counts are read when the "
				 "command has ended",
				 name);
	return 0;
}

int options_check_profile(struct cli_options *options, struct error *error)
{
	int err = check_targets(options, error);

	if (err < 0)
		return err;
	err = check_debuginfod(&options->live, error);
	if (err < 0)
		return err;
	if (options->live.user_only && options->live.kernel_only)
		return error_set(error, EINVAL,
				 "--user and --kernel are mutually exclusive; the default is both");
	if (options->live.user_only && options->live.sources.offcpu.wakers)
		return error_set(error, EINVAL,
				 "--wakers and --user are mutually exclusive: kernel frames tell "
				 "an interrupt from the thread it interrupted");
	err = check_intervals(options, error);
	if (err < 0)
		return err;
	err = check_slices(options, error);
	if (err < 0)
		return err;
	err = check_trace(options, error);
	err = err < 0 ? err : check_slow(&options->live.sources.regions, error);
	err = err < 0 ? err : check_live(options, error);
	if (err < 0)
		return err;
	/* What is added up per process cannot be taken apart later. */
	if (options->by == ROWS_BY_THREAD)
		options->live.per_thread = true;
	if (options->by == ROWS_BY_REGION)
		options->live.sources.regions.frames = true;
	err = check_contexts(options, error);
	err = err < 0 ? err : check_python_calls(&options->live, error);
	if (err < 0)
		return err;
	options->live.sources.blockio.slow_count = options->top;
	options->live.sources.regions.slow_count = options->top;
	if (options->live.sources.context.slow_ns != UINT64_MAX)
		options->live.sources.context.slow_count = options->top;
	return options_check_outputs(options, error);
}
