// SPDX-License-Identifier: BSD-2-Clause
/* Writes Chrome trace events, which Perfetto and others read: per process counters of each slice,
 * its stacks as nested events, and slow block requests at their times; with a trace, CPU samples
 * and waits at theirs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "export/formats.h"
#include "export/timeline/chrome_private.h"
#include "profile/kind_table.h"
#include "rows/devices.h"

static void *chrome_begin(FILE *out, const struct format_options *options)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (chrome) {
		chrome->out = out;
		chrome->lines = options->lines;
	}
	return chrome;
}

static void chrome_free(void *state)
{
	struct chrome *chrome = state;

	if (!chrome)
		return;
	track_names_done(&chrome->names);
	hash_map_done(&chrome->sampled);
	array_free(&chrome->counted);
	array_free(&chrome->counted_before);
	array_free(&chrome->frames);
	free(chrome);
}

/* ---- events ---- */

static void write_head(struct chrome *chrome, const struct timeline_slice *slice)
{
	const struct profile_info *info = profile_info_read(slice->profile);

	fprintf(chrome->out,
		"{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"tool\":\"pkbpf "
		"%s\",\"times\":\"%s\",\"host\":",
		PKBPF_VERSION, slice->moment_count ? TIMELINE_TRACE_NOTE : TIMELINE_NOTE);
	escape_json(chrome->out, info->host);
	fputs(",\"targets\":", chrome->out);
	escape_json(chrome->out, info->targets);
	fprintf(chrome->out, ",\"start_unix_ns\":\"%" PRId64 "\"},\n\"traceEvents\":[\n",
		info->start_unix_ns);
	/* The first item; those that follow begin with a comma. */
	fputs("{\"ph\":\"M\",\"name\":\"trace_name\",\"pid\":0,\"tid\":0,\"ts\":0,\"args\":{"
	      "\"name\":\"pkbpf\"}}",
	      chrome->out);
	chrome->begun = true;
	chrome->first_ns = info->start_ns;
}

static double time_us(const struct chrome *chrome, double time_ns)
{
	double since_ns = time_ns - (double)chrome->first_ns;

	return since_ns > 0 ? since_ns / 1000 : 0;
}

void chrome_begin_event(struct chrome *chrome, char phase, uint32_t pid, uint32_t tid,
			double time_ns)
{
	fprintf(chrome->out,
		",\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%.3f,\"name\":",
		phase, pid, tid, time_us(chrome, time_ns));
}

int chrome_name_track(struct chrome *chrome, uint32_t pid, uint32_t tid, const char *name)
{
	struct track_name named = {.pid = pid, .tid = tid};

	/* The name of a process is the program it executed last: track_names_update(). */
	if (!tid && track_names_get(&chrome->names, pid, 0, 0))
		return 0;
	snprintf(named.text, sizeof(named.text), "%s", name);
	return track_names_put(&chrome->names, &named);
}

static void write_names(const struct chrome *chrome)
{
	array_foreach(&chrome->names.items, name) {
		fprintf(chrome->out,
			",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
			",\"ts\":0,\"name\":\"%s\",\"args\":{\"name\":",
			name->pid, name->tid, name->tid ? "thread_name" : "process_name");
		escape_json(chrome->out, name->text);
		fputs("}}", chrome->out);
	}
}

/* ---- counters ---- */

struct pair {
	const char *counter, *first, *second;
	double values[2];
};

static void write_pair(struct chrome *chrome, const struct resource_row *row, double time_ns,
		       const struct pair *pair)
{
	chrome_begin_event(chrome, 'C', row->pid, 0, time_ns);
	fprintf(chrome->out, "\"%s\",\"args\":{\"%s\":%.3f,\"%s\":%.3f}}", pair->counter,
		pair->first, pair->values[0], pair->second, pair->values[1]);
}

static void write_counters(struct chrome *chrome, const struct resource_row *row,
			   const struct timeline_slice *slice, double time_ns)
{
	double length_ns = (double)(slice->end_ns - slice->begin_ns), seconds = length_ns / 1e9;

	if (row->known & ROW_HAS_USAGE) {
		write_pair(chrome, row, time_ns,
			   &(struct pair){"%CPU",
					  "user",
					  "system",
					  {(double)row->cpu.user_ns * 100 / length_ns,
					   (double)row->cpu.system_ns * 100 / length_ns}});
		write_pair(chrome, row, time_ns,
			   &(struct pair){"threads waiting",
					  "run queue",
					  "disk",
					  {(double)row->waits.runqueue_ns / length_ns,
					   (double)row->waits.disk_ns / length_ns}});
		write_pair(chrome, row, time_ns,
			   &(struct pair){"faults/s",
					  "minor",
					  "major",
					  {(double)row->memory.minor_faults / seconds,
					   (double)row->memory.major_faults / seconds}});
	}
	if (row->known & ROW_HAS_KIND(PKBPF_PROFILE_BLOCKIO))
		write_pair(chrome, row, time_ns,
			   &(struct pair){"block I/O bytes/s",
					  "read",
					  "written",
					  {(double)row->blockio.read_bytes / seconds,
					   (double)row->blockio.written_bytes / seconds}});
}

