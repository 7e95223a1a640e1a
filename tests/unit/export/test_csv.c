// SPDX-License-Identifier: BSD-2-Clause
/* Tests the CSV report with a parser of RFC 4180. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/event.h>

#include "account_scenario.h"
#include "base/array.h"
#include "event/decoder.h"
#include "event/peer_event.h"
#include "region_record.h"

#define CELLS_MAX 128
#define CELL_SIZE 256

struct record {
	char cells[CELLS_MAX][CELL_SIZE];
	size_t count;
};

/* The record at *at, which is moved behind it. Fails the test where the text is not RFC 4180. */
static void read_record(const char **at, struct record *record)
{
	const char *c = *at;

	record->count = 0;
	for (;;) {
		bool quoted = *c == '"';
		size_t length = 0;

		c += quoted;
		while (*c && (quoted || (*c != ',' && *c != '\r'))) {
			if (quoted && *c == '"') {
				if (c[1] != '"')
					break;
				c++;
			}
			assert_true(quoted || (*c != '"' && *c != '\n'));
			assert_true(length + 1 < CELL_SIZE);
			record->cells[record->count][length++] = *c++;
		}
		record->cells[record->count++][length] = '\0';
		assert_true(record->count < CELLS_MAX);
		if (quoted)
			assert_int_equal(*c++, '"');
		if (*c == ',') {
			c++;
			continue;
		}
		assert_int_equal(*c++, '\r');
		assert_int_equal(*c++, '\n');
		*at = c;
		return;
	}
}

static size_t column_of(const struct record *heading, const char *name)
{
	for (size_t i = 0; i < heading->count; i++)
		if (!strcmp(heading->cells[i], name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static void rows_are_read_back_with_every_cell(void **state)
{
	static struct record heading, record, postgres, hostile;
	struct fake_profile fake;
	char *text;
	const char *at;
	size_t rows = 0;

	account_scenario_init(&fake);
	at = text = fake_profile_write(&fake, "csv", NULL);
	fake_profile_done(&fake);
	read_record(&at, &heading);
	while (*at) {
		read_record(&at, &record);
		assert_int_equal(record.count, heading.count);
		rows++;
		if (!strcmp(record.cells[0], "812"))
			postgres = record;
		if (!strcmp(record.cells[0], "77"))
			hostile = record;
	}
	assert_int_equal(rows, ACCOUNT_SHORT_LIVED + 4);
	assert_string_equal(postgres.cells[column_of(&heading, "comm")], "postgres");
	assert_string_equal(postgres.cells[column_of(&heading, "cpu.total_ns")], "900000000");
	assert_string_equal(postgres.cells[column_of(&heading, "cpu.share_percent")], "9.000");
	assert_string_equal(postgres.cells[column_of(&heading, "blockio.writes")], "450");
	assert_string_equal(postgres.cells[column_of(&heading, "hottest.offcpu")], "io_schedule");
	/* A spreadsheet would take it for a formula, a terminal for a command. */
	assert_string_equal(hostile.cells[column_of(&heading, "comm")], "'=\"a\",?[2J\n<b>");
	assert_string_equal(hostile.cells[column_of(&heading, "offcpu.wall_ns")], "");
	free(text);
}

/* ---- tables of functions, lines and regions ---- */

#define APP "/usr/bin/app"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1000,
	 .end = 0x1100,
	 .lines = {{.function = "main", .file = "/src/app.c", .line = 40}}},
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1100,
	 .end = 0x1200,
	 .lines = {{.function = "=work(a[u8; 4], \"b\")", .file = "/src/a,b.c", .line = 9}}},
	{.space = FRAME_KERNEL, .start = 0x100, .end = 0x200, .lines = {{.function = "sys_read"}}},
};

/* main > work > kernel, twice; main; and three records of regions. */
static void play_app(struct fake_profile *fake)
{
	struct fake_machine *machine = fake_machine_new();

	fake_profile_init(fake, NULL);
	profile_info(fake->profile)->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	fake_process(machine, 100, 1, "app");
	fake_map(machine, 100, 0x401000, 0x410000, 0x1000, APP);
	for (int i = 0; i < 2; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(0x110), FAKE_IPS(0x401110, 0x401010));
	fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_profile_run(fake, machine, symbols, ARRAY_SIZE(symbols));
	fake_machine_free(machine);
}

