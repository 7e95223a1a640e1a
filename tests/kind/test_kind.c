// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a kind of event needs nothing but its own files: records of one that only this test
 * has are decoded, aggregated, joined to rows and written in every format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "account_machine.h"
#include "base/array.h"
#include "event/decoder.h"
#include "event/encoder.h"
#include "finding/condition.h"
#include "profile/kind_table.h"
#include "source/source.h"

#define PID 100

/* A lock held for 3 ms with this stack, which comes before. */
static void hold_lock(struct fake_profile *fake, uint64_t stack_id, struct fake_ips user)
{
	struct stack_view stack = {.stack_id = stack_id,
				   .pid = PID,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = user.items,
				   .user_count = user.count};
	struct totals_view totals = {.time_ns = ACCOUNT_START_NS + 2,
				     .stack_id = stack_id,
				     .pid = PID,
				     .tid = PID,
				     .kind = PKBPF_PROFILE_LEASES,
				     .comm = "server",
				     .count = 1,
				     .total = 3000000,
				     .max = 3000000};
	struct event_sink sink = aggregator_sink(fake->aggregator);
	struct event_buffer buffer = {0};
	size_t offset = 0;

	assert_int_equal(event_encode_stack(&buffer, ACCOUNT_START_NS + 1, &stack), 0);
	assert_int_equal(event_encode_totals(&buffer, &totals), 0);
	while (offset < buffer.size) {
		int used = event_decode(buffer.data + offset, buffer.size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
	event_buffer_done(&buffer);
}

static int setup(void **state)
{
	struct fake_profile *fake = calloc(1, sizeof(*fake));

	account_begin(fake, 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_LEASES, 5000000000,
		      15000000000);
	account_process(fake, &(struct account_process){
				      .pid = PID, .comm = "server", .run_ns = 4000000000});
	/* Stacks with neighbouring numbers, the first of the new kind, the second of the first. */
	hold_lock(fake, 1, FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_MAIN));
	account_samples(fake, PID, "server", 7, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	hold_lock(fake, 2, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(fake);
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(*state);
	free(*state);
	return 0;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void assert_written(struct fake_profile *fake, const char *format, const char *part)
{
	struct format_options options = {.kind = PKBPF_PROFILE_LEASES, .top = 10, .full = true};
	char *text = fake_profile_write(fake, format, &options);

	assert_has(text, part);
	free(text);
}

static void every_table_has_its_row(void **state)
{
	assert_int_equal(PKBPF_PROFILE_KINDS, PKBPF_PROFILE_LEASES + 1);
	assert_string_equal(kind_ops_of(PKBPF_PROFILE_LEASES)->title, "Leases");
	assert_non_null(source_by_name("leases"));
	assert_int_equal(source_by_name("leases")->kind, PKBPF_PROFILE_LEASES);
}

static void its_weights_are_no_other_kinds(void **state)
{
	struct fake_profile *fake = *state;
	struct resource_rows rows = {0};
	const struct resource_row *row;

	assert_int_equal(resource_rows_init(&rows, fake->profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.count, 1);
	row = &rows.items[0];
	assert_int_equal(row->kind_weight[PKBPF_PROFILE_CPU], 7);
	assert_int_equal(row->kind_weight[PKBPF_PROFILE_LEASES], 6000000);
	/* Three stacks of the row, three of the total. */
	assert_int_equal(rows.weight_count, 6);
	for (size_t i = 0; i < rows.weight_count; i++)
		assert_int_equal(rows.weights[i].stack.weight,
				 rows.weights[i].kind == PKBPF_PROFILE_CPU ? 7 : 3000000);
	assert_int_equal(row->leases.count, 2);
	assert_int_equal(row->leases.held_ns, 6000000);
	resource_rows_done(&rows);
}

static void a_condition_is_about_its_figures(void **state)
{
	struct condition condition;
	struct error error;

	assert_int_equal(condition_parse("leases>1", &condition, &error), 0);
	assert_int_equal(condition_check_possible(&condition, 1U << PKBPF_PROFILE_LEASES,
						  ROWS_BY_PROCESS, &error),
			 0);
	assert_true(condition_check_possible(&condition, 1U << PKBPF_PROFILE_CPU, ROWS_BY_PROCESS,
					     &error) < 0);
	assert_has(error.text, "leases");
}

static void people_read_of_it(void **state)
{
	assert_written(*state, "text", "cpu (");
	assert_written(*state, "text", ", leases");
	assert_written(*state, "text", "2 leases");
	assert_written(*state, "text", "Leases by process");
	assert_written(*state, "text", "\nLeases: a section of their own\n");
}

static void machines_read_of_it(void **state)
{
	char *text = fake_profile_write(*state, "json", NULL);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *section, *row;
	json_int_t held, hottest;
	const char *name;

	assert_non_null(root);
	section = json_object_get(root, "leases");
	assert_int_equal(json_integer_value(json_object_get(section, "count")), 2);
	row = json_array_get(json_object_get(root, "rows"), 0);
	assert_int_equal(json_unpack(row, "{s{sI}s{s{sI}}}", "leases", "held_ns", &held,
				     "hottest_stacks", "leases", "weight_ns", &hottest),
			 0);
	assert_int_equal(held, 6000000);
	assert_int_equal(hottest, 3000000);
	name = json_string_value(json_array_get(json_object_get(root, "events"), 1));
	assert_string_equal(name, "leases");
	json_decref(root);
	free(text);
	assert_written(*state, "csv", "leases.total,leases.held_ns");
	assert_written(*state, "csv", ",hottest.leases");
	assert_written(*state, "folded", "server;main;pthread_mutex_lock 3000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_has_its_row),
		cmocka_unit_test(its_weights_are_no_other_kinds),
		cmocka_unit_test(a_condition_is_about_its_figures),
		cmocka_unit_test(people_read_of_it),
		cmocka_unit_test(machines_read_of_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
