// SPDX-License-Identifier: BSD-2-Clause
#include "profile/resident/resident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/account/memory_list.h"
#include "profile/resident/page_runs.h"

#define PAGE   4096ULL
#define REGION (2ULL << 20)
#define BASE   (0x7f0000000000ULL)
#define PID    1

static void write_page_as(struct resident *resident, uint32_t process, uint64_t address,
			  uint64_t stack, uint16_t flags)
{
	const struct pkbpf_event_page page = {
		.header = {.kind = PKBPF_EVENT_PAGE, .flags = flags},
		.address = address,
		.stack_id = stack,
	};

	assert_int_equal(resident_write(resident, process, &page), 0);
}

static void write_pages(struct resident *resident, uint64_t start, size_t count, uint64_t stack)
{
	for (size_t i = 0; i < count; i++)
		write_page_as(resident, PID, start + i * PAGE, stack, 0);
}

/* own_bytes: what the kernel counts for the process; 0: not known. */
static void look_with_count(struct resident *resident, uint32_t process, uint64_t own_bytes,
			    uint16_t flags, const struct pkbpf_present_run *runs, size_t count)
{
	struct pkbpf_event_present *present = calloc(1, sizeof(*present) + count * sizeof(runs[0]));

	present->header.flags = flags | PKBPF_PRESENT_FIRST | PKBPF_PRESENT_LAST;
	present->page_bytes = PAGE;
	memcpy(present->runs, runs, count * sizeof(runs[0]));
	assert_int_equal(resident_look(resident, process, own_bytes, present, count), 0);
	free(present);
}

static void look_at(struct resident *resident, uint32_t process, uint16_t flags,
		    const struct pkbpf_present_run *runs, size_t count)
{
	look_with_count(resident, process, 0, flags, runs, count);
}

static uint64_t bytes_of(struct resident *resident, uint32_t process, uint64_t stack)
{
	size_t count;
	const struct resident_site *sites = resident_sites(resident, process, &count);
	uint64_t bytes = 0;

	for (size_t i = RESIDENT_PLACES; i < count; i++)
		bytes += sites[i].stack_id == stack ? sites[i].bytes : 0;
	return bytes;
}

static uint64_t place_bytes(struct resident *resident, uint32_t process, enum resident_place place)
{
	size_t count;

	return resident_sites(resident, process, &count)[place].bytes;
}

static void pages_that_are_gone_are_not_counted(void **state)
{
	struct resident *resident = resident_new();

	write_pages(resident, BASE, 10, 7);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE + 2 * PAGE, 5, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), 5 * PAGE);
	resident_free(resident);
}

static void a_page_belongs_to_its_last_writer(void **state)
{
	struct resident *resident = resident_new();

	write_pages(resident, BASE, 10, 7);
	write_pages(resident, BASE, 4, 8);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 10, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), 6 * PAGE);
	assert_int_equal(bytes_of(resident, PID, 8), 4 * PAGE);
	resident_free(resident);
}

static void a_write_to_shared_contents_keeps_the_writer(void **state)
{
	struct resident *resident = resident_new();

	write_pages(resident, BASE, 1, 7);
	write_page_as(resident, PID, BASE, 8, PKBPF_PAGE_WAS_SHARED);
	write_page_as(resident, PID, BASE + PAGE, 8, PKBPF_PAGE_WAS_SHARED);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 2, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), PAGE);
	assert_int_equal(bytes_of(resident, PID, 8), PAGE);
	resident_free(resident);
}

static void pages_without_a_fault_came_with_their_neighbour(void **state)
{
	struct resident *resident = resident_new();

	write_pages(resident, BASE + 77 * PAGE, 1, 7); /* a huge page */
	write_pages(resident, BASE + REGION, 1, 8);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 3 * 512, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), REGION);
	assert_int_equal(bytes_of(resident, PID, 8), REGION);
	assert_int_equal(place_bytes(resident, PID, RESIDENT_UNKNOWN), REGION);
	resident_free(resident);
}

static void what_was_there_before_belongs_to_nobody(void **state)
{
	struct resident *resident = resident_new();

	look_at(resident, PID, PKBPF_PRESENT_BEFORE, &(struct pkbpf_present_run){BASE, 4, 0}, 1);
	write_pages(resident, BASE + 4 * PAGE, 2, 7);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 6, 0}, 1);
	assert_int_equal(place_bytes(resident, PID, RESIDENT_BEFORE), 4 * PAGE);
	assert_int_equal(bytes_of(resident, PID, 7), 2 * PAGE);
	resident_free(resident);
}

