// SPDX-License-Identifier: BSD-2-Clause
/* Fills the tables of a track, and writes them column by column. */
#include "export/timeline/firefox_track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "profile/kind_table.h"

struct firefox_track *firefox_track_new(uint32_t pid, const char *comm,
					enum pkbpf_profile_kind kind)
{
	struct firefox_track *track = calloc(1, sizeof(*track));

	if (!track)
		return NULL;
	track->pid = pid;
	track->kind = kind;
	snprintf(track->comm, sizeof(track->comm), "%s", comm);
	track->strings = string_pool_new();
	if (track->strings)
		return track;
	firefox_track_free(track);
	return NULL;
}

void firefox_track_free(struct firefox_track *track)
{
	if (!track)
		return;
	string_pool_free(track->strings);
	hash_map_done(&track->function_of);
	hash_map_done(&track->node_of);
	array_free(&track->functions);
	array_free(&track->nodes);
	array_free(&track->samples);
	array_free(&track->requests);
	array_free(&track->waits);
	free(track);
}

static enum firefox_category category_of(enum function_mark mark)
{
	switch (mark) {
	case FUNCTION_KERNEL:
		return FIREFOX_KERNEL;
	case FUNCTION_JIT:
		return FIREFOX_JIT;
	case FUNCTION_PYTHON:
		return FIREFOX_PYTHON;
	case FUNCTION_TRUNCATED:
		return FIREFOX_OTHER;
	default:
		return FIREFOX_USER;
	}
}

/* Its place, or UINT32_MAX. Functions are told apart by all that is shown of them. */
static uint32_t function_there(struct firefox_track *track, const struct function *from)
{
	struct firefox_function function = {
		.name = string_pool_add(track->strings, from->name),
		.file = string_pool_add(track->strings, from->file[0] ? from->file : from->path),
		.module = string_pool_add(track->strings, from->module),
		.line = from->line,
		.category = category_of(from->mark),
		.inlined = from->mark == FUNCTION_INLINED,
	};
	const uint32_t parts[] = {function.name, function.file,	    function.module,
				  function.line, function.category, function.inlined};
	uint64_t key = hash_bytes(parts, sizeof(parts), 0);
	struct firefox_function *slot;
	uint64_t *known;
	bool added;

	if (function.name == STRING_POOL_NONE || function.file == STRING_POOL_NONE ||
	    function.module == STRING_POOL_NONE)
		return UINT32_MAX;
	known = hash_map_get(&track->function_of, key, track->functions.count, &added);
	if (!known)
		return UINT32_MAX;
	if (!added)
		return (uint32_t)*known;
	slot = array_add(&track->functions);
	if (!slot)
		return UINT32_MAX;
	*slot = function;
	return (uint32_t)*known;
}

/* 1 + its place, 0: out of memory. */
static uint32_t node_there(struct firefox_track *track, uint32_t function, uint32_t prefix)
{
	uint64_t key = (uint64_t)function << 32 | prefix;
	struct firefox_node *slot;
	uint64_t *known;
	bool added;

	known = hash_map_get(&track->node_of, key, track->nodes.count, &added);
	if (!known)
		return 0;
	if (!added)
		return (uint32_t)*known + 1;
	slot = array_add(&track->nodes);
	if (!slot)
		return 0;
	*slot = (struct firefox_node){function, prefix};
	return (uint32_t)*known + 1;
}

uint32_t firefox_track_stack(struct firefox_track *track, const struct timeline_slice *slice,
			     const struct timeline_stack *stack)
{
	const uint32_t *path = timeline_path(slice, stack);
	uint32_t node = 0;

	for (size_t i = 0; i < stack->depth; i++) {
		uint32_t function =
			function_there(track, function_table_get(slice->functions, path[i]));

		node = function == UINT32_MAX ? 0 : node_there(track, function, node);
		if (!node)
			return UINT32_MAX;
	}
	return node;
}

int firefox_track_add(struct firefox_track *track, const struct timeline_slice *slice,
		      const struct timeline_stack *stack, double time_ms)
{
	struct firefox_sample *sample;
	uint32_t node = firefox_track_stack(track, slice, stack);

	if (!node) { /* Firefox leaves samples without a stack out of its sums */
		uint32_t none =
			function_there(track, &(struct function){.name = "[no stack]",
								 .file = "",
								 .path = "",
								 .module = "",
								 .mark = FUNCTION_TRUNCATED});

		node = none == UINT32_MAX ? 0 : node_there(track, none, 0);
		node = node ? node : UINT32_MAX;
	}
	if (node == UINT32_MAX)
		return -ENOMEM;
	if (kind_ops_of(track->kind)->is_expected)
		track->weight_ns = timeline_weight_ns(slice, track->kind, 1);
	sample = array_add(&track->samples);
	if (!sample)
		return -ENOMEM;
	*sample = (struct firefox_sample){time_ms, stack->weight, node};
	return 0;
}

