// SPDX-License-Identifier: BSD-2-Clause
#include "diff/baseline.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "recording/packed_bytes.h"
#include "recording/recording_bytes.h"

/* Magic, checksum of what is packed, its unpacked size. */
#define HEADER_BYTES 20
#define TEXT_MAX     4096

/* Files have the numbers of levels: these are for good. */
_Static_assert(DIFF_SELF == 3 && DIFF_STACK == 6 && DIFF_REGION_TIME == 7 &&
		       DIFF_REGION_LET_GO == 14 && DIFF_PLACE == 15 && DIFF_GPU_LAUNCHES == 16 &&
		       DIFF_GPU_WAIT == 22 && DIFF_LOCK == 23,
	       "a baseline of yesterday would be read wrongly");

/* ---- writing ---- */

struct writing {
	const struct measurement *measurement;
	struct packed_bytes bytes;
	struct hash_map numbers; /* text -> its number in the file */
	struct packed_bytes texts;
	bool no_memory;
};

static void put_text(struct packed_bytes *bytes, const char *text)
{
	size_t length = strlen(text);

	length = length < TEXT_MAX ? length : TEXT_MAX;
	packed_bytes_add_number(bytes, length);
	packed_bytes_add(bytes, text, length);
}

static void put_name(struct writing *writing, uint32_t text)
{
	bool added;
	uint64_t *number = hash_map_get(&writing->numbers, text, writing->numbers.count, &added);

	if (!number) {
		writing->no_memory = true;
		return;
	}
	packed_bytes_add_number(&writing->bytes, *number);
	if (added)
		put_text(&writing->texts,
			 string_pool_get(writing->measurement->names->texts, text));
}

/* What is kept of allocations is below 0 in slices that free what others allocated. */
static bool is_signed(uint32_t level)
{
	return level == DIFF_GPU_KEPT;
}

static void put_series(struct writing *writing, const struct diff_series *series)
{
	uint32_t before = 0;
	size_t count = 1;
	const uint32_t *texts = &series->key.name;

	packed_bytes_add_number(&writing->bytes, series->key.kind);
	packed_bytes_add_number(&writing->bytes, series->key.level);
	if (series->key.level == DIFF_STACK) {
		texts = stack_table_get(writing->measurement->names->stacks, series->key.name,
					&count);
		packed_bytes_add_number(&writing->bytes, count);
	}
	for (size_t i = 0; i < count; i++)
		put_name(writing, texts[i]);
	packed_bytes_add_number(&writing->bytes, series->values.count);
	array_foreach(&series->values, value) {
		packed_bytes_add_number(&writing->bytes, value->slice - before);
		packed_bytes_add_number(&writing->bytes,
					is_signed(series->key.level)
						? packed_from_signed(llround(value->value))
						: (uint64_t)llround(value->value));
		packed_bytes_add_number(&writing->bytes, (uint64_t)llround(value->count));
		before = value->slice;
	}
}

static void put_head(struct packed_bytes *bytes, const struct measurement *measurement)
{
	put_text(bytes, measurement->host);
	put_text(bytes, measurement->targets);
	packed_bytes_add_number(bytes, measurement->kinds_mask);
	packed_bytes_add_number(bytes, measurement->sampled_mask);
	packed_bytes_add_number(bytes, measurement->is_command);
	packed_bytes_add_number(bytes, measurement->lost);
	packed_bytes_add_number(bytes, packed_from_signed(measurement->start_unix_ns));
	packed_bytes_add_number(bytes, measurement->slices.count);
	array_foreach(&measurement->slices, slice) {
		packed_bytes_add_number(bytes, slice->length_ns);
		packed_bytes_add_number(bytes, slice->run);
	}
}

static int write_packed(const struct packed_bytes *plain, FILE *out)
{
	uLongf size = compressBound(plain->count);
	uint8_t *packed = malloc(size), header[HEADER_BYTES - 8];

	if (!packed || compress2(packed, &size, plain->items, plain->count, 6) != Z_OK) {
		free(packed);
		return -ENOMEM;
	}
	recording_put32(header, recording_checksum(packed, size));
	recording_put64(header + 4, plain->count);
	fputs(BASELINE_MAGIC, out);
	fwrite(header, 1, sizeof(header), out);
	fwrite(packed, 1, size, out);
	free(packed);
	return 0;
}

