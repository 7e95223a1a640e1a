// SPDX-License-Identifier: BSD-2-Clause
/* Writes pprof's profile.proto, gzipped: what go tool pprof, Pyroscope, Parca and Grafana read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "export/formats.h"
#include "export/proto_writer.h"
#include "profile/function_table.h"
#include "profile/kind_table.h"
#include "rows/cgroup_label.h"
#include "rows/plumbing.h"

/* Fields of the messages of profile.proto (package perftools.profiles). */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

#define NAME_MAX_BYTES 4096
/* A name by which readers know the kernel. */
#define KERNEL_MAPPING "[kernel.kallsyms]"

struct pprof_mapping {
	uint32_t file, build_id; /* strings */
	uint64_t limit;
	uint64_t weight; /* of the stacks that it is the outermost program of */
};

struct pprof {
	const struct profile *profile;
	const struct format_options *options;
	struct function_table *functions;
	struct string_pool *strings;
	struct proto_writer out, message, inner;
	ARRAY_OF(struct pprof_mapping) mappings; /* id = number + 1 */
	struct hash_map mapping_of;		 /* file and build id -> number */
	/* By frame and by function; 0: not met yet. What comes first in samples has the lowest
	 * number, whatever else is in the tables: equal profiles give equal files. */
	uint32_t *location_of, *function_of;
	uint32_t location_count;
	ARRAY_OF(uint32_t) mapping_of_location; /* by its id - 1; 0: none */
	ARRAY_OF(uint32_t) met;			/* functions by their number - 1 */
	ARRAY_OF(uint64_t) stack;		/* of the sample at hand */
	char bare[256];				/* name of a peer or region */
};

/* What a kind counts and measures, as other tools call it; others have their own name. */
static const struct {
	const char *kind, *count, *measure;
} value_names[] = {
	{"cpu", "samples", "cpu"},
	{"offcpu", "events", "off_cpu"},
	{"blockio", "block_io", "block_io_delay"},
	{"faults", "page_faults", NULL},
	{"alloc", "alloc_objects", "alloc_space"},
	{"live", "inuse_objects", "inuse_space"},
};

static void pprof_done(struct pprof *pprof)
{
	function_table_free(pprof->functions);
	string_pool_free(pprof->strings);
	proto_done(&pprof->out);
	proto_done(&pprof->message);
	proto_done(&pprof->inner);
	array_free(&pprof->mappings);
	hash_map_done(&pprof->mapping_of);
	free(pprof->location_of);
	free(pprof->function_of);
	array_free(&pprof->met);
	array_free(&pprof->mapping_of_location);
	array_free(&pprof->stack);
}

/* Strings of others, which must be UTF-8. */
static uint32_t string(struct pprof *pprof, const char *text)
{
	char clean[NAME_MAX_BYTES];
	uint32_t id = string_pool_add(pprof->strings, escape_terminal(clean, sizeof(clean), text));

	if (id == STRING_POOL_NONE)
		pprof->out.failed = true;
	return id == STRING_POOL_NONE ? 0 : id;
}

static void write_value_type(struct pprof *pprof, enum profile_field field, const char *type,
			     const char *unit)
{
	proto_number(&pprof->message, VALUE_TYPE, string(pprof, type));
	proto_number(&pprof->message, VALUE_UNIT, string(pprof, unit));
	proto_message(&pprof->out, field, &pprof->message);
}

static const char *count_name(const struct kind_ops *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(value_names); i++)
		if (!strcmp(value_names[i].kind, kind->name))
			return value_names[i].count;
	return kind->name;
}

/* NULL: its weight is its count. */
static const char *measure_name(const struct kind_ops *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(value_names); i++)
		if (!strcmp(value_names[i].kind, kind->name))
			return value_names[i].measure;
	return kind_has_measure(kind) ? kind->name : NULL;
}

/* Readers of heap profiles expect what was allocated and what is alive in one file: that of the
 * first kind has both. */
static bool has_live(const struct pprof *pprof)
{
	const struct profile_info *info = profile_info_read(pprof->profile);

	return pprof->options->kind == PKBPF_PROFILE_ALLOC &&
	       info->kinds_mask & 1U << PKBPF_PROFILE_LIVE;
}