int firefox_track_add_request(struct firefox_track *track, const struct firefox_request *request)
{
	uint32_t device = string_pool_add(track->strings, request->device);
	struct firefox_request *slot = array_add(&track->requests);

	if (!slot || device == STRING_POOL_NONE)
		return -ENOMEM;
	*slot = *request;
	slot->device = string_pool_get(track->strings, device);
	return 0;
}

int firefox_track_add_wait(struct firefox_track *track, const struct firefox_wait *wait)
{
	struct firefox_wait *slot = array_add(&track->waits);

	if (!slot)
		return -ENOMEM;
	*slot = *wait;
	return 0;
}

static int compare_samples(const void *left, const void *right)
{
	const struct firefox_sample *a = left, *b = right;

	if (a->time_ms != b->time_ms)
		return a->time_ms < b->time_ms ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

void firefox_track_sort(struct firefox_track *track)
{
	if (track->samples.count)
		qsort(track->samples.items, track->samples.count, sizeof(*track->samples.items),
		      compare_samples);
}

int firefox_track_compare(const struct firefox_track *a, const struct firefox_track *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* ---- writing ---- */

/* "name":[value,…] over an array; `each` is the item. */
#define COLUMN(out, name, array, format, ...)                                                      \
	do {                                                                                       \
		const char *comma_ = "";                                                           \
                                                                                                   \
		fputs("\"" name "\":[", (out));                                                    \
		array_foreach(array, each) {                                                       \
			fprintf((out), "%s" format, comma_, __VA_ARGS__);                          \
			comma_ = ",";                                                              \
		}                                                                                  \
		fputs("],", (out));                                                                \
	} while (0)

static void repeat(FILE *out, const char *name, const char *value, size_t count)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("],", out);
}

/* null where the number is none. */
static const char *optional(char text[16], bool is_there, uint32_t number)
{
	snprintf(text, 16, "%" PRIu32, number);
	return is_there ? text : "null";
}

static void write_strings(const struct firefox_track *track, FILE *out)
{
	fputs("\"stringArray\":[", out);
	for (size_t i = 0; i < string_pool_count(track->strings); i++) {
		fputs(i ? "," : "", out);
		escape_json(out, string_pool_get(track->strings, (uint32_t)i));
	}
	/* The names of markers, behind those of the pool. */
	fputs(",\"Block request\",\"Wait\"],", out);
}

static void write_function_table(const struct firefox_track *track, FILE *out)
{
	char text[16];

	fputs("\"funcTable\":{", out);
	COLUMN(out, "name", &track->functions, "%" PRIu32, each->name);
	repeat(out, "isJS", "false", track->functions.count);
	repeat(out, "relevantForJS", "false", track->functions.count);
	repeat(out, "resource", "-1", track->functions.count);
	COLUMN(out, "fileName", &track->functions, "%s",
	       each->file ? optional(text, true, each->file)
			  : optional(text, each->module != 0, each->module));
	COLUMN(out, "lineNumber", &track->functions, "%s",
	       optional(text, each->line != 0, each->line));
	repeat(out, "columnNumber", "null", track->functions.count);
	fprintf(out, "\"length\":%zu},", track->functions.count);
}

static void write_frame_places(const struct firefox_track *track, FILE *out)
{
	char text[16];

	COLUMN(out, "func", &track->functions, "%td", each - track->functions.items);
	repeat(out, "nativeSymbol", "null", track->functions.count);
	repeat(out, "innerWindowID", "0", track->functions.count);
	COLUMN(out, "line", &track->functions, "%s", optional(text, each->line != 0, each->line));
	repeat(out, "column", "null", track->functions.count);
	fprintf(out, "\"length\":%zu},", track->functions.count);
}

/* A function has one frame. */
static void write_frame_table(const struct firefox_track *track, FILE *out)
{
	fputs("\"frameTable\":{", out);
	repeat(out, "address", "-1", track->functions.count);
	COLUMN(out, "inlineDepth", &track->functions, "%d", each->inlined ? 1 : 0);
	COLUMN(out, "category", &track->functions, "%d", (int)each->category);
	repeat(out, "subcategory", "0", track->functions.count);
	write_frame_places(track, out);
}

static void write_functions(const struct firefox_track *track, FILE *out)
{
	write_function_table(track, out);
	write_frame_table(track, out);
	fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},",
	      out);
}

static void write_stacks(const struct firefox_track *track, FILE *out)
{
	char text[16];

	fputs("\"stackTable\":{", out);
	COLUMN(out, "frame", &track->nodes, "%" PRIu32, each->function);
	COLUMN(out, "category", &track->nodes, "%d",
	       (int)track->functions.items[each->function].category);
	repeat(out, "subcategory", "0", track->nodes.count);
	COLUMN(out, "prefix", &track->nodes, "%s",
	       optional(text, each->prefix != 0, each->prefix - 1));
	fprintf(out, "\"length\":%zu},", track->nodes.count);
}

