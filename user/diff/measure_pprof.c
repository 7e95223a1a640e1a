// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_pprof.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "diff/clone_name.h"
#include "diff/measure_stack.h"
#include "diff/proto_reader.h"

/* Numbers of fields in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	ID = 1,
	FUNCTION_NAME = 2,
	MAPPING_FILE = 5,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
};

/* Functions of a stack, and of all stacks: a few bytes can name a long one again and again. */
#define STACK_MAX      8192
#define STACKS_MAX     (64ULL << 20)
#define TYPES_MAX      16
#define NAME_BYTES     1024
#define KERNEL_MAPPING "[kernel.kallsyms]"

/* What of the values of a sample is of a kind. */
static const struct {
	const char *type;
	uint32_t kind;
	bool is_time;
} measures[] = {
	{"cpu", PKBPF_PROFILE_CPU, true},
	{"off_cpu", PKBPF_PROFILE_OFFCPU, true},
	{"block_io_delay", PKBPF_PROFILE_BLOCKIO, true},
	{"page_faults", PKBPF_PROFILE_FAULTS, false},
};

/* As profilers write them. */
static const struct {
	const char *name;
	double ns;
} time_units[] = {
	{"nanoseconds", 1},    {"ns", 1},   {"nanosecond", 1},
	{"microseconds", 1e3}, {"us", 1e3}, {"microsecond", 1e3},
	{"milliseconds", 1e6}, {"ms", 1e6}, {"millisecond", 1e6},
	{"seconds", 1e9},      {"s", 1e9},  {"second", 1e9},
};

struct pprof {
	struct measurement *measurement;
	struct stack_measure stacks;
	ARRAY_OF(struct proto_reader) strings;
	struct hash_map functions; /* id -> text */
	struct hash_map mappings;  /* id -> string */
	struct hash_map locations; /* id -> 1 + first of its texts; they end in 0 */
	ARRAY_OF(uint32_t) texts;  /* of locations: innermost first */
	struct {
		uint64_t type, unit;
	} types[TYPES_MAX];
	size_t type_count;
	uint64_t main_file; /* string of the first mapping */
	uint64_t duration_ns, period, period_unit;
	double scale; /* of values, or of the period: ns of one */
	int64_t time_ns;
	uint32_t kind;
	size_t value_type, count_type; /* places in a sample; TYPES_MAX: none */
	/* of the sample at hand */
	ARRAY_OF(uint64_t) ids;
	uint64_t values[TYPES_MAX];
	size_t value_count;
	ARRAY_OF(uint32_t) stack;
	bool no_memory;
	uint64_t work; /* functions of all stacks so far */
};

static const char *copy_string(const struct pprof *pprof, uint64_t number, char text[NAME_BYTES])
{
	size_t length;

	text[0] = '\0';
	if (number >= pprof->strings.count)
		return text;
	length = (size_t)(pprof->strings.items[number].end - pprof->strings.items[number].at);
	if (length)
		snprintf(text, NAME_BYTES, "%.*s", length < NAME_BYTES ? (int)length : NAME_BYTES,
			 (const char *)pprof->strings.items[number].at);
	return text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t intern(struct pprof *pprof, const char *text)
{
	uint32_t id = string_pool_add(pprof->measurement->names->texts, text);

	pprof->no_memory = pprof->no_memory || id == STRING_POOL_NONE;
	return id;
}

static void put(struct pprof *pprof, struct hash_map *map, uint64_t key, uint64_t value)
{
	pprof->no_memory = !hash_map_put(map, key, value) || pprof->no_memory;
}

/* ---- tables ---- */

/* Two numbers of a message, such as its id and its name. */
static void read_pair(struct proto_reader message, uint32_t first, uint32_t second,
		      uint64_t *ret_first, uint64_t *ret_second)
{
	struct proto_field field;

	*ret_first = *ret_second = 0;
	while (proto_next(&message, &field)) {
		if (field.is_bytes)
			continue;
		if (field.number == first)
			*ret_first = field.value;
		else if (field.number == second)
			*ret_second = field.value;
	}
}

static void read_table(struct pprof *pprof, const struct proto_field *field)
{
	struct proto_reader *string;
	uint64_t id, name;

	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		if (field->is_bytes && pprof->type_count < TYPES_MAX) {
			read_pair(field->bytes, TYPE_TYPE, TYPE_UNIT, &id, &name);
			pprof->types[pprof->type_count].type = id;
			pprof->types[pprof->type_count++].unit = name;
		}
		break;
	case PROFILE_STRING:
		string = field->is_bytes ? array_add(&pprof->strings) : NULL;
		if (string)
			*string = field->bytes;
		pprof->no_memory = pprof->no_memory || (field->is_bytes && !string);
		break;
	case PROFILE_MAPPING:
		read_pair(field->bytes, ID, MAPPING_FILE, &id, &name);
		pprof->main_file = pprof->mappings.count ? pprof->main_file : name;
		put(pprof, &pprof->mappings, id, name);
		break;
	case PROFILE_TIME:
		pprof->time_ns = (int64_t)field->value;
		break;
	case PROFILE_DURATION:
		pprof->duration_ns = (int64_t)field->value > 0 ? field->value : 0;
		break;
	case PROFILE_PERIOD_TYPE:
		if (field->is_bytes)
			read_pair(field->bytes, TYPE_TYPE, TYPE_UNIT, &id, &pprof->period_unit);
		break;
	case PROFILE_PERIOD:
		pprof->period = field->value;
		break;
	default:
		break;
	}
}

