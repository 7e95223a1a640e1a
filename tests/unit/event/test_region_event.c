// SPDX-License-Identifier: BSD-2-Clause
/* Tests that records of regions are checked before anybody reads them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event/region_event.h"

#define BUCKETS 2
#define DEPTH	2

static union {
	struct pkbpf_event_region record;
	uint64_t words[(sizeof(struct pkbpf_event_region) + BUCKETS * 8 + DEPTH * PKBPF_SPAN_NAME) /
		       8];
} room;

static char *names(void)
{
	return (char *)&room.record.buckets[BUCKETS];
}

static int setup(void **state)
{
	memset(&room, 0, sizeof(room));
	room.record.header.kind = PKBPF_EVENT_REGION;
	room.record.header.size = sizeof(room);
	room.record.depth = DEPTH;
	room.record.n_buckets = BUCKETS;
	room.record.buckets[0] = (struct pkbpf_histogram_bucket){3, 1};
	room.record.buckets[1] = (struct pkbpf_histogram_bucket){9, 2};
	strcpy(names(), "step");
	strcpy(names() + PKBPF_SPAN_NAME, "load");
	return 0;
}

static int decode(struct region_view *view)
{
	return region_event_decode(&room.record.header, view);
}

static void reads_the_path_and_the_histogram(void **state)
{
	struct region_view view;

	assert_int_equal(decode(&view), 0);
	assert_int_equal(view.depth, 2);
	assert_string_equal(region_view_name(&view, 0), "step");
	assert_string_equal(region_view_name(&view, 1), "load");
	assert_int_equal(view.bucket_count, 2);
	assert_int_equal(view.buckets[1].count, 2);
}

static void a_gap_has_a_name(void **state)
{
	struct pkbpf_event_region_gap gap = {.header = {.size = sizeof(gap)}, .name = "step"};

	assert_int_equal(region_gap_check(&gap.header), 0);
	gap.header.size = sizeof(gap) - 8;
	assert_int_equal(region_gap_check(&gap.header), -EBADMSG);
	gap.header.size = sizeof(gap);
	memset(gap.name, 'x', sizeof(gap.name));
	assert_int_equal(region_gap_check(&gap.header), -EBADMSG);
}

static struct pkbpf_event_slow_region slow(void)
{
	return (struct pkbpf_event_slow_region){
		.header = {.size = sizeof(struct pkbpf_event_slow_region),
			   .kind = PKBPF_EVENT_SLOW_REGION,
			   .time_ns = 1000},
		.start_ns = 100,
		.wall_ns = 800,
		.part_ns = {300, 200, 300},
		.comm = "app",
		.name = "step",
	};
}

static void takes_a_slow_region_whose_parts_are_its_time_or_less(void **state)
{
	struct pkbpf_event_slow_region record = slow();

	assert_int_equal(slow_region_check(&record.header), 0);
	record.part_ns[2] = 0;
	assert_int_equal(slow_region_check(&record.header), 0);
	record.part_ns[2] = 301;
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
	record.part_ns[2] = UINT64_MAX;
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
}

static void rejects_a_slow_region_that_ends_after_its_record(void **state)
{
	struct pkbpf_event_slow_region record = slow();

	record.start_ns = 201;
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
	record.start_ns = 1001;
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
}

static void rejects_a_slow_region_without_the_end_of_a_name(void **state)
{
	struct pkbpf_event_slow_region record = slow();

	memset(record.name, 'x', sizeof(record.name));
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
	record = slow();
	memset(record.comm, 'x', sizeof(record.comm));
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
	record = slow();
	record.header.size--;
	assert_int_equal(slow_region_check(&record.header), -EBADMSG);
}

static void rejects_a_record_that_is_too_short(void **state)
{
	struct region_view view;

	room.record.header.size -= 8;
	assert_int_equal(decode(&view), -EBADMSG);
	room.record.header.size = sizeof(struct pkbpf_event_header);
	assert_int_equal(decode(&view), -EBADMSG);
}

static void rejects_a_path_without_a_name_or_with_too_many(void **state)
{
	struct region_view view;

	room.record.depth = 0;
	assert_int_equal(decode(&view), -EBADMSG);
	room.record.depth = PKBPF_SPAN_DEPTH + 1;
	assert_int_equal(decode(&view), -EBADMSG);
}

static void rejects_a_name_without_an_end(void **state)
{
	struct region_view view;

	memset(names() + PKBPF_SPAN_NAME, 'x', PKBPF_SPAN_NAME);
	assert_int_equal(decode(&view), -EBADMSG);
}

static void rejects_buckets_out_of_order_or_out_of_range(void **state)
{
	struct region_view view;

	room.record.buckets[1].index = 3;
	assert_int_equal(decode(&view), -EBADMSG);
	room.record.buckets[1].index = PKBPF_HISTOGRAM_BUCKETS;
	assert_int_equal(decode(&view), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_has_a_name),
		cmocka_unit_test_setup(reads_the_path_and_the_histogram, setup),
		cmocka_unit_test(takes_a_slow_region_whose_parts_are_its_time_or_less),
		cmocka_unit_test(rejects_a_slow_region_that_ends_after_its_record),
		cmocka_unit_test(rejects_a_slow_region_without_the_end_of_a_name),
		cmocka_unit_test_setup(rejects_a_record_that_is_too_short, setup),
		cmocka_unit_test_setup(rejects_a_path_without_a_name_or_with_too_many, setup),
		cmocka_unit_test_setup(rejects_a_name_without_an_end, setup),
		cmocka_unit_test_setup(rejects_buckets_out_of_order_or_out_of_range, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
