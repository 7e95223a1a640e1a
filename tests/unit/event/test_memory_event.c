// SPDX-License-Identifier: BSD-2-Clause
#include "event/memory_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER(type, kind_)                                                                        \
	{                                                                                          \
		.kind = (kind_), .size = sizeof(type)                                              \
	}

static void impossible_pages_are_refused(void **state)
{
	struct pkbpf_event_page page = {
		.header = HEADER(page, PKBPF_EVENT_PAGE), .address = 0x7f0000001000, .mask = 3};

	assert_ptr_equal(page_event_read(&page.header), &page);
	page.mask = 2; /* no power of two less one */
	assert_null(page_event_read(&page.header));
	page.mask = 2 * PKBPF_MEMORY_MAX_MASK + 1;
	assert_null(page_event_read(&page.header));
	page.mask = 0;
	page.address = 0xffffffff81000000; /* the kernel's */
	assert_null(page_event_read(&page.header));
	page.address = 0x1000;
	page.header.size -= 8;
	assert_null(page_event_read(&page.header));
}

static void impossible_ranges_are_refused(void **state)
{
	struct pkbpf_event_mapped mapped = {.header = HEADER(mapped, PKBPF_EVENT_MAPPED),
					    .start = 0x10000,
					    .length = 0x4000,
					    .from = 0x90000};

	assert_non_null(mapped_event_read(&mapped.header));
	mapped.length = 1ULL << 57;
	assert_null(mapped_event_read(&mapped.header));
	mapped.length = UINT64_MAX;
	assert_null(mapped_event_read(&mapped.header));
}

static void counters_beyond_any_machine_are_refused(void **state)
{
	struct pkbpf_event_resident resident = {.header = HEADER(resident, PKBPF_EVENT_RESIDENT),
						.anonymous = 1 << 20};

	assert_non_null(resident_event_read(&resident.header));
	resident.swap = UINT64_MAX;
	assert_null(resident_event_read(&resident.header));
}

static void a_look_comes_in_records_with_first_and_last(void **state)
{
	size_t count = PKBPF_PRESENT_RUNS + 3, runs = 0, records = 0;
	struct pkbpf_present_run *all = calloc(count, sizeof(*all));
	struct event_buffer buffer = {0};
	uint16_t flags = 0;

	for (size_t i = 0; i < count; i++)
		all[i] = (struct pkbpf_present_run){.start = i * 0x10000, .pages = 2};
	assert_int_equal(present_event_encode(&buffer, 7, 100, PKBPF_PRESENT_BEFORE, all, count),
			 0);
	for (size_t at = 0; at < buffer.size; records++) {
		const struct pkbpf_event_header *header = (void *)(buffer.data + at);
		size_t part;

		assert_non_null(present_event_read(header, &part));
		assert_int_equal(header->time_ns, 7);
		assert_true(header->flags & PKBPF_PRESENT_BEFORE);
		assert_int_equal(!!(header->flags & PKBPF_PRESENT_FIRST), records == 0);
		flags = header->flags;
		runs += part;
		at += header->size;
	}
	assert_int_equal(records, 2);
	assert_int_equal(runs, count);
	assert_true(flags & PKBPF_PRESENT_LAST);
	event_buffer_done(&buffer);
	free(all);
}

static void a_look_at_nothing_is_one_record(void **state)
{
	struct event_buffer buffer = {0};
	size_t runs = 1;

	assert_int_equal(present_event_encode(&buffer, 7, 100, 0, NULL, 0), 0);
	assert_non_null(present_event_read((const void *)buffer.data, &runs));
	assert_int_equal(runs, 0);
	event_buffer_done(&buffer);
}

static void runs_out_of_order_are_refused(void **state)
{
	const struct pkbpf_present_run runs[] = {{.start = 0x20000, .pages = 1},
						 {.start = 0x10000, .pages = 1}};
	struct event_buffer buffer = {0};
	size_t count;

	assert_int_equal(present_event_encode(&buffer, 7, 100, 0, runs, 2), 0);
	assert_null(present_event_read((const void *)buffer.data, &count));
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impossible_pages_are_refused),
		cmocka_unit_test(impossible_ranges_are_refused),
		cmocka_unit_test(counters_beyond_any_machine_are_refused),
		cmocka_unit_test(a_look_comes_in_records_with_first_and_last),
		cmocka_unit_test(a_look_at_nothing_is_one_record),
		cmocka_unit_test(runs_out_of_order_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