/* The time for which one sample stands; 0: unknown, or weights are no samples of time. */
static uint64_t period_ns(const struct pprof *pprof)
{
	const struct profile_info *info = profile_info_read(pprof->profile);

	if (pprof->options->kind != PKBPF_PROFILE_CPU || !info->frequency_hz)
		return 0;
	return NS_PER_SECOND / info->frequency_hz;
}

static bool has_measure(const struct pprof *pprof)
{
	const struct kind_ops *kind = kind_ops_of(pprof->options->kind);

	return measure_name(kind) && (kind_has_measure(kind) || period_ns(pprof));
}

static void write_types(struct pprof *pprof)
{
	const struct kind_ops *kind = kind_ops_of(pprof->options->kind);

	write_value_type(pprof, PROFILE_SAMPLE_TYPE, count_name(kind), "count");
	if (has_measure(pprof))
		write_value_type(pprof, PROFILE_SAMPLE_TYPE, measure_name(kind),
				 kind->weight == PROFILE_WEIGHT_BYTES ? "bytes" : "nanoseconds");
	if (has_live(pprof)) {
		write_value_type(pprof, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
		write_value_type(pprof, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	}
	if (has_live(pprof))
		proto_number(&pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE,
			     string(pprof, "inuse_space"));
	if (!period_ns(pprof))
		return;
	write_value_type(pprof, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	proto_number(&pprof->out, PROFILE_PERIOD, period_ns(pprof));
}

/* Id of the mapping of a frame; 0: it is in none. */
static uint64_t mapping_of(struct pprof *pprof, const struct frame *frame, uint64_t address)
{
	const struct symbol *symbol = &frame->symbol;
	bool is_kernel = frame->location.space == FRAME_KERNEL, added;
	struct pprof_mapping *mapping;
	uint32_t file, build_id;
	uint64_t *number;

	if (!is_kernel && (!symbol->module || frame->location.space != FRAME_FILE))
		return 0;
	file = string(pprof, is_kernel ? KERNEL_MAPPING : symbol->module);
	build_id = string(pprof, symbol->build_id ? symbol->build_id : "");
	number = hash_map_get(&pprof->mapping_of, (uint64_t)file << 32 | build_id,
			      pprof->mappings.count, &added);
	mapping = !number ? NULL
		  : added ? array_add(&pprof->mappings)
			  : &pprof->mappings.items[*number];
	if (!mapping) {
		pprof->out.failed = true;
		return 0;
	}
	mapping->file = file;
	mapping->build_id = build_id;
	if (address >= mapping->limit)
		mapping->limit = address + 1;
	return *number + 1;
}

/* Addresses in the kernel say where it lies in memory, which is nobody's business. */
static uint64_t address_of(const struct frame *frame)
{
	switch (frame->location.space) {
	case FRAME_FILE:
		return frame->symbol.module_address;
	case FRAME_ANONYMOUS:
	case FRAME_UNMAPPED:
		return frame->location.address;
	case FRAME_KERNEL:
	case FRAME_TRUNCATED:
	case FRAME_PYTHON:
	case FRAME_REGION:
	case FRAME_PEER:
		break;
	}
	return 0;
}

static uint64_t function_of(struct pprof *pprof, uint32_t function)
{
	uint32_t *number = &pprof->function_of[function], *item;

	if (*number)
		return *number;
	item = array_add(&pprof->met);
	if (!item) {
		pprof->out.failed = true;
		return 1;
	}
	*item = function;
	*number = (uint32_t)pprof->met.count;
	return *number;
}

static void write_location(struct pprof *pprof, uint32_t frame_id, uint32_t location)
{
	const struct frame *frame = profile_frame(pprof->profile, frame_id);
	uint64_t address = address_of(frame);
	uint64_t mapping = mapping_of(pprof, frame, address);
	uint32_t *kept = array_add(&pprof->mapping_of_location);
	size_t count;
	const uint32_t *functions = function_table_frame(pprof->functions, frame_id, &count);

	if (kept)
		*kept = (uint32_t)mapping;
	else
		pprof->out.failed = true;
	proto_number(&pprof->message, LOCATION_ID, location);
	proto_number(&pprof->message, LOCATION_MAPPING_ID, mapping);
	proto_number(&pprof->message, LOCATION_ADDRESS, address);
	for (size_t i = 0; i < count; i++) {
		proto_number(&pprof->inner, LINE_FUNCTION_ID, function_of(pprof, functions[i]));
		proto_number(&pprof->inner, LINE_LINE,
			     function_table_get(pprof->functions, functions[i])->line);
		proto_message(&pprof->message, LOCATION_LINE, &pprof->inner);
	}
	proto_message(&pprof->out, PROFILE_LOCATION, &pprof->message);
}

static uint64_t location_of(struct pprof *pprof, uint32_t frame)
{
	if (!pprof->location_of[frame]) {
		pprof->location_of[frame] = ++pprof->location_count;
		write_location(pprof, frame, pprof->location_count);
	}
	return pprof->location_of[frame];
}

static void write_label(struct pprof *pprof, const char *key, const char *text, uint64_t number)
{
	if (text ? !text[0] : !number)
		return;
	proto_number(&pprof->inner, LABEL_KEY, string(pprof, key));
	proto_number(&pprof->inner, LABEL_STR, text ? string(pprof, text) : 0);
	proto_number(&pprof->inner, LABEL_NUM, number);
	proto_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

/* The name of a frame that is no code, without its brackets. Valid until the next one. */
static const char *bare_name(struct pprof *pprof, uint32_t frame)
{
	size_t functions, length;
	const uint32_t *function = function_table_frame(pprof->functions, frame, &functions);

	if (!functions)
		return "";
	snprintf(pprof->bare, sizeof(pprof->bare), "%s",
		 function_table_get(pprof->functions, function[0])->name + 1);
	length = strlen(pprof->bare);
	if (length)
		pprof->bare[length - 1] = '\0';
	return pprof->bare;
}

static bool is_in_space(const struct pprof *pprof, uint32_t frame, enum frame_space space)
{
	return profile_frame(pprof->profile, frame)->location.space == space;
}

static const char *peer_of(struct pprof *pprof, const struct profile_row *row)
{
	size_t count;
	const uint32_t *frames = profile_stack(pprof->profile, row->stack, &count);

	return count && is_in_space(pprof, frames[0], FRAME_PEER) ? bare_name(pprof, frames[0])
								  : "";
}

/* The innermost one: regions are at the root of a stack. */
static const char *region_of(struct pprof *pprof, const struct profile_row *row)
{
	size_t count, at;
	const uint32_t *frames = profile_stack(pprof->profile, row->stack, &count);

	for (at = count; at && is_in_space(pprof, frames[at - 1], FRAME_REGION);)
		at--;
	return at < count ? bare_name(pprof, frames[at]) : "";
}

static void write_labels(struct pprof *pprof, const struct profile_row *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(pprof->profile), row->process);
	const struct resource_usage *usage = profile_resources(pprof->profile);
	const struct kind_ops *kind = kind_ops_of(row->kind);
	const char *label_key = profile_info_read(pprof->profile)->label_key;
	const char *path = NULL;
	char container[512] = "";

	if (process)
		path = resource_usage_cgroup(usage, process->cgroup_id);
	/* Who is in the root is in nothing. */
	if (path && path[0] && path[1])
		cgroup_label(usage, process->cgroup_id, path, container, sizeof(container));
	write_label(pprof, "comm", profile_string(pprof->profile, row->comm), 0);
	write_label(pprof, "pid", NULL, process_has_pid(process) ? process->pid : 0);
	write_label(pprof, "tid", NULL, row->tid == PROFILE_NO_THREAD ? 0 : row->tid);
	write_label(pprof, "container", container, 0);
	write_label(pprof, "state", kind->state_name ? kind->state_name(row->state) : "", 0);
	write_label(pprof, "peer", peer_of(pprof, row), 0);
	write_label(pprof, label_key[0] ? label_key : "region", region_of(pprof, row), 0);
}

/* How many of the innermost frames of a wait are the scheduler's: all waits end in them, and a list
 * of functions has nothing else at its top. Zero where nothing else is left. */
static size_t scheduler_frames(const struct pprof *pprof, enum pkbpf_profile_kind kind,
			       const uint32_t *frames, size_t count)
{
	for (size_t i = 0; kind == PKBPF_PROFILE_OFFCPU && i < count; i++) {
		size_t functions;
		const uint32_t *function =
			function_table_frame(pprof->functions, frames[i], &functions);

		if (!functions || plumbing_sort(function_table_get(pprof->functions,
								   function[0])) != FRAME_INSIDE)
			return i;
	}
	return 0;
}

/* Neither the kernel or a vDSO, in brackets, nor a shared library. */
static bool is_program(const struct pprof *pprof, const struct pprof_mapping *mapping)
{
	const char *file = string_pool_get(pprof->strings, mapping->file);
	const char *suffix = strstr(file, ".so");

	return file[0] != '[' && !(suffix && (suffix[3] == '.' || !suffix[3]));
}

/* Counts a stack for its outermost program. */
static void weigh_program(struct pprof *pprof, const uint64_t *locations, size_t count,
			  uint64_t weight)
{
	for (size_t i = count; i-- && !pprof->out.failed;) {
		uint32_t mapping = pprof->mapping_of_location.items[locations[i] - 1];

		if (!mapping || !is_program(pprof, &pprof->mappings.items[mapping - 1]))
			continue;
		pprof->mappings.items[mapping - 1].weight += weight;
		return;
	}
}

static bool write_sample(struct pprof *pprof, const struct profile_row *row)
{
	bool has_count = kind_has_measure(kind_ops_of(row->kind));
	/* Those of live memory come behind the two of allocations. */
	size_t first = has_live(pprof) && row->kind == PKBPF_PROFILE_LIVE ? 2 : 0;
	uint64_t values[4] = {0};
	size_t count, shown = 0, functions;
	const uint32_t *frames = profile_stack(pprof->profile, row->stack, &count);

	values[first] = has_count ? row->count : row->weight;
	values[first + 1] = has_count ? row->weight : row->weight * period_ns(pprof);
	if (!array_reserve(&pprof->stack, count))
		return false;
	for (size_t i = scheduler_frames(pprof, row->kind, frames, count); i < count; i++) {
		/* speedscope drops locations without functions, and all that they call. */
		function_table_frame(pprof->functions, frames[i], &functions);
		if (functions)
			pprof->stack.items[shown++] = location_of(pprof, frames[i]);
	}
	weigh_program(pprof, pprof->stack.items, shown, row->weight);
	proto_packed(&pprof->message, SAMPLE_LOCATION_ID, pprof->stack.items, shown);
	proto_packed(&pprof->message, SAMPLE_VALUE, values,
		     has_live(pprof)	  ? 4
		     : has_measure(pprof) ? 2
					  : 1);
	write_labels(pprof, row);
	proto_message(&pprof->out, PROFILE_SAMPLE, &pprof->message);
	return true;
}

/* Readers need not look for symbols: what has none is named by its place. */
static void write_mapping(struct pprof *pprof, size_t number)
{
	const struct pprof_mapping *mapping = &pprof->mappings.items[number];

	proto_number(&pprof->message, MAPPING_ID, number + 1);
	proto_number(&pprof->message, MAPPING_LIMIT, mapping->limit);
	proto_number(&pprof->message, MAPPING_FILENAME, mapping->file);
	proto_number(&pprof->message, MAPPING_BUILD_ID, mapping->build_id);
	proto_number(&pprof->message, MAPPING_HAS_FUNCTIONS, true);
	proto_number(&pprof->message, MAPPING_HAS_FILENAMES, pprof->options->lines);
	proto_number(&pprof->message, MAPPING_HAS_LINE_NUMBERS, pprof->options->lines);
	proto_number(&pprof->message, MAPPING_HAS_INLINE_FRAMES, true);
	proto_message(&pprof->out, PROFILE_MAPPING, &pprof->message);
}

/* Readers name a profile after its first mapping: the heaviest program is written before others. */
static void write_mappings(struct pprof *pprof)
{
	size_t count = pprof->mappings.count, first = 0;

	for (size_t i = 1; i < count; i++)
		if (pprof->mappings.items[i].weight > pprof->mappings.items[first].weight)
			first = i;
	if (count)
		write_mapping(pprof, first);
	for (size_t i = 0; i < count; i++)
		if (i != first)
			write_mapping(pprof, i);
}

static void write_functions(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->met.count; i++) {
		const struct function *function =
			function_table_get(pprof->functions, pprof->met.items[i]);
		uint32_t name = string(pprof, function->name);

		proto_number(&pprof->message, FUNCTION_ID, i + 1);
		proto_number(&pprof->message, FUNCTION_NAME, name);
		proto_number(&pprof->message, FUNCTION_SYSTEM_NAME, function->named ? name : 0);
		proto_number(&pprof->message, FUNCTION_FILENAME,
			     string(pprof, function->file[0] ? function->file : function->path));
		proto_message(&pprof->out, PROFILE_FUNCTION, &pprof->message);
	}
}

static void write_run(struct pprof *pprof)
{
	const struct profile_info *info = profile_info_read(pprof->profile);
	char text[sizeof(info->targets) + sizeof(info->host) + 64];

	proto_number(&pprof->out, PROFILE_TIME_NANOS,
		     info->start_unix_ns > 0 ? (uint64_t)info->start_unix_ns : 0);
	if (info->end_ns > info->start_ns)
		proto_number(&pprof->out, PROFILE_DURATION_NANOS, info->end_ns - info->start_ns);
	snprintf(text, sizeof(text), "pkbpf %s: %s on %s", PKBPF_VERSION, info->targets,
		 info->host);
	proto_number(&pprof->out, PROFILE_COMMENT, string(pprof, text));
}

/* Last, when all are known; the first one is the empty string. */
static void write_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < string_pool_count(pprof->strings); i++)
		proto_string(&pprof->out, PROFILE_STRING_TABLE, string_pool_get(pprof->strings, i));
}

