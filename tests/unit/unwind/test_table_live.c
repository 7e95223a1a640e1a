// SPDX-License-Identifier: BSD-2-Clause
/* Tables of code that changes: published whole, again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "unwind/hotspot/hotspot_table.h"
#include "unwind/table/table_live.h"

#define WAIT_NS (30 * NS_PER_SECOND)
#define TEXT	0x7f0000000000ULL
#define PAGE	4096U

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct table_cache *cache;
};

static void begin(struct fixture *fixture)
{
	struct table_cache_options options = {.max_chunks = 4, .initial_chunks = 1};

	plain_memory_init(&fixture->plain, 64, 4);
	options.files = fixture->files = mapped_file_table_new("");
	assert_non_null(fixture->files);
	fixture->cache = table_cache_new(&fixture->plain.memory, &options);
	assert_non_null(fixture->cache);
}

static void end(struct fixture *fixture)
{
	table_cache_free(fixture->cache);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
}

/* Rule 5 everywhere, but rule 6 in a blob at an offset. Returns what table_live_set() does. */
static int try_set(struct fixture *fixture, struct table_live *live, uint32_t pages,
		   uint32_t blob_at, int32_t size)
{
	const struct pkbpf_unwind_rule rules[] = {
		[RULE_ID_FIXED_COUNT] = {.cfa = PKBPF_CFA_PENDING},
		[RULE_ID_FIXED_COUNT + 1] = {.cfa = PKBPF_CFA_SP, .cfa_offset = size},
	};
	const struct hotspot_row row = {0, RULE_ID_FIXED_COUNT + 1};
	struct hotspot_table *table = hotspot_table_new(TEXT, pages, RULE_ID_FIXED_COUNT);
	struct unwind_table *finished;

	assert_non_null(table);
	hotspot_table_add(table, TEXT + blob_at, TEXT + blob_at + 64, &row, 1);
	finished = hotspot_table_finish(table);
	assert_non_null(finished);
	return table_live_set(fixture->cache, live, finished, rules,
			      sizeof(rules) / sizeof(rules[0]));
}

static void set(struct fixture *fixture, struct table_live *live, uint32_t pages, uint32_t blob_at,
		int32_t size)
{
	assert_int_equal(try_set(fixture, live, pages, blob_at, size), 0);
}

/* As the kernel side finds it; PKBPF_CFA_NONE: no table, or no rule. */
static struct pkbpf_unwind_rule rule_at(struct fixture *fixture, struct table_live *live,
					uint32_t offset)
{
	const struct table_memory *memory = &fixture->plain.memory;
	const struct pkbpf_unwind_file *file = &memory->files[table_live_file(live)];
	const struct pkbpf_unwind_page *page;
	const uint32_t *rows;
	uint32_t at = 0;

	if (!(__atomic_load_n(&file->flags, __ATOMIC_ACQUIRE) & PKBPF_FILE_READY) ||
	    offset / PAGE >= file->page_count)
		return (struct pkbpf_unwind_rule){0};
	assert_int_equal(file->text_start, TEXT);
	page = &memory->pages[file->first_page + offset / PAGE];
	rows = plain_memory_rows(&fixture->plain, page->first);
	assert_true(page->count > 0);
	assert_int_equal(PKBPF_ROW_OFFSET(rows[0]), 0);
	while (at + 1 < page->count && PKBPF_ROW_OFFSET(rows[at + 1]) <= offset % PAGE)
		at++;
	return memory->rules[PKBPF_ROW_RULE(rows[at])];
}

static void await(struct fixture *fixture, struct table_live *live, uint32_t offset, int32_t size)
{
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	while (rule_at(fixture, live, offset).cfa_offset != size) {
		assert_true(clock_now_ns() < until_ns);
		usleep(1000);
	}
}

