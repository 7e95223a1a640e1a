// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/context/context_sets: sums of requests become records of regions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "event/region_event.h"
#include "source/context/context_sets.h"

static struct pkbpf_context_set sets[3], sent[3];

static void add_request(struct pkbpf_context_set *set, uint64_t wall_ns, uint64_t sleep_ns)
{
	set->count++;
	set->total_ns += wall_ns;
	set->part_ns[PKBPF_WAIT_SLEEP] += sleep_ns;
	set->part_ns[PKBPF_WAIT_NONE] += wall_ns - sleep_ns;
	set->buckets[pkbpf_histogram_index(wall_ns)]++;
	if (wall_ns > set->max_ns)
		set->max_ns = wall_ns;
}

static void drain(struct context_sets *of, struct event_buffer *buffer, struct region_view *view)
{
	buffer->size = 0;
	assert_int_equal(context_sets_drain(of, 1000, buffer), 0);
	assert_true(buffer->size > 0);
	assert_int_equal(region_event_decode((const void *)buffer->data, view), 0);
}

static void sends_what_was_added_since_the_last_time(void **state)
{
	struct context_sets of = {.sets = sets, .sent = sent, .count = 3};
	struct event_buffer buffer = {0};
	struct region_view view;

	(void)state;
	memset(sets, 0, sizeof(sets));
	memset(sent, 0, sizeof(sent));
	sets[1].pid = 7;
	strcpy(sets[1].labels[0], "/cart");
	add_request(&sets[1], 5000, 3000);
	add_request(&sets[1], 9000, 0);
	sets[2].count = 1; /* not complete */
	drain(&of, &buffer, &view);
	assert_int_equal(view.record->header.size, buffer.size);
	assert_int_equal(view.record->pid, 7);
	assert_int_equal(view.record->header.flags, PKBPF_REGION_REQUEST);
	assert_int_equal(view.record->count, 2);
	assert_int_equal(view.record->total_ns, 14000);
	assert_int_equal(view.record->part_ns[PKBPF_WAIT_SLEEP], 3000);
	assert_int_equal(view.record->max_ns, 9000);
	assert_int_equal(view.bucket_count, 2);
	assert_string_equal(region_view_name(&view, 0), "/cart");
	buffer.size = 0;
	assert_int_equal(context_sets_drain(&of, 1000, &buffer), 0);
	assert_int_equal(buffer.size, 0);
	add_request(&sets[1], 100, 0);
	drain(&of, &buffer, &view);
	assert_int_equal(view.record->count, 1);
	assert_int_equal(view.record->total_ns, 100);
	event_buffer_done(&buffer);
}

static void a_slice_has_its_own_largest(void **state)
{
	struct context_sets of = {.sets = sets, .sent = sent, .count = 3};
	struct event_buffer buffer = {0};
	struct region_view view;

	(void)state;
	memset(sets, 0, sizeof(sets));
	memset(sent, 0, sizeof(sent));
	sets[0].pid = 7;
	add_request(&sets[0], 5000, 0);
	drain(&of, &buffer, &view);
	assert_string_equal(region_view_name(&view, 0), "[request]");
	context_sets_begin_slice(&of);
	assert_int_equal(sets[0].max_ns, 0);
	add_request(&sets[0], 10, 0);
	drain(&of, &buffer, &view);
	assert_int_equal(view.record->max_ns, 10);
	event_buffer_done(&buffer);
}

static void a_request_that_is_open_at_the_end_is_in_no_sum(void **state)
{
	struct context_sets of = {.sets = sets, .sent = sent, .count = 3};
	struct event_buffer buffer = {0};
	struct region_view view;

	(void)state;
	memset(sets, 0, sizeof(sets));
	memset(sent, 0, sizeof(sent));
	sets[1].pid = 7;
	sets[1].open = 2;
	drain(&of, &buffer, &view);
	assert_int_equal(view.record->unfinished, 2);
	assert_int_equal(view.record->count, 0);
	assert_int_equal(view.record->total_ns, 0);
	buffer.size = 0;
	assert_int_equal(context_sets_drain(&of, 1000, &buffer), 0);
	assert_int_equal(buffer.size, 0);
	event_buffer_done(&buffer);
}

static void a_name_is_sent_once_where_samples_refer_to_it(void **state)
{
	struct context_sets of = {.sets = sets, .sent = sent, .count = 3, .by_label = true};
	struct event_buffer buffer = {0};
	const struct pkbpf_event_region_name *name;

	(void)state;
	memset(sets, 0, sizeof(sets));
	memset(sent, 0, sizeof(sent));
	sets[2].pid = 7;
	strcpy(sets[2].labels[0], "/cart");
	assert_int_equal(context_sets_drain(&of, 1000, &buffer), 0);
	assert_int_equal(buffer.size, sizeof(*name));
	name = (const void *)buffer.data;
	assert_int_equal(name->header.kind, PKBPF_EVENT_REGION_NAME);
	assert_int_equal(name->number, 2);
	assert_string_equal(name->name, "/cart");
	buffer.size = 0;
	assert_int_equal(context_sets_drain(&of, 2000, &buffer), 0);
	assert_int_equal(buffer.size, 0);
	event_buffer_done(&buffer);
}

static void sets_of_an_ended_process_are_emptied_one_by_one(void **state)
{
	struct context_sets of = {.sets = sets, .sent = sent, .count = 3, .by_label = true};
	struct event_buffer buffer = {0};
	const struct pkbpf_event_region_name *name;
	struct pkbpf_context_set_key key;

	(void)state;
	memset(sets, 0, sizeof(sets));
	memset(sent, 0, sizeof(sent));
	for (int i = 0; i < 3; i++) {
		sets[i].pid = i == 1 ? 8 : 7;
		sets[i].hash = 100 + (uint64_t)i;
		sets[i].claims = 1;
		add_request(&sets[i], 5000, 0);
		sent[i].count = 1;
	}
	assert_int_equal(context_sets_release(&of, 7, 0, &key, &buffer), 0);
	assert_int_equal(key.pid, 7);
	assert_int_equal(key.hash, 100);
	assert_int_equal(context_sets_release(&of, 7, 0, &key, &buffer), 2);
	assert_int_equal(key.hash, 102);
	assert_int_equal(context_sets_release(&of, 7, 2, &key, &buffer), 3);
	assert_int_equal(sets[0].count + sent[0].count + sets[0].pid, 0);
	assert_int_equal(sets[0].claims, 1);
	assert_int_equal(sets[1].count, 1);
	/* Their names go before others have their numbers. */
	name = (const void *)buffer.data;
	assert_int_equal(buffer.size, 2 * sizeof(*name));
	assert_int_equal(name[1].number, 2);
	assert_string_equal(name[1].name, "");
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_what_was_added_since_the_last_time),
		cmocka_unit_test(a_slice_has_its_own_largest),
		cmocka_unit_test(a_request_that_is_open_at_the_end_is_in_no_sum),
		cmocka_unit_test(a_name_is_sent_once_where_samples_refer_to_it),
		cmocka_unit_test(sets_of_an_ended_process_are_emptied_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