static int write_gzip(const struct proto_writer *writer, FILE *out)
{
	z_stream stream = {0};
	unsigned char packed[1 << 16];
	int result;

	/* 16: with gzip's header. */
	if (writer->bytes.count > UINT32_MAX ||
	    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	stream.next_in = writer->bytes.items;
	stream.avail_in = (uInt)writer->bytes.count;
	do {
		stream.next_out = packed;
		stream.avail_out = sizeof(packed);
		result = deflate(&stream, Z_FINISH);
		fwrite(packed, 1, sizeof(packed) - stream.avail_out, out);
	} while (result == Z_OK);
	deflateEnd(&stream);
	return result == Z_STREAM_END ? 0 : -ENOMEM;
}

static bool is_written(const struct pprof *pprof, const struct profile_row *row)
{
	return row->kind == pprof->options->kind ||
	       (row->kind == PKBPF_PROFILE_LIVE && has_live(pprof));
}

static int write_profile(struct pprof *pprof, FILE *out)
{
	size_t count;
	const struct profile_row *rows = profile_rows(pprof->profile, &count);

	write_types(pprof);
	for (size_t i = 0; i < count; i++)
		if (is_written(pprof, &rows[i]) && !write_sample(pprof, &rows[i]))
			return -ENOMEM;
	write_mappings(pprof);
	write_functions(pprof);
	write_run(pprof);
	write_strings(pprof);
	if (pprof->out.failed || pprof->message.failed)
		return -ENOMEM;
	return write_gzip(&pprof->out, out);
}

static int pprof_write(struct results *results, const struct format_options *options, FILE *out)
{
	struct function_table_options wanted = {.lines = options->lines};
	_cleanup_(pprof_done) struct pprof pprof = {.profile = results->profile,
						    .options = options};

	pprof.functions = function_table_new(results->profile, &wanted);
	pprof.strings = string_pool_new();
	pprof.location_of =
		calloc(profile_frame_count(results->profile) + 1, sizeof(*pprof.location_of));
	if (!pprof.functions || !pprof.strings || !pprof.location_of)
		return -ENOMEM;
	pprof.function_of =
		calloc(function_table_count(pprof.functions) + 1, sizeof(*pprof.function_of));
	if (!pprof.function_of)
		return -ENOMEM;
	return write_profile(&pprof, out);
}

const struct format_ops format_pprof = {
	.file = {"pprof", ".pb.gz", "for go tool pprof, Pyroscope, Parca and Grafana"},
	.one_kind = true,
	.only_stacks = true,
	.write = pprof_write,
};
