// SPDX-License-Identifier: BSD-2-Clause
/* Writes a track column by column. */
#include "export/timeline/firefox_track.h"

#include <inttypes.h>

#include "base/escape.h"
#include "profile/kind_table.h"

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
	for (size_t i = 0; i < count; i++) {
		if (i)
			putc_unlocked(',', out);
		fputs_unlocked(value, out);
	}
	fputs("],", out);
}

/* For columns of millions: printf takes three times as long. */
static void write_item(FILE *out, bool is_first, uint32_t number)
{
	char text[12], *at = text + sizeof(text);

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	if (!is_first)
		*--at = ',';
	fwrite_unlocked(at, 1, (size_t)(text + sizeof(text) - at), out);
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
	const struct firefox_node *nodes = track->nodes.items.items;
	size_t count = track->nodes.items.count;

	fputs("\"stackTable\":{\"frame\":[", out);
	for (size_t i = 0; i < count; i++)
		write_item(out, i == 0, nodes[i].function);
	fputs("],\"category\":[", out);
	for (size_t i = 0; i < count; i++)
		write_item(out, i == 0, track->functions.items[nodes[i].function].category);
	fputs("],", out);
	repeat(out, "subcategory", "0", count);
	fputs("\"prefix\":[", out);
	for (size_t i = 0; i < count; i++) {
		if (nodes[i].prefix)
			write_item(out, i == 0, nodes[i].prefix - 1);
		else
			fputs_unlocked(i ? ",null" : "null", out);
	}
	fprintf(out, "],\"length\":%zu},", count);
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

void firefox_track_write(const struct firefox_track *track, const struct firefox_track_names *names,
			 bool is_first, double end_ms, FILE *out)
{
	char name[64], tid[32];

	if (track->tid) {
		snprintf(name, sizeof(name), "%s", names->thread);
		snprintf(tid, sizeof(tid), "%" PRIu32, track->tid);
	} else {
		snprintf(name, sizeof(name), "%s: %s", names->process,
			 kind_ops_of(track->kind)->title);
		snprintf(tid, sizeof(tid), "%" PRIu32 ".%d", track->pid, (int)track->kind);
	}
	fputs("{\"name\":", out);
	escape_json(out, name);
	fputs(",\"processName\":", out);
	escape_json(out, names->process);
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
