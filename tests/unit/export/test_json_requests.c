// SPDX-License-Identifier: BSD-2-Clause
/* Tests the slow requests by thread contexts in JSON, and in a comment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <pkbpf/context.h>

#include "account_machine.h"

#define MS 1000000ULL

static void send(struct fake_profile *fake, uint64_t wall_ns, const char *label)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);
	struct pkbpf_event_request request = {
		.header = {.kind = PKBPF_EVENT_REQUEST,
			   .size = sizeof(request),
			   .time_ns = ACCOUNT_START_NS + wall_ns},
		.trace = {0x88, 0x77},
		.span = {0xab},
		.start_ns = ACCOUNT_START_NS,
		.wall_ns = wall_ns,
		.edge_ns = 3,
		.part_ns = {[PKBPF_WAIT_NONE] = 10 * MS, [PKBPF_WAIT_SLEEP] = wall_ns - 10 * MS},
		.reasons = {{.stack_id = 1, .wait_ns = 5 * MS}, {.stack_id = 99, .wait_ns = MS}},
		.pid = 5,
		.tid = 7,
		.comm = "worker",
	};

	memcpy(request.labels[1], label, strlen(label));
	sink.ops->on_other(sink.context, &request.header);
}

static json_t *document(struct fake_profile *fake)
{
	char *text;
	json_t *root;

	account_end(fake);
	text = fake_profile_write(fake, "json", NULL);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static void begin(struct fake_profile *fake, size_t limit)
{
	account_begin(fake, 1U << PKBPF_PROFILE_OFFCPU, 1, 1);
	account_process(fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_waits(fake, 5, "app", PKBPF_WAIT_SLEEP, 1, 9 * MS, 1, FAKE_IPS(ACCOUNT_NANOSLEEP),
		      FAKE_IPS(ACCOUNT_MAIN));
	request_list_limit(profile_contexts(fake->profile), limit);
}

static void a_request_has_its_ids_labels_and_reasons(void **state)
{
	struct fake_profile fake;
	json_t *root, *list, *first, *waits;

	begin(&fake, 2);
	send(&fake, 20 * MS, "");
	send(&fake, 40 * MS, "\"</script>");
	root = document(&fake);
	list = json_object_get(root, "requests");
	assert_int_equal(json_array_size(list), 2);
	first = json_array_get(list, 0);
	assert_string_equal(json_string_value(json_object_get(first, "trace_id")),
			    "88770000000000000000000000000000");
	assert_string_equal(json_string_value(json_object_get(first, "span_id")),
			    "ab00000000000000");
	assert_string_equal(json_string_value(json_object_get(first, "comm")), "worker");
	assert_int_equal(json_integer_value(json_object_get(first, "wall_ns")), 40 * MS);
	assert_int_equal(json_integer_value(json_object_get(first, "edge_ns")), 3);
	assert_int_equal(json_integer_value(json_object_get(first, "on_cpu_ns")), 10 * MS);
	assert_int_equal(json_integer_value(json_object_get(first, "sleep_ns")), 30 * MS);
	/* The second reason came without a stack. */
	waits = json_object_get(first, "waits");
	assert_int_equal(json_array_size(waits), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(waits, 0), "wait_ns")),
			 5 * MS);
	assert_string_equal(json_string_value(json_object_get(json_array_get(waits, 0), "kind")),
			    "sleep");
	assert_int_equal(json_integer_value(json_object_get(first, "other_wait_ns")), 25 * MS);
	first = json_array_get(json_object_get(first, "labels"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "value")), "\"</script>");
	first = json_array_get(list, 1);
	assert_int_equal(json_array_size(json_object_get(first, "labels")), 0);
	json_decref(root);
	fake_profile_done(&fake);
}

static void in_a_comment_a_request_is_a_row(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake, 20);
	for (uint64_t i = 0; i < 11; i++)
		send(&fake, (40 - i) * MS, i ? "" : "a|`b");
	account_end(&fake);
	text = fake_profile_write(&fake, "markdown", NULL);
	assert_non_null(strstr(text, "| `a\\|'b` | `88770000000000000000000000000000` | `worker` "
				     "| 40.0 ms | 10.0 ms | 0 ns | 5.00 ms sleeps on its own "
				     "timer"));
	assert_non_null(strstr(text, "\n… and 1 more.\n"));
	free(text);
	fake_profile_done(&fake);
	begin(&fake, 2);
	account_end(&fake);
	text = fake_profile_write(&fake, "markdown", NULL);
	assert_null(strstr(text, "slowest requests"));
	free(text);
	fake_profile_done(&fake);
}

static void without_a_request_there_is_no_list(void **state)
{
	struct fake_profile fake;
	json_t *root;

	begin(&fake, 2);
	root = document(&fake);
	assert_null(json_object_get(root, "requests"));
	json_decref(root);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_has_its_ids_labels_and_reasons),
		cmocka_unit_test(in_a_comment_a_request_is_a_row),
		cmocka_unit_test(without_a_request_there_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
