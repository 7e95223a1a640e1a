// SPDX-License-Identifier: BSD-2-Clause
/* Memory of this process is read as that of a waiting thread's stack is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pkbpf/event.h>

#include "source/offcpu/offcpu_stack.h"

#define PAGE  4096
#define PAGES 70

struct fixture {
	uint8_t *memory;
	uint8_t copy[PAGES * PAGE];
};

static void begin(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(fixture->memory != MAP_FAILED);
	/* No page of it comes with others. */
	madvise(fixture->memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	if (sysconf(_SC_PAGESIZE) != PAGE)
		skip();
}

static void end(struct fixture *fixture)
{
	munmap(fixture->memory, PAGES * PAGE);
}

static void touch(struct fixture *fixture, uint32_t page)
{
	memset(fixture->memory + page * PAGE, (int)page + 1, PAGE);
}

static bool read_memory(struct fixture *fixture, size_t from, size_t room,
			struct raw_stack_extent *extent)
{
	extent->start = (uintptr_t)fixture->memory + from;
	return offcpu_stack_read((uint32_t)getpid(), (uint32_t)getpid(), fixture->copy, room,
				 extent);
}

static void pages_that_nobody_has_touched_are_left_out_and_stay_so(void **state)
{
	static struct fixture fixture;
	struct raw_stack_extent extent;
	unsigned char resident[PAGES];
	size_t offset;

	begin(&fixture);
	touch(&fixture, 0);
	for (uint32_t page = 9; page < 13; page++)
		touch(&fixture, page);
	assert_false(read_memory(&fixture, PAGE - 16, PAGES * PAGE, &extent));
	assert_int_equal(extent.size, 16 + 4 * PAGE);
	for (uint32_t page = 9; page < 13; page++) {
		assert_int_equal(raw_stack_find(&extent,
						(uintptr_t)fixture.memory + page * PAGE + 8, 8,
						&offset),
				 RAW_STACK_COPIED);
		assert_int_equal(fixture.copy[offset], page + 1);
	}
	assert_int_equal(fixture.copy[0], 1);
	assert_int_equal(extent.holes & 0x1fff, 0x1fe);
	assert_int_equal(mincore(fixture.memory, PAGES * PAGE, resident), 0);
	for (uint32_t page = 1; page < 9; page++)
		assert_int_equal(resident[page] & 1, 0);
	end(&fixture);
}

static void more_than_the_room_is_said_to_be_left(void **state)
{
	static struct fixture fixture;
	struct raw_stack_extent extent;

	begin(&fixture);
	for (uint32_t page = 0; page < PAGES; page++)
		touch(&fixture, page);
	assert_true(read_memory(&fixture, 0, 3 * PAGE - 8, &extent));
	assert_int_equal(extent.size, 3 * PAGE - 8);
	assert_int_equal(extent.holes, 0);
	/* Nor can a copy tell of more pages than it has bits. */
	assert_true(read_memory(&fixture, 8, PAGES * PAGE, &extent));
	assert_int_equal(extent.size, PKBPF_RAW_SPAN_PAGES * PAGE - 8);
	end(&fixture);
}

static void what_lies_behind_a_gap_of_many_pages_is_not_read(void **state)
{
	static struct fixture fixture;
	struct raw_stack_extent extent;

	begin(&fixture);
	touch(&fixture, 0);
	touch(&fixture, 12);
	assert_false(read_memory(&fixture, 0, PAGES * PAGE, &extent));
	assert_int_equal(extent.size, PAGE);
	end(&fixture);
}

static void memory_ends_where_its_mapping_does(void **state)
{
	static struct fixture fixture;
	struct raw_stack_extent extent;

	begin(&fixture);
	for (uint32_t page = 0; page < PAGES; page++)
		touch(&fixture, page);
	munmap(fixture.memory + 3 * PAGE, (PAGES - 3) * PAGE);
	assert_false(read_memory(&fixture, 0, PAGES * PAGE, &extent));
	assert_int_equal(extent.size, 3 * PAGE);
	munmap(fixture.memory, PAGE);
	assert_false(read_memory(&fixture, 0, PAGES * PAGE, &extent));
	assert_int_equal(extent.size, 0);
	end(&fixture);
}

static void nobody_has_no_memory(void **state)
{
	struct raw_stack_extent extent = {.start = 4096};
	uint8_t copy[64];

	assert_false(offcpu_stack_read(INT32_MAX, INT32_MAX, copy, sizeof(copy), &extent));
	assert_int_equal(extent.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_nobody_has_touched_are_left_out_and_stay_so),
		cmocka_unit_test(more_than_the_room_is_said_to_be_left),
		cmocka_unit_test(what_lies_behind_a_gap_of_many_pages_is_not_read),
		cmocka_unit_test(memory_ends_where_its_mapping_does),
		cmocka_unit_test(nobody_has_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