static int compare_pids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* counted is sorted. */
static bool is_counted(const struct chrome *chrome, uint32_t pid)
{
	return chrome->counted.count && bsearch(&pid, chrome->counted.items, chrome->counted.count,
						sizeof(pid), compare_pids);
}

/* A counter keeps its value until the next: that of a process that did nothing any more has to be
 * set to 0. */
static void end_counters(struct chrome *chrome, const struct timeline_slice *slice)
{
	array_foreach(&chrome->counted_before, pid) {
		struct resource_row none = {
			.pid = *pid,
			.known = ROW_HAS_USAGE |
				 (slice->rows->total.known & ROW_HAS_KIND(PKBPF_PROFILE_BLOCKIO)),
		};

		if (!is_counted(chrome, *pid))
			write_counters(chrome, &none, slice, (double)slice->begin_ns);
	}
}

static int remember_counted(struct chrome *chrome)
{
	chrome->counted_before.count = 0;
	array_foreach(&chrome->counted, pid) {
		uint32_t *before = array_add(&chrome->counted_before);

		if (!before)
			return -ENOMEM;
		*before = *pid;
	}
	return 0;
}

static int write_all_counters(struct chrome *chrome, const struct timeline_slice *slice)
{
	const struct resource_rows *rows = slice->rows;

	chrome->counted.count = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct resource_row *row = &rows->items[i];
		uint32_t *counted = row->pid ? array_add(&chrome->counted) : NULL;

		if (!row->pid)
			continue;
		if (!counted || chrome_name_track(chrome, row->pid, 0, row->name))
			return -ENOMEM;
		*counted = row->pid;
		write_counters(chrome, row, slice, (double)slice->begin_ns);
	}
	if (chrome->counted.count)
		qsort(chrome->counted.items, chrome->counted.count, sizeof(*chrome->counted.items),
		      compare_pids);
	end_counters(chrome, slice);
	return remember_counted(chrome);
}

/* ---- stacks ---- */

void chrome_close_frames(struct chrome *chrome, const struct timeline_slice *slice, uint32_t pid,
			 uint32_t tid, size_t depth, double now_ns)
{
	while (chrome->frames.count > depth) {
		const struct open_frame *frame = &chrome->frames.items[--chrome->frames.count];
		const struct function *function =
			function_table_get(slice->functions, frame->function);

		chrome_begin_event(chrome, 'X', pid, tid, frame->begin_ns);
		escape_json(chrome->out, function->name);
		fprintf(chrome->out, ",\"dur\":%.3f", (now_ns - frame->begin_ns) / 1000);
		if (function->module[0]) {
			fputs(",\"args\":{\"module\":", chrome->out);
			escape_json(chrome->out, function->module);
			fputc('}', chrome->out);
		}
		fputc('}', chrome->out);
	}
}

int chrome_go_to_stack(struct chrome *chrome, const struct timeline_slice *slice, uint32_t tid,
		       const struct timeline_stack *stack, double now_ns)
{
	const uint32_t *path = timeline_path(slice, stack);
	size_t depth = 0;

	while (depth < chrome->frames.count && depth < stack->depth &&
	       chrome->frames.items[depth].function == path[depth])
		depth++;
	chrome_close_frames(chrome, slice, stack->pid, tid, depth, now_ns);
	for (; depth < stack->depth; depth++) {
		struct open_frame *frame = array_add(&chrome->frames);

		if (!frame)
			return -ENOMEM;
		*frame = (struct open_frame){path[depth], now_ns};
	}
	return 0;
}

/* Stacks [first, end) of one process and kind, one behind the other from the begin of the slice on;
 * those of several threads have no more room than it. */
static int write_track(struct chrome *chrome, const struct timeline_slice *slice, size_t first,
		       size_t end)
{
	const struct timeline_stack *stacks = slice->stacks;
	double length_ns = (double)(slice->end_ns - slice->begin_ns), all_ns = 0, scale;
	double now_ns = (double)slice->begin_ns;
	uint32_t tid = TRACK_FIRST + (uint32_t)stacks[first].kind;

	for (size_t i = first; i < end; i++)
		all_ns += timeline_weight_ns(slice, stacks[i].kind, stacks[i].weight);
	scale = all_ns > length_ns ? length_ns / all_ns : 1;
	for (size_t i = first; i < end; i++) {
		const struct timeline_stack *stack = &stacks[i];
		int err = chrome_go_to_stack(chrome, slice, tid, stack, now_ns);

		if (err)
			return err;
		now_ns += scale * timeline_weight_ns(slice, stack->kind, stack->weight);
	}
	chrome_close_frames(chrome, slice, stacks[first].pid, tid, 0, now_ns);
	return 0;
}

static const char *track_name(enum pkbpf_profile_kind kind)
{
	switch (kind) {
	case PKBPF_PROFILE_CPU:
		return "on-CPU stacks of each slice";
	case PKBPF_PROFILE_OFFCPU:
		return "off-CPU stacks of each slice";
	default:
		return "block I/O stacks of each slice";
	}
}