static void read_function(struct pprof *pprof, const struct proto_field *field)
{
	uint64_t id, name;

	read_pair(field->bytes, ID, FUNCTION_NAME, &id, &name);
	put(pprof, &pprof->functions, id, name);
}

static void add_text(struct pprof *pprof, const char *name, bool is_kernel)
{
	char text[NAME_BYTES + 8];
	uint32_t *slot = array_add(&pprof->texts);

	snprintf(text, sizeof(text), "%.*s%s", (int)clone_name_length(name[0] ? name : "[unknown]"),
		 name[0] ? name : "[unknown]", is_kernel ? "_[k]" : "");
	if (slot)
		*slot = intern(pprof, text);
	pprof->no_memory = pprof->no_memory || !slot;
}

static void read_location(struct pprof *pprof, struct proto_reader message)
{
	struct proto_reader again = message;
	uint64_t id, mapping, function, unused, first = pprof->texts.count;
	const uint64_t *file, *name;
	char text[NAME_BYTES], path[NAME_BYTES] = "";
	struct proto_field field;

	read_pair(message, LOCATION_ID, LOCATION_MAPPING, &id, &mapping);
	file = hash_map_find(&pprof->mappings, mapping);
	if (file)
		copy_string(pprof, *file, path);
	while (proto_next(&again, &field)) {
		if (field.number != LOCATION_LINE || !field.is_bytes)
			continue;
		read_pair(field.bytes, LINE_FUNCTION, 0, &function, &unused);
		name = hash_map_find(&pprof->functions, function);
		add_text(pprof, copy_string(pprof, name ? *name : UINT64_MAX, text),
			 strcmp(path, KERNEL_MAPPING) == 0);
	}
	if (pprof->texts.count == first) {
		snprintf(text, sizeof(text), path[0] == '[' ? "%.1000s" : "[%.1000s]",
			 path[0] ? base_name(path) : "unknown");
		add_text(pprof, text, false);
	}
	if (!array_add(&pprof->texts)) /* the end: 0 */
		pprof->no_memory = true;
	put(pprof, &pprof->locations, id, first + 1);
}

/* ---- samples ---- */

static bool take_id(void *context, uint64_t value)
{
	struct pprof *pprof = context;
	uint64_t *slot = array_add(&pprof->ids);

	if (slot)
		*slot = value;
	pprof->no_memory = pprof->no_memory || !slot;
	return slot;
}

static bool take_value(void *context, uint64_t value)
{
	struct pprof *pprof = context;

	if (pprof->value_count < TYPES_MAX)
		pprof->values[pprof->value_count++] = value;
	return true;
}

static void push(struct pprof *pprof, uint32_t text)
{
	uint32_t *slot = array_add(&pprof->stack);

	if (slot)
		*slot = text;
	pprof->no_memory = pprof->no_memory || !slot;
}

/* From the root on: locations are leaf first, and their functions innermost first. */
static void push_locations(struct pprof *pprof)
{
	for (size_t i = pprof->ids.count; i-- > 0;) {
		const uint64_t *first = hash_map_find(&pprof->locations, pprof->ids.items[i]);
		size_t end;

		if (!first)
			continue;
		for (end = *first - 1; pprof->texts.items[end];)
			end++;
		pprof->work += end - *first + 2;
		while (end-- > *first - 1 && pprof->stack.count < STACK_MAX)
			push(pprof, pprof->texts.items[end]);
	}
}

static void add_who(struct pprof *pprof, enum diff_level level, const char *name, double value,
		    double count)
{
	struct diff_key key = {pprof->kind, level, intern(pprof, name)};

	if (!measurement_add(pprof->measurement, &key, value, count))
		pprof->no_memory = true;
}

static double amount(const struct pprof *pprof, size_t type)
{
	int64_t value = type < pprof->value_count ? (int64_t)pprof->values[type] : 0;

	return value > 0 ? (double)value : 0;
}