int baseline_write(const struct measurement *measurement, FILE *out)
{
	struct writing writing = {.measurement = measurement};
	struct packed_bytes all = {0};
	int err = -ENOMEM;

	put_head(&all, measurement);
	packed_bytes_add_number(&writing.bytes, measurement->series.count);
	array_foreach(&measurement->series, series)
		put_series(&writing, series);
	packed_bytes_add_number(&all, writing.numbers.count);
	packed_bytes_add(&all, writing.texts.items, writing.texts.count);
	packed_bytes_add(&all, writing.bytes.items, writing.bytes.count);
	if (!all.failed && !writing.bytes.failed && !writing.texts.failed && !writing.no_memory)
		err = write_packed(&all, out);
	packed_bytes_done(&all);
	packed_bytes_done(&writing.texts);
	packed_bytes_done(&writing.bytes);
	hash_map_done(&writing.numbers);
	return err;
}

/* ---- reading ---- */

struct reading {
	struct measurement *measurement;
	struct packed_reader bytes;
	ARRAY_OF(uint32_t) texts; /* number in the file -> text */
	ARRAY_OF(uint32_t) stack;
	size_t first_slice, slice_count;
	bool no_memory;
};

static bool get_text(struct packed_reader *bytes, char text[TEXT_MAX + 1])
{
	uint64_t length = packed_reader_number(bytes);
	const uint8_t *from = length <= TEXT_MAX ? packed_reader_bytes(bytes, length) : NULL;

	if (!from)
		return false;
	memcpy(text, from, length);
	text[length] = '\0';
	return true;
}

static bool get_head(struct reading *reading)
{
	struct measurement *measurement = reading->measurement;
	struct packed_reader *bytes = &reading->bytes;
	bool is_first = !measurement->slices.count;
	char host[TEXT_MAX + 1], targets[TEXT_MAX + 1];

	if (!get_text(bytes, host) || !get_text(bytes, targets))
		return false;
	measurement->kinds_mask |=
		(uint32_t)packed_reader_number(bytes) & ((1U << PKBPF_PROFILE_KINDS) - 1);
	measurement->sampled_mask |=
		(uint32_t)packed_reader_number(bytes) & measurement->kinds_mask;
	measurement->is_command =
		packed_reader_number(bytes) && (is_first || measurement->is_command);
	measurement->lost += packed_reader_number(bytes);
	if (is_first) {
		snprintf(measurement->host, sizeof(measurement->host), "%.255s", host);
		snprintf(measurement->targets, sizeof(measurement->targets), "%.511s", targets);
		measurement->start_unix_ns = packed_to_signed(packed_reader_number(bytes));
	} else {
		packed_reader_number(bytes);
	}
	return !bytes->failed;
}

static bool get_slices(struct reading *reading)
{
	struct measurement *measurement = reading->measurement;
	uint32_t first_run = measurement->run_count, last_run = 0;

	reading->first_slice = measurement->slices.count;
	reading->slice_count = packed_reader_number(&reading->bytes);
	if (reading->slice_count > BASELINE_SLICES_MAX)
		return false;
	for (size_t i = 0; i < reading->slice_count; i++) {
		uint64_t length_ns = packed_reader_number(&reading->bytes);
		uint64_t run = packed_reader_number(&reading->bytes);

		/* Runs are numbered one after the other. */
		if (reading->bytes.failed || length_ns > INT64_MAX / BASELINE_SLICES_MAX ||
		    run > (i ? last_run + 1ULL : 0) || run < last_run || run >= BASELINE_RUNS_MAX)
			return false;
		last_run = (uint32_t)run;
		if (!measurement_begin_slice(measurement,
					     &(struct diff_slice){.length_ns = length_ns,
								  .run = first_run + last_run})) {
			reading->no_memory = true;
			return false;
		}
	}
	return true;
}

static bool get_texts(struct reading *reading)
{
	uint64_t count = packed_reader_number(&reading->bytes);
	char text[TEXT_MAX + 1];

	/* Each takes a byte at least. */
	if (count > reading->bytes.left)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t *slot;

		if (!get_text(&reading->bytes, text))
			return false;
		slot = array_add(&reading->texts);
		if (slot)
			*slot = string_pool_add(reading->measurement->names->texts, text);
		if (!slot || *slot == STRING_POOL_NONE) {
			reading->no_memory = true;
			return false;
		}
	}
	return true;
}

static bool get_name(struct reading *reading, uint32_t *ret_text)
{
	uint64_t number = packed_reader_number(&reading->bytes);

	if (reading->bytes.failed || number >= reading->texts.count)
		return false;
	*ret_text = reading->texts.items[number];
	return true;
}