static void write_weights(const struct firefox_track *track, bool is_time, FILE *out)
{
	if (is_time)
		COLUMN(out, "weight", &track->samples, "%.6f", (double)each->weight / 1e6);
	else
		COLUMN(out, "weight", &track->samples, "%" PRIu64, each->weight);
}

static void write_samples(const struct firefox_track *track, FILE *out)
{
	bool is_time = kind_ops_of(track->kind)->weight == PROFILE_WEIGHT_NS;
	char text[16];

	fprintf(out, "\"samples\":{\"weightType\":\"%s\",",
		is_time							   ? "tracing-ms"
		: kind_ops_of(track->kind)->weight == PROFILE_WEIGHT_BYTES ? "bytes"
									   : "samples");
	COLUMN(out, "time", &track->samples, "%.3f", each->time_ms);
	COLUMN(out, "stack", &track->samples, "%s",
	       optional(text, each->stack != 0, each->stack - 1));
	write_weights(track, is_time, out);
	if (track->weight_ns > 0)
		COLUMN(out, "threadCPUDelta", &track->samples, "%.0f",
		       (double)each->weight * track->weight_ns);
	fprintf(out, "\"length\":%zu},", track->samples.count);
}

/* Requests, then waits. */
static void write_times(const struct firefox_track *track, FILE *out)
{
	size_t count = track->requests.count;

	fputs("\"startTime\":[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%.6f", i ? "," : "", track->requests.items[i].begin_ms);
	for (size_t i = 0; i < track->waits.count; i++)
		fprintf(out, "%s%.6f", count + i ? "," : "", track->waits.items[i].begin_ms);
	fputs("],\"endTime\":[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%.6f", i ? "," : "", track->requests.items[i].end_ms);
	for (size_t i = 0; i < track->waits.count; i++)
		fprintf(out, "%s%.6f", count + i ? "," : "", track->waits.items[i].end_ms);
	fputs("],", out);
}

static void write_request(const struct firefox_request *request, FILE *out)
{
	fprintf(out,
		"{\"type\":\"BlockRequest\",\"operation\":\"%s\",\"device\":", request->operation);
	escape_json(out, request->device);
	fprintf(out, ",\"bytes\":%" PRIu32 ",\"queue\":%.6f,\"service\":%.6f}", request->bytes,
		request->queue_ms, request->device_ms);
}

static void write_wait(const struct firefox_track *track, const struct firefox_wait *wait,
		       FILE *out)
{
	fprintf(out, "{\"type\":\"Wait\",\"state\":\"%s\",\"queue\":%.6f", wait->state,
		wait->queue_ms);
	if (wait->stack)
		fprintf(out,
			",\"cause\":{\"tid\":\"%" PRIu32 "\",\"time\":%.6f,\"stack\":%" PRIu32 "}",
			track->tid, wait->begin_ms, wait->stack - 1);
	fputc('}', out);
}

static void write_markers(const struct firefox_track *track, FILE *out)
{
	size_t count = track->requests.count + track->waits.count;
	size_t name = string_pool_count(track->strings);

	fputs("\"markers\":{\"name\":[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%zu", i ? "," : "", name + (i < track->requests.count ? 0 : 1));
	fputs("],", out);
	write_times(track, out);
	repeat(out, "phase", "1", count);
	repeat(out, "category", "0", count);
	fputs("\"data\":[", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		if (i < track->requests.count)
			write_request(&track->requests.items[i], out);
		else
			write_wait(track, &track->waits.items[i - track->requests.count], out);
	}
	fprintf(out, "],\"length\":%zu}", count);
}

void firefox_track_write(const struct firefox_track *track, bool is_first, double end_ms, FILE *out)
{
	char name[64], tid[32];

	if (track->tid) {
		snprintf(name, sizeof(name), "%s", track->comm);
		snprintf(tid, sizeof(tid), "%" PRIu32, track->tid);
	} else {
		snprintf(name, sizeof(name), "%s: %s", track->comm,
			 kind_ops_of(track->kind)->title);
		snprintf(tid, sizeof(tid), "%" PRIu32 ".%d", track->pid, (int)track->kind);
	}
	fputs("{\"name\":", out);
	escape_json(out, name);
	fputs(",\"processName\":", out);
	escape_json(out, track->comm);
	fprintf(out,
		",\"isMainThread\":%s,\"processType\":\"default\",\"pid\":\"%" PRIu32
		"\",\"tid\":\"%s\","
		"\"registerTime\":0,\"unregisterTime\":%.3f,\"processStartupTime\":0,"
		"\"processShutdownTime\":%.3f,\"pausedRanges\":[],\"showMarkersInTimeline\":true,",
		is_first ? "true" : "false", track->pid, tid, end_ms, end_ms);
	write_strings(track, out);
	write_functions(track, out);
	write_stacks(track, out);
	write_samples(track, out);
	write_markers(track, out);
	fputc('}', out);
}