static void add_sample(struct pprof *pprof, const char *comm, const char *container)
{
	double count = amount(pprof, pprof->count_type);
	double value =
		pprof->scale * (pprof->value_type < TYPES_MAX ? amount(pprof, pprof->value_type)
							      : count * (double)pprof->period);

	if (value <= 0)
		return;
	pprof->stack.count = 0;
	push(pprof, intern(pprof, comm));
	push_locations(pprof);
	add_who(pprof, DIFF_ALL, "", value, count);
	add_who(pprof, DIFF_PROCESS, comm, value, count);
	if (container[0])
		add_who(pprof, DIFF_CONTAINER, container, value, count);
	if (!pprof->no_memory && !stack_measure_add(&pprof->stacks, pprof->kind, pprof->stack.items,
						    pprof->stack.count, value, count))
		pprof->no_memory = true;
}

static void read_sample(struct pprof *pprof, struct proto_reader message)
{
	char comm[NAME_BYTES], container[NAME_BYTES] = "", key_text[NAME_BYTES];
	struct proto_field field;
	uint64_t key, string;

	pprof->ids.count = pprof->value_count = 0;
	snprintf(comm, sizeof(comm), "%s",
		 base_name(copy_string(pprof, pprof->main_file, key_text)));
	if (!comm[0])
		snprintf(comm, sizeof(comm), "[program]");
	while (proto_next(&message, &field) && !pprof->no_memory) {
		if (field.number == SAMPLE_LOCATION) {
			proto_numbers(&field, take_id, pprof);
		} else if (field.number == SAMPLE_VALUE) {
			proto_numbers(&field, take_value, pprof);
		} else if (field.number == SAMPLE_LABEL && field.is_bytes) {
			read_pair(field.bytes, LABEL_KEY, LABEL_STRING, &key, &string);
			copy_string(pprof, key, key_text);
			if (strcmp(key_text, "comm") == 0)
				copy_string(pprof, string, comm);
			else if (strcmp(key_text, "container") == 0)
				copy_string(pprof, string, container);
		}
	}
	if (!pprof->no_memory)
		add_sample(pprof, comm, container);
}

/* ---- all of it ---- */

static bool is_type(const struct pprof *pprof, size_t type, const char *name)
{
	char text[NAME_BYTES];

	return strcmp(copy_string(pprof, pprof->types[type].type, text), name) == 0;
}

/* ns of one; "": of those who do not say. 0: no time. */
static double time_unit(const struct pprof *pprof, uint64_t string)
{
	char text[NAME_BYTES];

	copy_string(pprof, string, text);
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (strcmp(text, time_units[i].name) == 0)
			return time_units[i].ns;
	return text[0] ? 0 : 1;
}

static int choose_scale(struct pprof *pprof, bool is_time, struct error *error)
{
	bool has_value = pprof->value_type < TYPES_MAX;
	uint64_t unit = has_value ? pprof->types[pprof->value_type].unit : pprof->period_unit;
	char text[NAME_BYTES];

	pprof->scale = is_time ? time_unit(pprof, unit) : 1;
	if (pprof->scale > 0)
		return 0;
	return error_set(error, ENOTSUP,
			 "has %s in '%.40s': expected nanoseconds, microseconds, milliseconds or "
			 "seconds",
			 has_value ? "values" : "its period", copy_string(pprof, unit, text));
}

static int choose_values(struct pprof *pprof, struct error *error)
{
	char text[NAME_BYTES], list[256] = "";
	bool is_time = true;

	pprof->value_type = pprof->count_type = TYPES_MAX;
	for (size_t type = 0; type < pprof->type_count; type++) {
		copy_string(pprof, pprof->types[type].unit, text);
		if (strcmp(text, "count") == 0 && pprof->count_type == TYPES_MAX)
			pprof->count_type = type;
		for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
			if (!is_type(pprof, type, measures[i].type))
				continue;
			pprof->kind = measures[i].kind;
			is_time = measures[i].is_time;
			pprof->value_type = type;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%.40s",
			 list[0] ? ", " : "", copy_string(pprof, pprof->types[type].type, text));
	}
	if (pprof->value_type < TYPES_MAX)
		return choose_scale(pprof, is_time, error);
	/* Samples of a profiler that states their period. */
	if (pprof->count_type < TYPES_MAX && is_type(pprof, pprof->count_type, "samples") &&
	    pprof->period)
		return choose_scale(pprof, true, error);
	return error_set(error, ENOTSUP,
			 "holds %s: only CPU time, waits (off_cpu), block I/O (block_io_delay) and "
			 "page_faults can be compared",
			 list[0] ? list : "no values");
}