static int write_stacks(struct chrome *chrome, const struct timeline_slice *slice)
{
	int err = 0;

	for (size_t i = 0, end; i < slice->stack_count && !err; i = end) {
		const struct timeline_stack *stack = &slice->stacks[i];

		for (end = i + 1; end < slice->stack_count; end++)
			if (slice->stacks[end].pid != stack->pid ||
			    slice->stacks[end].kind != stack->kind)
				break;
		/* Page faults take no time that is known. */
		if (timeline_weight_ns(slice, stack->kind, stack->weight) <= 0)
			continue;
		err = chrome_name_track(chrome, stack->pid, 0, stack->comm);
		err = err ? err
			  : chrome_name_track(chrome, stack->pid,
					      TRACK_FIRST + (uint32_t)stack->kind,
					      track_name(stack->kind));
		err = err ? err : write_track(chrome, slice, i, end);
	}
	return err;
}

/* ---- slow block requests ---- */

void chrome_write_stack(struct chrome *chrome, const struct timeline_slice *slice, uint32_t stack)
{
	uint32_t functions[64];
	size_t count = function_table_stack(slice->functions, slice->profile, stack, functions,
					    ARRAY_SIZE(functions));

	if (count > ARRAY_SIZE(functions))
		count = ARRAY_SIZE(functions);
	fputs("\"stack\":[", chrome->out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", chrome->out);
		escape_json(chrome->out, function_table_get(slice->functions, functions[i])->name);
	}
	fputc(']', chrome->out);
}

static void end_request(struct chrome *chrome, const struct timeline_slice *slice,
			const struct slow_io *request)
{
	fprintf(chrome->out, ",\"args\":{\"queue_us\":%.3f,\"device_us\":%.3f,",
		(double)request->queue_ns / 1000, (double)request->device_ns / 1000);
	chrome_write_stack(chrome, slice, request->stack);
	fputs("}}", chrome->out);
}

/* Several are in flight at one time: async events. */
static int write_request(struct chrome *chrome, const struct timeline_slice *slice,
			 const struct slow_io *request)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice->profile), request->process);
	const char *device = profile_device_name(slice->profile, request->device);
	const char *comm = profile_string(slice->profile, request->comm);
	uint32_t pid = process ? process->pid : 0;
	uint64_t end_ns = request->insert_ns + request->queue_ns + request->device_ns;
	char name[64];

	if (chrome_name_track(chrome, pid, 0, process ? process->comm : comm) ||
	    (request->tid && chrome_name_track(chrome, pid, request->tid, comm)))
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s %" PRIu32 " bytes, %s",
		 device_operation_name(request->state & PKBPF_BLOCKIO_OPERATION_MASK),
		 request->bytes, device ? device : "device unknown");
	chrome->requests++;
	for (int is_end = 0; is_end < 2; is_end++) {
		chrome_begin_event(chrome, is_end ? 'e' : 'b', pid, request->tid,
				   (double)(is_end ? end_ns : request->insert_ns));
		escape_json(chrome->out, name);
		fprintf(chrome->out, ",\"cat\":\"block request\",\"id\":\"%" PRIu64 "\"",
			chrome->requests);
		if (is_end)
			fputc('}', chrome->out);
		else
			end_request(chrome, slice, request);
	}
	return 0;
}

static int write_requests(struct chrome *chrome, const struct timeline_slice *slice)
{
	int err = 0;

	for (size_t i = 0; i < slice->request_count && !err; i++)
		err = write_request(chrome, slice, &slice->requests[i]);
	return err;
}

/* ---- the format ---- */

static int chrome_add(void *state, const struct profile *profile)
{
	struct chrome *chrome = state;
	struct timeline_slice slice;
	int err = timeline_slice_init(&slice, profile, chrome->lines);

	if (err)
		return err;
	if (!chrome->begun)
		write_head(chrome, &slice);
	err = write_all_counters(chrome, &slice);
	err = err ? err : write_stacks(chrome, &slice);
	err = err ? err : chrome_write_moments(chrome, &slice);
	err = err ? err : write_requests(chrome, &slice);
	track_names_update(&chrome->names, profile_processes(profile));
	timeline_slice_done(&slice);
	return err;
}

static int chrome_end(void *state)
{
	struct chrome *chrome = state;

	if (chrome->begun)
		write_names(chrome);
	fputs("\n]}\n", chrome->out);
	return 0;
}

static int chrome_write(struct results *results, const struct format_options *options, FILE *out)
{
	return format_write_slices(&format_chrome, results, options, out);
}

static const struct format_slices slices = {
	.begin = chrome_begin,
	.add = chrome_add,
	.end = chrome_end,
	.free = chrome_free,
};

const struct format_ops format_chrome = {
	.file = {"chrome", ".trace.json",
		 "Chrome trace events for Perfetto: what each slice held, slow block requests; "
		 "single events with --trace"},
	.write = chrome_write,
	.slices = &slices,
};