/* The record with this text in the column; its heading is read, too. */
static void find_record(const char *text, const char *column, const char *value,
			struct record *heading, struct record *record)
{
	read_record(&text, heading);
	while (*text) {
		read_record(&text, record);
		assert_int_equal(record->count, heading->count);
		if (!strcmp(record->cells[column_of(heading, column)], value))
			return;
	}
	fail_msg("no record with %s", value);
}

static void assert_cells(const struct record *heading, const struct record *record,
			 const char *const (*cells)[2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_string_equal(record->cells[column_of(heading, cells[i][0])], cells[i][1]);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void functions_have_their_weights(void **state)
{
	static const char *const kernel[][2] = {
		{"kind", "cpu"}, {"type", "kernel"}, {"unit", "count"},
		{"self", "2"},	 {"total", "2"},     {"self_percent", "66.667"},
	};
	static const char *const outer[][2] = {
		{"type", "native"},	      {"module", "app"},    {"self", "1"}, {"total", "3"},
		{"total_percent", "100.000"}, {"python_self", "0"},
	};
	static struct record heading, record;
	struct fake_profile fake;
	char *text;

	play_app(&fake);
	text = fake_profile_write(&fake, "csv-functions", NULL);
	fake_profile_done(&fake);
	assert_int_equal(count_lines(text), 1 + 3);
	find_record(text, "function", "sys_read", &heading, &record);
	assert_cells(&heading, &record, kernel, ARRAY_SIZE(kernel));
	find_record(text, "function", "main", &heading, &record);
	assert_cells(&heading, &record, outer, ARRAY_SIZE(outer));
	free(text);
}

static void lines_have_their_weights(void **state)
{
	static const char *const inner[][2] = {
		{"kind", "cpu"},
		{"file", "/src/a,b.c"},
		{"line", "9"},
		{"unit", "count"},
		{"self", "2"},
		{"total", "2"},
		{"self_percent", "66.667"},
		{"text", ""},
	};
	static struct record heading, record;
	struct fake_profile fake;
	char *text;

	play_app(&fake);
	text = fake_profile_write(&fake, "csv-lines", NULL);
	fake_profile_done(&fake);
	assert_int_equal(count_lines(text), 1 + 2);
	find_record(text, "function", "'=work(a[u8; 4], \"b\")", &heading, &record);
	assert_cells(&heading, &record, inner, ARRAY_SIZE(inner));
	free(text);
}

#define MS 1000000ULL

static void regions_are_a_tree(void **state)
{
	static const char *const outer[][2] = {
		{"id", "0"},
		{"parent", ""},
		{"depth", "0"},
		{"pid", "7"},
		{"comm", "app"},
		{"count", "10"},
		{"wall_ns", "100000000"},
		{"self_ns", "90000000"},
		{"type", "region"},
		{"rss_mean_bytes", "3145728"},
		{"rss_max_bytes", "3145728"},
		{"rss_growth_bytes", "10485760"},
		{"energy_mj", ""},
	};
	static const char *const inner[][2] = {
		{"id", "1"},
		{"parent", "0"},
		{"depth", "1"},
		{"wall_ns", "10000000"},
		{"sleep_ns", "7500000"},
		{"on_cpu_ns", "2500000"},
		{"max_ns", "1000000"},
	};
	static struct record heading, record;
	struct fake_profile fake;
	char *text;

	fake_profile_init(&fake, NULL);
	process_table_get(fake.processes, 7, "app");
	region_record_send(aggregator_sink(fake.aggregator), 7, "step", NULL, 10, 10 * MS);
	region_record_send(aggregator_sink(fake.aggregator), 7, "step", "load", 10, 1 * MS);
	text = fake_profile_write(&fake, "csv-regions", NULL);
	fake_profile_done(&fake);
	assert_int_equal(count_lines(text), 1 + 2);
	find_record(text, "region", "step", &heading, &record);
	assert_cells(&heading, &record, outer, ARRAY_SIZE(outer));
	find_record(text, "region", "load", &heading, &record);
	assert_cells(&heading, &record, inner, ARRAY_SIZE(inner));
	free(text);
}

static void allocations_have_place_and_growth(void **state)
{
	static const char *const expected[][2] = {
		{"pid", "100"},
		{"comm", "app"},
		{"function", "main"},
		{"file", "/src/app.c"},
		{"line", "40"},
		{"stack", "main"},
		{"allocated_bytes", "900"},
		{"allocated_samples", "9"},
		{"live_bytes", "300"},
		{"live_objects", "3"},
		{"peak_at_ns", "5"},
		{"trend", "grows like a leak"},
		{"growth_bytes", "100"},
	};
	static const char *const deeper[][2] = {
		{"stack", "main;=work(a[u8: 4], \"b\");sys_read"},
		{"growth_bytes", ""},
	};
	static struct record heading, record;
	struct heap_place place = {.pid = 100,
				   .comm = "app",
				   .trend = HEAP_TREND_GROWS,
				   .allocated = {.bytes = 900, .samples = 9},
				   .live = {.bytes = 300, .objects = 3},
				   .growth_bytes = 100};
	struct fake_profile fake;
	size_t count;
	char *text;

	play_app(&fake);
	place.peak_ns = profile_info(fake.profile)->start_ns + 5;
	place.stack = profile_rows(fake.profile, &count)[1].stack;
	assert_int_equal(heap_list_add(profile_heaps(fake.profile), &place), 0);
	place.stack = profile_rows(fake.profile, &count)[0].stack;
	place.trend = HEAP_TREND_UNKNOWN;
	assert_int_equal(heap_list_add(profile_heaps(fake.profile), &place), 0);
	text = fake_profile_write(&fake, "csv-allocations", NULL);
	fake_profile_done(&fake);
	assert_int_equal(count_lines(text), 1 + 2);
	find_record(text, "function", "main", &heading, &record);
	assert_int_equal(record.count, heading.count);
	assert_cells(&heading, &record, expected, ARRAY_SIZE(expected));
	find_record(text, "function", "sys_read", &heading, &record);
	assert_int_equal(record.count, heading.count);
	assert_cells(&heading, &record, deeper, ARRAY_SIZE(deeper));
	free(text);
}

static void feed(struct fake_profile *fake, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);

	assert_int_equal(event_decode(buffer->data, buffer->size, &sink), buffer->size);
	event_buffer_done(buffer);
	*buffer = (struct event_buffer){0};
}

static void peers_have_addresses_and_sums(void **state)
{
	static const char *const expected[][2] = {
		{"pid", "7"},
		{"comm", "app"},
		{"peer", "tcp 10.0.0.7:5432 (postgresql?)"},
		{"protocol", "tcp"},
		{"role", "client"},
		{"address", "10.0.0.7"},
		{"port", "5432"},
		{"service", "postgresql"},
		{"peer_pid", ""},
		{"responses", "4"},
		{"response_max_ns", "1000"},
		{"connects", "0"},
		{"receive_queue_max_bytes", "0"},
	};
	static struct record heading, record;
	const uint64_t ns = 1000;
	struct peer_view peer = {.time_ns = 1,
				 .number = 1,
				 .peer = {.family = PKBPF_NETWORK_IPV4,
					  .protocol = PKBPF_NETWORK_TCP,
					  .role = PKBPF_NETWORK_CLIENT,
					  .port = 5432,
					  .address = {10, 0, 0, 7}}};
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(ns), 4};
	struct totals_view totals = {.time_ns = 2,
				     .pid = 7,
				     .device = 1,
				     .kind = PKBPF_PROFILE_NETWORK,
				     .measure = PKBPF_NETWORK_RESPONSES,
				     .comm = "app",
				     .count = 4,
				     .total = 4 * ns,
				     .max = ns,
				     .buckets = &bucket,
				     .bucket_count = 1};
	struct event_buffer buffer = {0};
	struct fake_profile fake;
	char *text;

	fake_profile_init(&fake, NULL);
	process_table_get(fake.processes, 7, "app");
	assert_int_equal(peer_event_encode(&buffer, &peer), 0);
	feed(&fake, &buffer);
	assert_int_equal(event_encode_totals(&buffer, &totals), 0);
	feed(&fake, &buffer);
	text = fake_profile_write(&fake, "csv-peers", NULL);
	fake_profile_done(&fake);
	assert_int_equal(count_lines(text), 1 + 1);
	find_record(text, "comm", "app", &heading, &record);
	assert_int_equal(record.count, heading.count);
	assert_cells(&heading, &record, expected, ARRAY_SIZE(expected));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_back_with_every_cell),
		cmocka_unit_test(functions_have_their_weights),
		cmocka_unit_test(lines_have_their_weights),
		cmocka_unit_test(regions_are_a_tree),
		cmocka_unit_test(allocations_have_place_and_growth),
		cmocka_unit_test(peers_have_addresses_and_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