static void filled_mappings_take_the_place_of_what_was_there(void **state)
{
	const struct pkbpf_event_mapped mapped = {
		.stack_id = 9, .start = BASE + PAGE, .length = REGION};
	struct resident *resident = resident_new();

	look_at(resident, PID, PKBPF_PRESENT_BEFORE, &(struct pkbpf_present_run){BASE, 1024, 0}, 1);
	write_pages(resident, BASE, 20, 7);
	assert_int_equal(resident_map(resident, PID, &mapped), 0);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 1024, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), PAGE);
	assert_int_equal(bytes_of(resident, PID, 9), REGION);
	assert_int_equal(place_bytes(resident, PID, RESIDENT_BEFORE), REGION - PAGE);
	resident_free(resident);
}

static void moved_pages_keep_their_writers(void **state)
{
	const struct pkbpf_event_mapped mapped = {.header = {.flags = PKBPF_MAPPED_MOVED},
						  .stack_id = 9,
						  .from = BASE,
						  .start = BASE + 8 * REGION,
						  .length = 10 * PAGE};
	struct resident *resident = resident_new();

	look_at(resident, PID, PKBPF_PRESENT_BEFORE, &(struct pkbpf_present_run){BASE, 3, 0}, 1);
	write_pages(resident, BASE + 3 * PAGE, 7, 7);
	assert_int_equal(resident_map(resident, PID, &mapped), 0);
	write_pages(resident, BASE, 2, 8);
	look_at(resident, PID, 0,
		(struct pkbpf_present_run[]){{BASE, 2, 0}, {BASE + 8 * REGION, 10, 0}}, 2);
	assert_int_equal(place_bytes(resident, PID, RESIDENT_BEFORE), 3 * PAGE);
	assert_int_equal(bytes_of(resident, PID, 7), 7 * PAGE);
	assert_int_equal(bytes_of(resident, PID, 8), 2 * PAGE);
	resident_free(resident);
}

static void a_child_has_its_parents_pages(void **state)
{
	struct resident *resident = resident_new();

	write_pages(resident, BASE, 4, 7);
	resident_fork(resident, PID, 2);
	write_page_as(resident, 2, BASE, 8, PKBPF_PAGE_WAS_SHARED);
	look_at(resident, 2, 0, &(struct pkbpf_present_run){BASE, 4, 0}, 1);
	assert_int_equal(bytes_of(resident, 2, 8), PAGE);
	assert_int_equal(bytes_of(resident, 2, 7), 3 * PAGE);
	resident_remove(resident, PID);
	look_at(resident, 2, 0, &(struct pkbpf_present_run){BASE, 4, 0}, 1);
	assert_int_equal(place_bytes(resident, 2, RESIDENT_INHERITED), 3 * PAGE);
	resident_free(resident);
}

/* Half of the regions stand for all; pages of the others are forgotten. */
static void chosen_regions_stand_for_all(void **state)
{
	struct resident *resident = resident_new();
	struct pkbpf_event_page page = {.mask = 1, .stack_id = 7};
	size_t chosen = 0;

	for (uint64_t i = 0; i < 100; i++)
		write_page_as(resident, PID, BASE + i * REGION, 7, 0);
	for (uint64_t i = 0; i < 100; i++) {
		page.address = BASE + i * REGION;
		if (pkbpf_memory_is_chosen(page.address, 1)) {
			assert_int_equal(resident_write(resident, PID, &page), 0);
			chosen++;
		}
	}
	assert_in_range(chosen, 30, 70);
	assert_int_equal(resident_regions(resident, PID), 2);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 100 * 512, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7), 2 * chosen * REGION);
	resident_free(resident);
}

static void the_kernels_count_is_the_scale_of_chosen_regions(void **state)
{
	struct resident *resident = resident_new();

	for (uint64_t i = 0; i < 100; i++)
		if (pkbpf_memory_is_chosen(BASE + i * REGION, 1))
			assert_int_equal(resident_write(resident, PID,
							&(struct pkbpf_event_page){
								.mask = 1,
								.stack_id = 7 + (i & 1),
								.address = BASE + i * REGION,
							}),
					 0);
	look_with_count(resident, PID, 100 * REGION, 0,
			&(struct pkbpf_present_run){BASE, 100 * 512, 0}, 1);
	assert_int_equal(bytes_of(resident, PID, 7) + bytes_of(resident, PID, 8), 100 * REGION);
	resident_free(resident);
}

