// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes single events as text, as `perf script` does, so that scripts for it read them: a line for
 * an event, below it its stack, leaf first, behind it an empty line. Events of a slice are in order
 * of time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/escape.h"
#include "export/formats.h"
#include "export/timeline/timeline_slice.h"
#include "profile/kind_table.h"
#include "rows/devices.h"
#include "profile/account/wait_state.h"

#define NAME_SIZE  4096
#define FRAMES_MAX 2048 /* inlined ones as well */

struct events {
	FILE *out;
	bool lines, begun;
	uint64_t first_ns, count;
};

/* Of a slice: a moment or a request. */
struct event {
	uint64_t begin_ns;
	size_t number;
	const struct moment *moment; /* NULL: a request */
	const struct slow_io *request;
};

static void *events_begin(FILE *out, const struct format_options *options)
{
	struct events *events = calloc(1, sizeof(*events));

	if (events) {
		events->out = out;
		events->lines = options->lines;
	}
	return events;
}

static void write_head(struct events *events, const struct timeline_slice *slice)
{
	const struct profile_info *info = profile_info_read(slice->profile);
	char targets[sizeof(info->targets)];

	fprintf(events->out,
		"# pkbpf " PKBPF_VERSION ", %s: comm pid/tid seconds since the start: number "
		"event:\n"
		"# The number is that of samples of cpu, else a length in ns. Frames have no "
		"addresses.\n",
		escape_terminal(targets, sizeof(targets), info->targets));
	events->begun = true;
	events->first_ns = info->start_ns;
}

static void write_line(struct events *events, const char *comm, uint32_t pid, uint32_t tid,
		       uint64_t begin_ns)
{
	uint64_t since_ns = begin_ns > events->first_ns ? begin_ns - events->first_ns : 0;
	char name[64];

	fprintf(events->out, "%s %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%09" PRIu64 ": ",
		escape_terminal(name, sizeof(name), comm[0] ? comm : "?"), pid, tid,
		since_ns / 1000000000, since_ns % 1000000000);
	events->count++;
}

/* Leaf first. */
static void write_stack(struct events *events, const struct timeline_slice *slice, uint32_t stack)
{
	char name[NAME_SIZE], module[NAME_SIZE];
	uint32_t functions[FRAMES_MAX];
	size_t count = function_table_stack(slice->functions, slice->profile, stack, functions,
					    ARRAY_SIZE(functions));

	for (size_t i = 0; i < count && i < ARRAY_SIZE(functions); i++) {
		const struct function *function =
			function_table_get(slice->functions, functions[i]);
		const char *from =
			function->module && function->module[0] ? function->module : "unknown";

		fprintf(events->out, "\t%16d %s", 0,
			escape_terminal(name, sizeof(name), function->name));
		if (events->lines && function->file && function->file[0])
			fprintf(events->out, " %s:%" PRIu32,
				escape_terminal(name, sizeof(name), function->file),
				function->line);
		fprintf(events->out, " (%s)\n", escape_terminal(module, sizeof(module), from));
	}
	if (count > ARRAY_SIZE(functions))
		fprintf(events->out, "\t%16d [%zu more frames] (unknown)\n", 0,
			count - ARRAY_SIZE(functions));
	fputc('\n', events->out);
}

static int write_moment(struct events *events, struct timeline_slice *slice,
			const struct moment *moment)
{
	struct timeline_stack stack;
	int err;

	/* Requests are in a list of their own, with those that are slow. */
	if (moment->kind != PKBPF_PROFILE_CPU && moment->kind != PKBPF_PROFILE_OFFCPU)
		return 0;
	err = timeline_moment_stack(slice, moment, &stack);
	if (err)
		return err;
	write_line(events, profile_string(slice->profile, moment->comm), stack.pid, moment->tid,
		   moment->begin_ns);
	if (moment->kind == PKBPF_PROFILE_OFFCPU)
		fprintf(events->out, "%" PRIu64 " offcpu-%s:\n",
			(uint64_t)moment->length_ns + moment->queue_ns,
			wait_state_name(moment->state));
	else
		fprintf(events->out, "%" PRIu64 " %s:\n", (uint64_t)moment->weight,
			kind_ops_of(moment->kind)->name);
	write_stack(events, slice, moment->stack);
	return 0;
}

static void write_request(struct events *events, const struct timeline_slice *slice,
			  const struct slow_io *request)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice->profile), request->process);

	write_line(events, profile_string(slice->profile, request->comm),
		   process ? process->pid : 0, request->tid, request->insert_ns);
	fprintf(events->out, "%" PRIu64 " blockio-%s:\n", request->queue_ns + request->device_ns,
		device_operation_name(request->state & PKBPF_BLOCKIO_OPERATION_MASK));
	write_stack(events, slice, request->stack);
}

static int compare_times(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	/* Those of one moment in the order in which they came. */
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The caller frees them. NULL: out of memory. */
static struct event *sort_events(const struct timeline_slice *slice, size_t *ret_count)
{
	size_t count = slice->moment_count + slice->request_count;
	struct event *all = calloc(count + 1, sizeof(*all));

	for (size_t i = 0; all && i < count; i++) {
		struct event *event = &all[i];

		event->number = i;
		if (i < slice->moment_count) {
			event->moment = slice->moments[i];
			event->begin_ns = event->moment->begin_ns;
		} else {
			event->request = &slice->requests[i - slice->moment_count];
			event->begin_ns = event->request->insert_ns;
		}
	}
	if (all)
		qsort(all, count, sizeof(*all), compare_times);
	*ret_count = count;
	return all;
}

static int events_add(void *state, const struct profile *profile)
{
	struct events *events = state;
	struct timeline_slice slice;
	struct event *all = NULL;
	size_t count = 0;
	int err = timeline_slice_init(&slice, profile, events->lines);

	if (err)
		return err;
	if (!events->begun)
		write_head(events, &slice);
	all = sort_events(&slice, &count);
	err = all ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		if (all[i].moment)
			err = write_moment(events, &slice, all[i].moment);
		else
			write_request(events, &slice, all[i].request);
	}
	free(all);
	timeline_slice_done(&slice);
	return err;
}

static int events_end(void *state)
{
	struct events *events = state;

	if (!events->count)
		fputs("# No single events: they are kept with --trace.\n", events->out);
	return 0;
}

static int events_write(struct results *results, const struct format_options *options, FILE *out)
{
	return format_write_slices(&format_events, results, options, out);
}

static const struct format_slices slices = {
	.begin = events_begin,
	.add = events_add,
	.end = events_end,
	.free = free,
};

const struct format_ops format_events = {
	.file = {"events", ".events.txt", "single events with their stacks, as text; with --trace"},
	.write = events_write,
	.slices = &slices,
};
