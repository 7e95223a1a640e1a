// SPDX-License-Identifier: BSD-2-Clause
// Tests that a page holds the whole profile, and nothing of it as markup.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

#include "account_scenario.h"
#include "export/page/page_data.h"

struct page {
	json_t *document;
	char *bytes;
	size_t size, at; /* where the next column begins */
};

static void open_page(struct page *page, char *bytes, size_t size)
{
	uint32_t length;
	json_error_t error;

	memcpy(&length, bytes, sizeof(length));
	assert_true(length + sizeof(length) <= size);
	page->document = json_loadb(bytes + sizeof(length), length, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(page->document);
	page->bytes = bytes;
	page->size = size;
	page->at = (sizeof(length) + length + 7) / 8 * 8;
}

static void make_page(struct page *page)
{
	struct format_options options = {.top = 10};
	struct fake_profile fake;
	struct results results;
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	account_scenario_init(&fake);
	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	assert_int_equal(page_data_write(&results, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	results_done(&results);
	fake_profile_done(&fake);
	open_page(page, bytes, size);
}

static void close_page(struct page *page)
{
	json_decref(page->document);
	free(page->bytes);
}

static const void *next_column(struct page *page, size_t count, size_t size)
{
	const void *column = page->bytes + page->at;

	page->at += (count * size + 7) / 8 * 8;
	assert_true(page->at <= page->size);
	return column;
}

static json_int_t number_of(json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

struct columns {
	const int32_t *name;
	const uint16_t *depth;
	const uint32_t *node, *row;
	const uint8_t *state;
	const double *value;
	size_t nodes, values;
};

static struct columns read_columns(struct page *page, json_t *kind)
{
	struct columns columns = {.nodes = (size_t)number_of(kind, "nodes"),
				  .values = (size_t)number_of(kind, "values")};

	columns.name = next_column(page, columns.nodes, sizeof(*columns.name));
	columns.depth = next_column(page, columns.nodes, sizeof(*columns.depth));
	columns.node = next_column(page, columns.values, sizeof(*columns.node));
	columns.row = next_column(page, columns.values, sizeof(*columns.row));
	columns.state = next_column(page, columns.values, sizeof(*columns.state));
	columns.value = next_column(page, columns.values, sizeof(*columns.value));
	return columns;
}

static void every_value_has_a_node_a_row_and_a_state(void **state)
{
	const char *name;
	json_t *data, *kind, *rows;
	struct page page;
	size_t kinds = 0;

	make_page(&page);
	data = json_object_get(page.document, "data");
	rows = json_object_get(json_object_get(page.document, "report"), "rows");
	json_object_foreach(json_object_get(data, "kinds"), name, kind)
	{
		struct columns columns = read_columns(&page, kind);
		size_t states = json_array_size(json_object_get(kind, "states"));

		kinds++;
		assert_true(columns.nodes > 1);
		assert_int_equal(columns.depth[0], 0);
		for (size_t i = 1; i < columns.nodes; i++)
			assert_in_range(columns.depth[i], 1, columns.depth[i - 1] + 1);
		for (size_t i = 0; i < columns.values; i++) {
			assert_in_range(columns.node[i], 1, columns.nodes - 1);
			assert_true(columns.row[i] == UINT32_MAX ||
				    columns.row[i] < json_array_size(rows));
			assert_true(!states || columns.state[i] < states);
			assert_true(columns.value[i] > 0);
		}
	}
	assert_true(kinds >= 3);
	assert_int_equal(page.at, page.size);
	close_page(&page);
}

static void values_add_up_to_those_of_the_report(void **state)
{
	json_t *report, *kinds;
	struct columns cpu;
	struct page page;
	double sum = 0;

	make_page(&page);
	report = json_object_get(page.document, "report");
	kinds = json_object_get(json_object_get(page.document, "data"), "kinds");
	/* The first kind's columns come first. */
	cpu = read_columns(&page, json_object_get(kinds, "cpu"));
	for (size_t i = 0; i < cpu.values; i++)
		sum += cpu.value[i];
	assert_int_equal(
		(json_int_t)sum,
		number_of(json_object_get(json_object_get(report, "total"), "cpu"), "samples"));
	close_page(&page);
}

/* Base64 of the page's data, unpacked. */
static char *unpack(const char *text, size_t length, size_t *ret_size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char *packed = malloc(length);
	char *bytes = malloc(1 << 20);
	z_stream stream = {0};
	size_t size = 0;

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		uint32_t bits = 0;

		for (size_t j = 0; j < 4; j++) {
			const char *digit = strchr(digits, text[i + j]);

			assert_true(digit || (text[i + j] == '=' && i + 4 == length));
			bits = bits << 6 | (digit ? (uint32_t)(digit - digits) : 0);
		}
		packed[size++] = (unsigned char)(bits >> 16);
		packed[size++] = (unsigned char)(bits >> 8);
		packed[size++] = (unsigned char)bits;
	}
	assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
	stream.next_in = packed;
	stream.avail_in = (uInt)size;
	stream.next_out = (unsigned char *)bytes;
	stream.avail_out = 1 << 20;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*ret_size = stream.total_out;
	inflateEnd(&stream);
	free(packed);
	return bytes;
}

static void the_file_holds_the_data_and_needs_nothing_else(void **state)
{
	static const char opening[] = "<script type=\"text/plain\" id=\"data\">";
	struct fake_profile fake;
	struct page page;
	char *text, *data;
	size_t size;

	account_scenario_init(&fake);
	text = fake_profile_write(&fake, "html", NULL);
	fake_profile_done(&fake);
	assert_null(strstr(text, "{{"));
	assert_null(strstr(text, "src="));
	data = strstr(text, opening);
	assert_non_null(data);
	data += sizeof(opening) - 1;
	data = unpack(data, strcspn(data, "<"), &size);
	open_page(&page, data, size);
	assert_non_null(json_object_get(page.document, "report"));
	close_page(&page);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_has_a_node_a_row_and_a_state),
		cmocka_unit_test(values_add_up_to_those_of_the_report),
		cmocka_unit_test(the_file_holds_the_data_and_needs_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