static void the_peak_keeps_what_was_there_then(void **state)
{
	struct resident *resident = resident_new();
	const struct resident_site *sites;
	size_t count;

	write_pages(resident, BASE, 10, 7);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 10, 0}, 1);
	write_pages(resident, BASE, 1, 8);
	look_at(resident, PID, 0, &(struct pkbpf_present_run){BASE, 1, 0}, 1);
	sites = resident_sites(resident, PID, &count);
	assert_int_equal(count, RESIDENT_PLACES + 2);
	assert_int_equal(sites[RESIDENT_PLACES].bytes_at_peak, 10 * PAGE);
	assert_int_equal(sites[RESIDENT_PLACES + 1].bytes_at_peak, 0);
	assert_int_equal(bytes_of(resident, PID, 8), PAGE);
	resident_free(resident);
}

static void ranges_are_cut_and_moved(void **state)
{
	struct page_runs runs = {0};

	assert_int_equal(page_runs_add(&runs, 10, 20), 0);
	assert_int_equal(page_runs_add(&runs, 20, 30), 0);
	assert_int_equal(page_runs_add(&runs, 40, 50), 0);
	assert_int_equal(runs.items.count, 2);
	assert_int_equal(page_runs_cut(&runs, 15, 18), 0);
	assert_int_equal(runs.items.count, 3);
	assert_true(page_runs_have(&runs, 14));
	assert_false(page_runs_have(&runs, 15));
	assert_true(page_runs_have(&runs, 18));
	assert_int_equal(page_runs_cut(&runs, 0, 12), 0);
	assert_false(page_runs_have(&runs, 10));
	assert_true(page_runs_have(&runs, 12));
	assert_int_equal(page_runs_move(&runs, 18, 30, 100), 0);
	assert_false(page_runs_have(&runs, 20));
	assert_true(page_runs_have(&runs, 111));
	assert_false(page_runs_have(&runs, 112));
	assert_true(page_runs_have(&runs, 122));
	assert_true(page_runs_have(&runs, 48));
	page_runs_done(&runs);
}

static void a_series_keeps_its_ends_and_its_peak(void **state)
{
	struct memory_series *series = calloc(1, sizeof(*series));
	uint64_t most = 0;

	for (uint64_t i = 0; i < 10 * MEMORY_SERIES_POINTS; i++)
		memory_series_add(series, &(struct memory_point){
						  .time_ns = i + 1,
						  .anonymous = i == 777 ? 1 << 30 : i * PAGE,
					  });
	assert_in_range(series->count, MEMORY_SERIES_POINTS / 2, MEMORY_SERIES_POINTS);
	assert_int_equal(series->points[0].time_ns, 1);
	assert_int_equal(series->points[series->count - 1].time_ns, 10 * MEMORY_SERIES_POINTS);
	for (size_t i = 0; i < series->count; i++)
		most = memory_point_rss(&series->points[i]) > most
			       ? memory_point_rss(&series->points[i])
			       : most;
	assert_int_equal(most, 1 << 30);
	free(series);
}

static void a_time_without_change_takes_two_points(void **state)
{
	struct memory_series *series = calloc(1, sizeof(*series));

	for (uint64_t i = 0; i < 1000; i++)
		memory_series_add(series, &(struct memory_point){.time_ns = i, .anonymous = 5});
	assert_int_equal(series->count, 2);
	assert_int_equal(series->points[1].time_ns, 999);
	memory_series_add(series, &(struct memory_point){.time_ns = 1000, .anonymous = 6});
	assert_int_equal(series->count, 3);
	free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_are_gone_are_not_counted),
		cmocka_unit_test(a_page_belongs_to_its_last_writer),
		cmocka_unit_test(a_write_to_shared_contents_keeps_the_writer),
		cmocka_unit_test(pages_without_a_fault_came_with_their_neighbour),
		cmocka_unit_test(what_was_there_before_belongs_to_nobody),
		cmocka_unit_test(filled_mappings_take_the_place_of_what_was_there),
		cmocka_unit_test(moved_pages_keep_their_writers),
		cmocka_unit_test(a_child_has_its_parents_pages),
		cmocka_unit_test(chosen_regions_stand_for_all),
		cmocka_unit_test(the_kernels_count_is_the_scale_of_chosen_regions),
		cmocka_unit_test(the_peak_keeps_what_was_there_then),
		cmocka_unit_test(ranges_are_cut_and_moved),
		cmocka_unit_test(a_series_keeps_its_ends_and_its_peak),
		cmocka_unit_test(a_time_without_change_takes_two_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
