// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a kind of event, and an account, need nothing but their own files and a row in the
 * lists: records that only this test has are decoded, aggregated, joined to rows and written in
 * every format; the account is merged, renumbered and recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "account_machine.h"
#include "base/array.h"
#include "event/decoder.h"
#include "event/encoder.h"
#include "finding/condition.h"
#include "lease_list.h"
#include "profile/kind_table.h"
#include "profile/shrink/profile_merge.h"
#include "profile/slice/slice.h"
#include "recorded_profile.h"
#include "source/source.h"

#define PID 100

static int put_lease(struct event_buffer *buffer, const struct lease_event *lease)
{
	struct lease_event *event = event_buffer_add(buffer, sizeof(*event), PKBPF_EVENT_LEASE, 0,
						     ACCOUNT_START_NS + 3);
	struct pkbpf_event_header header;

	if (!event)
		return -1;
	header = event->header;
	*event = *lease;
	event->header = header;
	return 0;
}

/* A lease held for 3 ms with this stack, which comes before. */
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
	struct lease_event lease = {.pid = PID, .stack_id = stack_id, .held_ns = 3000000};
	struct event_sink sink = aggregator_sink(fake->aggregator);
	struct event_buffer buffer = {0};
	size_t offset = 0;

	assert_int_equal(event_encode_stack(&buffer, ACCOUNT_START_NS + 1, &stack), 0);
	assert_int_equal(event_encode_totals(&buffer, &totals), 0);
	assert_int_equal(put_lease(&buffer, &lease), 0);
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

static const char *leaf_of(const struct profile *profile, const struct lease *lease)
{
	size_t count;
	const uint32_t *frames = profile_stack(profile, lease->stack, &count);

	assert_true(count > 0);
	return profile_frame(profile, frames[0])->symbol.lines[0].function;
}

/* Two leases, of locks that this profile calls by its own numbers. */
static void assert_leases(const struct profile *profile)
{
	const struct lease_list *list = profile_leases(profile);
	const char *leaves[] = {"pthread_mutex_lock", "list_append"};

	assert_int_equal(list->items.count, 2);
	for (size_t i = 0; i < list->items.count; i++) {
		const struct lease *lease = &list->items.items[i];
		const struct process *process =
			process_table_by_id(profile_processes(profile), lease->process);

		assert_int_equal(process->pid, PID);
		assert_string_equal(profile_string(profile, lease->comm), "server");
		assert_string_equal(leaf_of(profile, lease), leaves[i]);
		assert_int_equal(lease->end_ns, ACCOUNT_START_NS + 3);
		assert_int_equal(lease->held_ns, 3000000);
	}
}

static void its_account_is_filled(void **state)
{
	assert_leases(((struct fake_profile *)*state)->profile);
}

static void its_account_is_merged(void **state)
{
	struct fake_profile *fake = *state;
	struct profile *into = slice_new();
	uint32_t *numbers;

	assert_non_null(into);
	/* Other numbers than in the profile. */
	profile_intern_string(into, "another name");
	profile_intern_stack(into, NULL, 0);
	assert_int_equal(slice_merge(into, fake->profile), 0);
	assert_leases(into);
	/* Stacks of no use, such as the first, have no numbers then. */
	assert_int_equal(profile_merge_stacks(into, true, &numbers), 0);
	free(numbers);
	assert_leases(into);
	profile_free(into);
}

static void its_account_is_recorded(void **state)
{
	struct fake_profile *fake = *state;
	const struct profile *profile = fake->profile;
	const struct slice_choice of_cpu = {.kinds_mask = 1U << PKBPF_PROFILE_CPU};
	int fd = recorded_profiles(&profile, 1);
	struct profile *read = recorded_read(fd, 0, NULL);

	assert_leases(read);
	profile_free(read);
	read = recorded_read(fd, 0, &of_cpu);
	assert_int_equal(profile_leases(read)->items.count, 0);
	profile_free(read);
	close(fd);
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
		cmocka_unit_test(its_account_is_filled),
		cmocka_unit_test(its_account_is_merged),
		cmocka_unit_test(its_account_is_recorded),
		cmocka_unit_test(people_read_of_it),
		cmocka_unit_test(machines_read_of_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