/* Each pass needs what those before it have read; the order of fields in a file is free. */
static bool read_all(struct pprof *pprof, struct proto_reader whole, int pass)
{
	struct proto_field field;

	while (proto_next(&whole, &field) && !pprof->no_memory && pprof->work < STACKS_MAX) {
		if (pass == 0)
			read_table(pprof, &field);
		else if (pass == 1 && field.number == PROFILE_FUNCTION && field.is_bytes)
			read_function(pprof, &field);
		else if (pass == 2 && field.number == PROFILE_LOCATION && field.is_bytes)
			read_location(pprof, field.bytes);
		else if (pass == 3 && field.number == PROFILE_SAMPLE && field.is_bytes)
			read_sample(pprof, field.bytes);
	}
	return !whole.is_damaged;
}

static int read_profile(struct pprof *pprof, struct proto_reader whole, struct error *error)
{
	struct measurement *measurement = pprof->measurement;
	int err;

	if (!read_all(pprof, whole, 0) || !pprof->type_count)
		return error_set(error, EBADMSG, "is no pprof file, or damaged");
	err = choose_values(pprof, error);
	if (err)
		return err;
	if (!measurement_begin_slice(measurement,
				     &(struct diff_slice){.length_ns = pprof->duration_ns,
							  .run = measurement->run_count}))
		return error_set(error, ENOMEM, "cannot be read: out of memory");
	measurement->kinds_mask |= 1U << pprof->kind;
	if (pprof->kind == PKBPF_PROFILE_CPU && pprof->count_type < TYPES_MAX)
		measurement->sampled_mask |= 1U << pprof->kind;
	measurement->start_unix_ns =
		measurement->start_unix_ns ? measurement->start_unix_ns : pprof->time_ns;
	for (int pass = 1; pass < 4; pass++)
		read_all(pprof, whole, pass);
	if (pprof->work >= STACKS_MAX)
		return error_set(error, EFBIG, "is too large: its stacks are too many or too deep");
	return pprof->no_memory ? error_set(error, ENOMEM, "cannot be read: out of memory") : 0;
}

int measure_pprof(struct measurement *measurement, const void *data, size_t size,
		  struct error *error)
{
	struct pprof pprof = {.measurement = measurement, .stacks = {.measurement = measurement}};
	struct proto_reader whole = {.at = data, .end = (const uint8_t *)data + size};
	int err = read_profile(&pprof, whole, error);

	stack_measure_done(&pprof.stacks);
	array_free(&pprof.strings);
	array_free(&pprof.texts);
	array_free(&pprof.ids);
	array_free(&pprof.stack);
	hash_map_done(&pprof.functions);
	hash_map_done(&pprof.mappings);
	hash_map_done(&pprof.locations);
	return err;
}

/* gzip of anybody: what it unpacks to is bounded. */
static int unpack(const void *data, size_t size, uint8_t **ret_data, size_t *ret_size)
{
	z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
	ARRAY_OF(uint8_t) plain = {0};
	int status = inflateInit2(&stream, 15 + 16) == Z_OK ? Z_OK : Z_MEM_ERROR;

	while (status == Z_OK && plain.count < PPROF_BYTES_MAX) {
		size_t room = plain.count < 65536 ? 65536 : plain.count;

		if (!array_reserve(&plain, plain.count + room)) {
			status = Z_MEM_ERROR;
			break;
		}
		stream.next_out = plain.items + plain.count;
		stream.avail_out = (uInt)room;
		status = inflate(&stream, Z_NO_FLUSH);
		plain.count += room - stream.avail_out;
	}
	inflateEnd(&stream);
	if (status != Z_STREAM_END) {
		array_free(&plain);
		return status == Z_MEM_ERROR ? -ENOMEM : status == Z_OK ? -EFBIG : -EBADMSG;
	}
	*ret_data = plain.items;
	*ret_size = plain.count;
	return 0;
}

int measure_pprof_file(struct measurement *measurement, const void *data, size_t size,
		       struct error *error)
{
	const uint8_t *bytes = data;
	uint8_t *plain;
	size_t plain_size;
	int err;

	if (size < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return measure_pprof(measurement, data, size, error);
	err = unpack(data, size, &plain, &plain_size);
	if (err == -ENOMEM)
		return error_set(error, ENOMEM, "cannot be unpacked: out of memory");
	if (err)
		return error_set(error, -err,
				 err == -EFBIG
					 ? "is too large: it unpacks to more than 256 MiB"
					 : "is damaged or cut off: its gzip cannot be unpacked");
	err = measure_pprof(measurement, plain, plain_size, error);
	free(plain);
	return err;
}
