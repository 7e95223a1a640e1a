// SPDX-License-Identifier: BSD-2-Clause
/* Writes structs as columns of numbers, and reads them back. */
#include "recording/recorded_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Memory that the rows of one table may take. */
#define TABLE_MAX_BYTES (256U << 20)

/* ---- members ---- */

static uint64_t load_number(const uint8_t *member, size_t size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case 1:
		return *member;
	case 2:
		memcpy(&two, member, sizeof(two));
		return two;
	case 4:
		memcpy(&four, member, sizeof(four));
		return four;
	default:
		memcpy(&eight, member, sizeof(eight));
		return eight;
	}
}

/* false: too large for it. */
static bool store_number(uint8_t *member, size_t size, uint64_t value)
{
	uint8_t one = (uint8_t)value;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	switch (size) {
	case 1:
		memcpy(member, &one, sizeof(one));
		return value == one;
	case 2:
		memcpy(member, &two, sizeof(two));
		return value == two;
	case 4:
		memcpy(member, &four, sizeof(four));
		return value == four;
	default:
		memcpy(member, &value, sizeof(value));
		return true;
	}
}

/* Of a member: the number that stands for it in its column. */
static uint64_t number_of(const struct recorded_column *column, const uint8_t *member,
			  struct recorded_strings *strings, struct packed_bytes *bytes)
{
	uint32_t string;

	switch (column->form) {
	case RECORDED_SIGNED:
		return packed_from_signed((int64_t)load_number(member, column->size));
	case RECORDED_TEXT:
		if (!*member)
			return 0;
		string = recorded_strings_add(strings, (const char *)member);
		break;
	case RECORDED_STRING: {
		const char *text;

		memcpy(&text, member, sizeof(text));
		string = recorded_strings_add(strings, text);
		break;
	}
	default:
		return load_number(member, column->size);
	}
	bytes->failed = bytes->failed || string == UINT32_MAX;
	return string;
}

static bool store(const struct recorded_column *column, uint64_t number,
		  const struct recorded_strings *strings, uint8_t *member)
{
	const char *text;
	size_t length;

	switch (column->form) {
	case RECORDED_FLAG:
		return store_number(member, column->size, number != 0);
	case RECORDED_SIGNED:
		return store_number(member, column->size, (uint64_t)packed_to_signed(number));
	case RECORDED_TEXT:
	case RECORDED_STRING:
		text = recorded_strings_get(strings, number);
		if (!text && number)
			return false;
		if (column->form == RECORDED_STRING) {
			memcpy(member, &text, sizeof(text));
			return true;
		}
		length = text ? strnlen(text, column->size - 1) : 0;
		if (length)
			memcpy(member, text, length);
		member[length] = '\0';
		return true;
	default:
		return store_number(member, column->size, number);
	}
}

/* ---- columns ---- */

static bool is_step(const struct recorded_column *column)
{
	return column->form == RECORDED_STEP || column->form == RECORDED_TIME_STEP;
}

/* The first column is always written: it bounds the number of rows that a few bytes can claim. */
static void encode_column(const struct recorded_table *table, size_t index, const uint8_t *rows,
			  size_t count, struct recorded_strings *strings,
			  struct packed_bytes *bytes)
{
	const struct recorded_column *column = &table->columns[index];
	struct packed_bytes numbers = {0};
	bool has_any = index == 0;
	uint64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t number = number_of(column, rows + i * table->row_size + column->offset,
					    strings, bytes);

		has_any = has_any || number;
		if (is_step(column)) {
			packed_bytes_add_number(&numbers,
						packed_from_signed((int64_t)(number - before)));
			before = number;
		} else {
			packed_bytes_add_number(&numbers, number);
		}
	}
	if (has_any) {
		packed_bytes_add_number(bytes, column->number);
		packed_bytes_add_number(bytes, numbers.count);
		packed_bytes_add(bytes, numbers.items, numbers.count);
	}
	bytes->failed = bytes->failed || numbers.failed;
	packed_bytes_done(&numbers);
}

void recorded_table_encode(const struct recorded_table *table, const void *rows, size_t count,
			   struct recorded_strings *strings, struct packed_bytes *bytes)
{
	packed_bytes_add_number(bytes, count);
	for (size_t i = 0; i < table->column_count && count; i++)
		encode_column(table, i, rows, count, strings, bytes);
}

static int decode_column(const struct recorded_column *column, struct packed_reader numbers,
			 const struct recorded_strings *strings, uint8_t *rows, size_t count,
			 size_t row_size)
{
	uint64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t number = packed_reader_number(&numbers);

		if (is_step(column))
			number = before += (uint64_t)packed_to_signed(number);
		if (numbers.failed ||
		    !store(column, number, strings, rows + i * row_size + column->offset))
			return -EBADMSG;
	}
	return numbers.left ? -EBADMSG : 0;
}

static const struct recorded_column *find_column(const struct recorded_table *table,
						 uint64_t number)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].number == number)
			return &table->columns[i];
	return NULL;
}

int recorded_table_decode(const struct recorded_table *table, const void *data, size_t size,
			  const struct recorded_strings *strings, void **ret_rows,
			  size_t *ret_count)
{
	struct packed_reader reader = {.at = data, .left = size};
	uint64_t count = packed_reader_number(&reader);
	_cleanup_free_ uint8_t *rows = NULL;

	/* A number takes a byte at least. */
	if (reader.failed || count > reader.left || count > TABLE_MAX_BYTES / table->row_size)
		return -EBADMSG;
	rows = calloc(count + 1, table->row_size);
	if (!rows)
		return -ENOMEM;
	while (reader.left) {
		const struct recorded_column *column =
			find_column(table, packed_reader_number(&reader));
		uint64_t column_size = packed_reader_number(&reader);
		const uint8_t *bytes = packed_reader_bytes(&reader, column_size);
		int err;

		if (!bytes || column_size < count)
			return -EBADMSG;
		err = column ? decode_column(
				       column,
				       (struct packed_reader){.at = bytes, .left = column_size},
				       strings, rows, count, table->row_size)
			     : 0;
		if (err)
			return err;
	}
	*ret_rows = take_pointer(rows);
	*ret_count = count;
	return 0;
}
