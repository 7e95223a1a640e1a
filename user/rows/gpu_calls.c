// SPDX-License-Identifier: BSD-2-Clause
#include "rows/gpu_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/gpu_call_event.h"
#include "symbol/stub_name.h"

/* Launches have no time of their own: they come last. */
static int compare(const void *left, const void *right)
{
	const struct gpu_call *a = *(const struct gpu_call *const *)left,
			      *b = *(const struct gpu_call *const *)right;
	bool is_launch = a->group == PKBPF_GPU_LAUNCH;

	if (is_launch != (b->group == PKBPF_GPU_LAUNCH))
		return is_launch ? 1 : -1;
	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By process, function and kernel. */
static int compare_kernels(const struct gpu_call *a, const struct gpu_call *b)
{
	int order = compare_numbers(a->process, b->process);

	order = order ? order : compare_numbers(a->function, b->function);
	order = order ? order : compare_numbers(a->name, b->name);
	order = order ? order : compare_numbers(a->kernel, b->kernel);
	return order ? order : compare_numbers(a->detail, b->detail);
}

static int compare_streams(const void *left, const void *right)
{
	const struct gpu_call *a = *(const struct gpu_call *const *)left,
			      *b = *(const struct gpu_call *const *)right;
	int order = compare_kernels(a, b);

	return order ? order : compare_numbers(a->stream, b->stream);
}

static void add_sums(struct gpu_calls *calls, const struct gpu_call *call)
{
	struct gpu_group_sums *group = &calls->groups[call->group % PKBPF_GPU_GROUPS];

	if (call->what == PKBPF_GPU_ERROR) {
		group->errors += call->count;
		return;
	}
	if (call->what == PKBPF_GPU_STACK) {
		calls->samples += call->samples;
		calls->stacks_stand_for += call->count;
		return;
	}
	if (call->what == PKBPF_GPU_STREAM)
		return;
	calls->calls += call->count;
	group->count += call->count;
	group->unmeasured += call->unmeasured;
	group->ns += call->ns;
	group->bytes += call->bytes;
	group->freed_bytes += call->freed_bytes;
	group->runs += call->runs;
	group->run_ns += call->run_ns;
}

int gpu_calls_make(struct gpu_calls *calls, const struct profile *profile)
{
	const struct gpu_call_list *list = profile_gpu_calls(profile);
	size_t most = list->items.count + 1;

	*calls = (struct gpu_calls){.sums = calloc(most, sizeof(*calls->sums)),
				    .stacks = calloc(most, sizeof(*calls->stacks)),
				    .errors = calloc(most, sizeof(*calls->errors)),
				    .streams = calloc(most, sizeof(*calls->streams))};
	if (!calls->sums || !calls->stacks || !calls->errors || !calls->streams) {
		gpu_calls_done(calls);
		return -ENOMEM;
	}
	array_foreach(&list->items, call) {
		add_sums(calls, call);
		calls->other_count +=
			call->what == PKBPF_GPU_SUM && call->group != PKBPF_GPU_LAUNCH;
		if (call->what == PKBPF_GPU_SUM)
			calls->sums[calls->sum_count++] = call;
		else if (call->what == PKBPF_GPU_STREAM)
			calls->streams[calls->stream_count++] = call;
		else if (call->what == PKBPF_GPU_STACK && call->count)
			calls->stacks[calls->stack_count++] = call;
		else if (call->what == PKBPF_GPU_ERROR)
			calls->errors[calls->error_count++] = call;
	}
	qsort(calls->sums, calls->sum_count, sizeof(*calls->sums), compare);
	qsort(calls->stacks, calls->stack_count, sizeof(*calls->stacks), compare);
	qsort(calls->errors, calls->error_count, sizeof(*calls->errors), compare);
	qsort(calls->streams, calls->stream_count, sizeof(*calls->streams), compare_streams);
	return 0;
}

void gpu_calls_done(struct gpu_calls *calls)
{
	free(calls->sums);
	free(calls->stacks);
	free(calls->errors);
	free(calls->streams);
	*calls = (struct gpu_calls){.calls = 0};
}

/* ---- streams ---- */

static bool is_default_stream(uint64_t stream)
{
	return stream == PKBPF_GPU_STREAM_NONE || stream == PKBPF_GPU_STREAM_LEGACY;
}

static void add_stream(struct gpu_streams *streams, const struct gpu_call *call)
{
	streams->samples += call->samples;
	streams->launches += call->count;
	streams->default_stream += is_default_stream(call->stream) ? call->count : 0;
}

static int compare_by_stream(const void *left, const void *right)
{
	const struct gpu_call *a = *(const struct gpu_call *const *)left,
			      *b = *(const struct gpu_call *const *)right;
	int order = compare_numbers(a->process, b->process);

	return order ? order : compare_numbers(a->stream, b->stream);
}

/* 0 without memory. */
static uint64_t count_streams(const struct gpu_calls *calls)
{
	const struct gpu_call **sorted = calloc(calls->stream_count + 1, sizeof(*sorted));
	uint64_t count = 0;

	if (!sorted)
		return 0;
	for (size_t i = 0; i < calls->stream_count; i++)
		sorted[i] = calls->streams[i];
	qsort(sorted, calls->stream_count, sizeof(*sorted), compare_by_stream);
	for (size_t i = 0; i < calls->stream_count; i++)
		count += !i || compare_by_stream(&sorted[i - 1], &sorted[i]);
	free(sorted);
	return count;
}

static size_t first_stream(const struct gpu_calls *calls, const struct gpu_call *call)
{
	size_t first = 0, end = calls->stream_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare_kernels(calls->streams[middle], call) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

struct gpu_streams gpu_calls_streams(const struct gpu_calls *calls, const struct gpu_call *call)
{
	struct gpu_streams streams = {.count = 0};

	for (size_t i = call ? first_stream(calls, call) : 0;
	     i < calls->stream_count && (!call || !compare_kernels(calls->streams[i], call)); i++) {
		add_stream(&streams, calls->streams[i]);
		streams.count++;
	}
	if (!call)
		streams.count = count_streams(calls);
	return streams;
}

/* ---- words ---- */

const char *gpu_group_name(uint32_t group)
{
	static const char *const names[PKBPF_GPU_GROUPS] = {
		[PKBPF_GPU_LAUNCH] = "launch", [PKBPF_GPU_GRAPH] = "graph",
		[PKBPF_GPU_COPY] = "copy",     [PKBPF_GPU_ALLOC] = "allocation",
		[PKBPF_GPU_FREE] = "free",     [PKBPF_GPU_WAIT] = "wait",
	};

	return group < PKBPF_GPU_GROUPS && names[group] ? names[group] : "call";
}

const char *gpu_call_way(const struct gpu_call *call)
{
	static const char *const names[PKBPF_GPU_WAYS] = {
		[PKBPF_GPU_HOST_TO_HOST] = "host to host",
		[PKBPF_GPU_HOST_TO_DEVICE] = "host to device",
		[PKBPF_GPU_DEVICE_TO_HOST] = "device to host",
		[PKBPF_GPU_DEVICE_TO_DEVICE] = "device to device",
		[PKBPF_GPU_ANY_WAY] = "unknown",
		[PKBPF_GPU_SET] = "fill",
	};

	return call->group == PKBPF_GPU_COPY && call->what != PKBPF_GPU_ERROR &&
			       call->detail < PKBPF_GPU_WAYS
		       ? names[call->detail]
		       : "";
}

static const struct frame *frame_of(const struct profile *profile, uint32_t stack)
{
	const uint32_t *frames;
	size_t count = 0;

	if (stack == GPU_CALL_NO_STACK || stack >= profile_stack_count(profile))
		return NULL;
	frames = profile_stack(profile, stack, &count);
	return count ? profile_frame(profile, frames[0]) : NULL;
}

static bool has_symbol(const struct profile *profile, uint32_t stack)
{
	const struct frame *frame = frame_of(profile, stack);

	return frame && frame->symbol.line_count;
}

static bool name_of_code(char text[GPU_CALL_TEXT_SIZE], const struct profile *profile,
			 uint32_t stack)
{
	const struct frame *frame = frame_of(profile, stack);
	const struct symbol *symbol;

	if (!frame)
		return false;
	symbol = &frame->symbol;
	if (symbol->line_count)
		stub_name(symbol->lines[symbol->line_count - 1].function, text, GPU_CALL_TEXT_SIZE);
	else if (symbol->module)
		snprintf(text, GPU_CALL_TEXT_SIZE, "[kernel at %s+0x%" PRIx64 "]", symbol->module,
			 symbol->module_address);
	else
		snprintf(text, GPU_CALL_TEXT_SIZE, "[kernel at 0x%" PRIx64 "]",
			 frame->location.address);
	return true;
}

/* Of a name that was too long the symbol of the code may have the rest; a handle is different
 * where the beginning is the same. */
static void cut_name(char text[GPU_CALL_TEXT_SIZE], const struct profile *profile,
		     const struct gpu_call *call, const char *name)
{
	if (has_symbol(profile, call->kernel) && name_of_code(text, profile, call->kernel))
		return;
	if (call->detail)
		snprintf(text, GPU_CALL_TEXT_SIZE, "%s... [0x%" PRIx64 "]", name, call->detail);
	else
		snprintf(text, GPU_CALL_TEXT_SIZE, "%s...", name);
}

const char *gpu_call_kernel(char text[GPU_CALL_TEXT_SIZE], const struct profile *profile,
			    const struct gpu_call *call)
{
	const char *name = profile_string(profile, call->name);

	text[0] = '\0';
	if (call->group != PKBPF_GPU_LAUNCH || call->what == PKBPF_GPU_ERROR)
		return text;
	if (call->detail == PKBPF_GPU_OTHERS)
		return strcpy(text, "[other kernels]");
	if (name[0] && gpu_kernel_name_is_cut(name))
		cut_name(text, profile, call, name);
	else if (name[0])
		stub_name(name, text, GPU_CALL_TEXT_SIZE);
	else if (!name_of_code(text, profile, call->kernel))
		snprintf(text, GPU_CALL_TEXT_SIZE, "[kernel 0x%" PRIx64 "]", call->detail);
	return text;
}

uint64_t gpu_call_live_bytes(const struct gpu_call *call)
{
	/* Of calls that are not seen to end nothing is known. */
	if (call->unmeasured)
		return 0;
	return call->freed_bytes < call->bytes ? call->bytes - call->freed_bytes : 0;
}