static void publishes_each_change(void **state)
{
	struct fixture fixture;
	struct table_live *live;
	uint32_t edition;

	begin(&fixture);
	live = table_live_new(fixture.cache);
	assert_non_null(live);
	assert_false(table_live_is_ready(fixture.cache, live));
	set(&fixture, live, 4, PAGE + 128, 48);
	await(&fixture, live, PAGE + 128, 48);
	assert_true(table_live_is_ready(fixture.cache, live));
	edition = fixture.plain.memory.files[table_live_file(live)].edition;
	assert_int_equal(rule_at(&fixture, live, PAGE + 127).cfa, PKBPF_CFA_PENDING);
	assert_int_equal(rule_at(&fixture, live, PAGE + 191).cfa, PKBPF_CFA_SP);
	assert_int_equal(rule_at(&fixture, live, PAGE + 192).cfa, PKBPF_CFA_PENDING);
	assert_int_equal(rule_at(&fixture, live, 3 * PAGE).cfa, PKBPF_CFA_PENDING);
	/* Other code at the place, and other bounds. */
	set(&fixture, live, 4, PAGE + 128, 80);
	await(&fixture, live, PAGE + 128, 80);
	assert_int_not_equal(fixture.plain.memory.files[table_live_file(live)].edition, edition);
	set(&fixture, live, 6, 5 * PAGE, 96);
	await(&fixture, live, 5 * PAGE + 4, 96);
	assert_int_equal(rule_at(&fixture, live, PAGE + 128).cfa, PKBPF_CFA_PENDING);
	end(&fixture);
}

static void two_are_apart_and_room_is_used_again(void **state)
{
	struct fixture fixture;
	struct table_live *one, *other;

	begin(&fixture);
	one = table_live_new(fixture.cache);
	other = table_live_new(fixture.cache);
	assert_non_null(one);
	assert_non_null(other);
	assert_int_not_equal(table_live_file(one), table_live_file(other));
	/* There are 64 pages, so the ones before have to be given back. */
	for (int32_t i = 1; i < 40; i++) {
		set(&fixture, one, 12, PAGE, i * 8);
		set(&fixture, other, 12, 2 * PAGE, i * 8 + 4096);
		await(&fixture, one, PAGE, i * 8);
		await(&fixture, other, 2 * PAGE, i * 8 + 4096);
	}
	table_live_drop(fixture.cache, one);
	assert_int_equal(rule_at(&fixture, other, 2 * PAGE).cfa, PKBPF_CFA_SP);
	end(&fixture);
}

/* A mapping that is published with the number may stay for a while. */
static void a_dropped_number_is_not_given_to_another_at_once(void **state)
{
	struct fixture fixture;
	struct table_live *live, *next;
	uint32_t number;

	begin(&fixture);
	live = table_live_new(fixture.cache);
	set(&fixture, live, 4, PAGE, 48);
	await(&fixture, live, PAGE, 48);
	number = table_live_file(live);
	table_live_drop(fixture.cache, live);
	assert_int_equal(fixture.plain.memory.files[number].flags & PKBPF_FILE_READY, 0);
	next = table_live_new(fixture.cache);
	assert_non_null(next);
	assert_int_not_equal(table_live_file(next), number);
	end(&fixture);
}

/* Tables of files need the rest. */
static void half_of_the_pages_is_for_all(void **state)
{
	struct fixture fixture;
	struct table_live *one, *other;

	(void)state;
	begin(&fixture);
	one = table_live_new(fixture.cache);
	other = table_live_new(fixture.cache);
	set(&fixture, one, 20, PAGE, 48);
	assert_int_equal(try_set(&fixture, other, 20, PAGE, 64), -ENOSPC);
	set(&fixture, other, 12, PAGE, 64);
	await(&fixture, other, PAGE, 64);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(publishes_each_change),
		cmocka_unit_test(two_are_apart_and_room_is_used_again),
		cmocka_unit_test(a_dropped_number_is_not_given_to_another_at_once),
		cmocka_unit_test(half_of_the_pages_is_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