static bool get_stack(struct reading *reading, uint32_t *ret_stack)
{
	uint64_t count = packed_reader_number(&reading->bytes);

	if (!count || count > reading->bytes.left || !array_reserve(&reading->stack, count))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!get_name(reading, &reading->stack.items[i]))
			return false;
	*ret_stack =
		stack_table_add(reading->measurement->names->stacks, reading->stack.items, count);
	reading->no_memory = *ret_stack == STACK_TABLE_NONE;
	return !reading->no_memory;
}

static bool get_values(struct reading *reading, const struct diff_key *key)
{
	uint64_t count = packed_reader_number(&reading->bytes), slice = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t step = packed_reader_number(&reading->bytes);
		uint64_t number = packed_reader_number(&reading->bytes);
		double value =
			is_signed(key->level) ? (double)packed_to_signed(number) : (double)number;
		double events = (double)packed_reader_number(&reading->bytes);

		if (reading->bytes.failed || step >= reading->slice_count || (i && !step))
			return false;
		slice += step;
		if (slice >= reading->slice_count)
			return false;
		if (!measurement_put(reading->measurement, key,
				     (uint32_t)(reading->first_slice + slice), value, events)) {
			reading->no_memory = true;
			return false;
		}
	}
	return !reading->bytes.failed;
}

/* Regions have a kind of their own, and what a comparison derives is in no file. */
static bool can_be(uint64_t kind, uint64_t level)
{
	return kind < PKBPF_PROFILE_KINDS && level < DIFF_LEVELS &&
	       !diff_level_is_derived((uint32_t)level) &&
	       (kind == PKBPF_PROFILE_CALLS || !diff_level_is_calls((uint32_t)level));
}

static bool get_series(struct reading *reading)
{
	uint64_t count = packed_reader_number(&reading->bytes);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t kind = packed_reader_number(&reading->bytes);
		uint64_t level = packed_reader_number(&reading->bytes);
		struct diff_key key = {(uint32_t)kind, (uint32_t)level, 0};

		if (reading->bytes.failed || !can_be(kind, level) ||
		    !(level == DIFF_STACK ? get_stack(reading, &key.name)
					  : get_name(reading, &key.name)) ||
		    !get_values(reading, &key))
			return false;
	}
	return !reading->bytes.failed;
}

static int unpack(const uint8_t *data, size_t size, uint8_t **ret_plain, uLongf *ret_size)
{
	uint64_t plain_size;
	uint8_t *plain;

	if (size < HEADER_BYTES || memcmp(data, BASELINE_MAGIC, 8) != 0 ||
	    recording_get32(data + 8) !=
		    recording_checksum(data + HEADER_BYTES, size - HEADER_BYTES))
		return -EBADMSG;
	plain_size = recording_get64(data + 12);
	if (plain_size > BASELINE_BYTES_MAX)
		return -EFBIG;
	plain = malloc(plain_size + 1);
	if (!plain)
		return -ENOMEM;
	*ret_size = plain_size;
	if (uncompress(plain, ret_size, data + HEADER_BYTES, size - HEADER_BYTES) != Z_OK) {
		free(plain);
		return -EBADMSG;
	}
	*ret_plain = plain;
	return 0;
}

int baseline_read_plain(struct measurement *measurement, const void *plain, size_t size,
			struct error *error)
{
	struct reading reading = {.measurement = measurement, .bytes = {plain, size, false}};
	int err = 0;

	if (!get_head(&reading) || !get_slices(&reading) || !get_texts(&reading) ||
	    !get_series(&reading))
		err = reading.no_memory ? error_set(error, ENOMEM, "cannot be read: out of memory")
					: error_set(error, EBADMSG, "is damaged");
	array_free(&reading.texts);
	array_free(&reading.stack);
	return err;
}

int baseline_read(struct measurement *measurement, const void *data, size_t size,
		  struct error *error)
{
	uint8_t *plain;
	uLongf plain_size;
	int err = unpack(data, size, &plain, &plain_size);

	if (err)
		return error_set(error, -err, "%s",
				 err == -ENOMEM	 ? "cannot be read: out of memory"
				 : err == -EFBIG ? "is too large"
						 : "is damaged or cut off: its checksum is wrong");
	err = baseline_read_plain(measurement, plain, plain_size, error);
	free(plain);
	return err;
}
