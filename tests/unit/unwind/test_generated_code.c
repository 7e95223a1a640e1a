// SPDX-License-Identifier: BSD-2-Clause
/* Rows of generated code, from the memory of processes that are made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/code/generated_code.h"

#define PID   7
#define START 0x7f0000000000ULL
#define PAGE  4096U
#define PAGES 600U
#define END   (START + PAGES * PAGE)

/* push of six registers; sub $0x48,%rsp; a loop; add $0x48,%rsp; the same registers; ret */
static const uint8_t kernel[] = {
	0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x83, 0xec,
	0x48, 0x31, 0xed, 0x89, 0xf9, 0xff, 0xc5, 0xff, 0xc9, 0x75, 0xfa, 0x48, 0x83,
	0xc4, 0x48, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3,
};
#define AFTER_PUSHES 10
#define IN_LOOP	     18

struct fixture {
	struct generated_code *code;
	uint8_t *memory;
	bool present[PAGES];
	bool gone;
	unsigned int reads, changes;
	uint64_t now_ns;
};

static int pages(void *context, uint32_t pid, uint64_t start, size_t count, bool *present)
{
	struct fixture *fixture = context;

	assert_int_equal(pid, PID);
	memcpy(present, &fixture->present[(start - START) / PAGE], count * sizeof(*present));
	return 0;
}

static int read_memory(void *context, uint32_t pid, uint64_t address, void *buffer, size_t size)
{
	struct fixture *fixture = context;

	assert_true(fixture->present[(address - START) / PAGE]);
	memcpy(buffer, fixture->memory + (address - START), size);
	fixture->reads++;
	return 0;
}

static bool exists(void *context, uint32_t pid, uint64_t start, uint64_t end)
{
	return !((struct fixture *)context)->gone;
}

static void on_change(void *context, uint32_t pid)
{
	((struct fixture *)context)->changes++;
}

static int begin(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct generated_code_memory memory = {pages, read_memory, fixture};

	fixture->memory = calloc(PAGES, PAGE);
	fixture->code = generated_code_new(&memory);
	assert_non_null(fixture->code);
	fixture->now_ns = NS_PER_SECOND;
	*state = fixture;
	return 0;
}

static int end(void **state)
{
	struct fixture *fixture = *state;

	generated_code_free(fixture->code);
	free(fixture->memory);
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture, uint32_t offset, const void *bytes, size_t size)
{
	memcpy(fixture->memory + offset, bytes, size);
	for (uint32_t page = offset / PAGE; page <= (offset + size - 1) / PAGE; page++)
		fixture->present[page] = true;
}

static void wait_and_poll(struct fixture *fixture, uint64_t ns)
{
	fixture->now_ns += ns;
	generated_code_poll(fixture->code, fixture->now_ns, exists, on_change, fixture);
}

static void want_in_doubt(struct fixture *fixture, enum generated_code_doubt doubt)
{
	generated_code_want(fixture->code, PID, START, END, doubt, fixture->now_ns);
	wait_and_poll(fixture, 0);
}

static void want(struct fixture *fixture)
{
	want_in_doubt(fixture, GENERATED_CODE_FAILED);
}

/* Of the CFA from the stack pointer; 0: there is no such rule. */
static int32_t offset_at(struct fixture *fixture, uint32_t offset)
{
	struct pkbpf_unwind_rule rule;

	if (!generated_code_find_rule(fixture->code, PID, START + offset, &rule) ||
	    rule.cfa != PKBPF_CFA_SP)
		return 0;
	return rule.cfa_offset;
}

static bool has_rows(struct fixture *fixture)
{
	return generated_code_has(fixture->code, PID, START, END);
}

static void believes_code_that_two_looks_find_the_same(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 64 * PAGE, kernel, sizeof(kernel));
	want(fixture);
	assert_false(has_rows(fixture));
	assert_int_equal(offset_at(fixture, 64 * PAGE), 0);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_true(has_rows(fixture));
	assert_int_equal(fixture->changes, 1);
	assert_int_equal(offset_at(fixture, 64 * PAGE), 8);
	assert_int_equal(offset_at(fixture, 64 * PAGE + AFTER_PUSHES), 56);
	assert_int_equal(offset_at(fixture, 64 * PAGE + IN_LOOP), 128);
	assert_int_equal(offset_at(fixture, 64 * PAGE + sizeof(kernel) - 1), 8);
	assert_int_equal(offset_at(fixture, 65 * PAGE), 0);
	assert_int_equal(offset_at(fixture, 63 * PAGE), 0);
	assert_false(generated_code_has(fixture->code, PID, START, END + PAGE));
	assert_false(generated_code_has(fixture->code, PID + 1, START, END));
}

static void does_not_touch_pages_without_memory(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 5 * PAGE, kernel,
	    sizeof(kernel)); /* the fixture asserts that no other page is read */
	want(fixture);
	assert_int_equal(fixture->reads, 1);
}

static void code_that_goes_on_changing_is_looked_at_ever_more_seldom(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	want(fixture);
	for (unsigned int i = 0; i < 600; i++) {
		fixture->memory[sizeof(kernel) + i]++;
		wait_and_poll(fixture, NS_PER_SECOND / 10);
		assert_false(has_rows(fixture));
	}
	assert_in_range(fixture->reads, 5, 12);
	wait_and_poll(fixture, NS_PER_SECOND * 60);
	wait_and_poll(fixture, NS_PER_SECOND * 60);
	assert_true(has_rows(fixture));
}

static void rows_go_when_the_code_has_changed(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	wait_and_poll(fixture, NS_PER_SECOND * 3);
	assert_true(has_rows(fixture));
	assert_int_equal(fixture->changes, 1);
	put(fixture, PAGE, kernel, sizeof(kernel));
	wait_and_poll(fixture, NS_PER_SECOND * 3);
	assert_false(has_rows(fixture));
	assert_int_equal(offset_at(fixture, 0), 0);
	assert_int_equal(fixture->changes, 2);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_int_equal(offset_at(fixture, PAGE + IN_LOOP), 128);
	assert_int_equal(fixture->changes, 3);
}

static void forgets_mappings_that_have_gone(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	fixture->gone = true;
	wait_and_poll(fixture, NS_PER_SECOND * 3);
	assert_false(has_rows(fixture));
	assert_int_equal(offset_at(fixture, 0), 0);
}

static void rows_that_mostly_mislead_are_given_up_until_the_code_changes(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	/* However long they have been good for something. */
	for (unsigned int i = 0; i < 100000; i++)
		generated_code_note_walk(fixture->code, PID, START, i % 8 != 0);
	assert_true(has_rows(fixture));
	for (unsigned int i = 0; i < 600; i++)
		generated_code_note_walk(fixture->code, PID, START, false);
	assert_false(has_rows(fixture));
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	assert_false(has_rows(fixture));
	assert_int_equal(fixture->changes, 2);
	fixture->memory[100] = 0xc3;
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	assert_true(has_rows(fixture));
}

static void leaves_code_alone_that_keeps_frame_pointers(void **state)
{
	static const uint8_t function[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
	struct fixture *fixture = *state;

	for (unsigned int i = 0; i < 64; i++)
		put(fixture, i * 64, function, sizeof(function));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(has_rows(fixture));
}

static void reads_code_that_a_frame_pointer_may_have_led_past(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	want_in_doubt(fixture, GENERATED_CODE_UNPROVEN);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_int_equal(offset_at(fixture, IN_LOOP), 128);
}

static void finds_the_functions_of_hotspot_between_its_data(void **state)
{
	/* push %rax in the data; mov %eax,-0x14000(%rsp); push %rbp; sub $0x10,%rsp; call *%rax;
	 * add $0x10,%rsp; pop %rbp; ret */
	static const uint8_t data[] = {0x50};
	static const uint8_t function[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,
					   0x55, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd0,
					   0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
	struct fixture *fixture = *state;

	put(fixture, PAGE, data, sizeof(data));
	put(fixture, PAGE + 32, function, sizeof(function));
	want_in_doubt(fixture, GENERATED_CODE_UNPROVEN);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_int_equal(offset_at(fixture, PAGE + 32), 8);
	assert_int_equal(offset_at(fixture, PAGE + 32 + 12), 32);
}

/* Java with -XX:+PreserveFramePointer: beside each function there is much that reads like
 * others. */
static void leaves_functions_of_hotspot_alone_that_keep_frame_pointers(void **state)
{
	/* mov %eax,-0x14000(%rsp); push %rbp; mov %rsp,%rbp; call *%rax; pop %rbp; ret */
	static const uint8_t function[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55,
					   0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
	struct fixture *fixture = *state;

	for (unsigned int page = 0; page < 4; page++) {
		for (unsigned int at = 0; at < PAGE; at += 64)
			put(fixture, page * PAGE + at, kernel, sizeof(kernel));
		put(fixture, page * PAGE + 1024, function, sizeof(function));
	}
	want_in_doubt(fixture, GENERATED_CODE_UNPROVEN);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(has_rows(fixture));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_true(has_rows(fixture));
}

static void reads_code_with_some_frame_pointers_once_a_walk_has_failed(void **state)
{
	static const uint8_t function[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
	struct fixture *fixture = *state;

	put(fixture, 0, function, sizeof(function));
	want_in_doubt(fixture, GENERATED_CODE_UNPROVEN);
	for (unsigned int i = 0; i < 300; i++)
		wait_and_poll(fixture, NS_PER_SECOND / 10);
	assert_false(has_rows(fixture));
	assert_int_equal(fixture->reads, 2);
	want_in_doubt(fixture, GENERATED_CODE_INHERITED);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(has_rows(fixture));
	want_in_doubt(fixture, GENERATED_CODE_FAILED);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_true(has_rows(fixture));
}

static void walks_go_by_frame_pointers_where_rows_mislead_and_these_have_not_failed(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, 0, kernel, sizeof(kernel));
	assert_false(generated_code_note_walk(fixture->code, PID, START, false));
	want_in_doubt(fixture, GENERATED_CODE_UNPROVEN);
	wait_and_poll(fixture, NS_PER_SECOND);
	for (unsigned int i = 0; i < 16; i++)
		assert_true(generated_code_note_walk(fixture->code, PID, START, false));
	assert_false(has_rows(fixture));
	fixture->memory[100] = 0xc3;
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	wait_and_poll(fixture, NS_PER_SECOND * 10);
	assert_true(has_rows(fixture));
	assert_false(generated_code_note_walk(fixture->code, PID, START, false));
}

static void code_where_no_walk_has_failed_makes_room_for_other(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int i = 0; i < GENERATED_CODE_REGIONS; i++)
		generated_code_want(fixture->code, PID, START + i * PAGE, START + i * PAGE + PAGE,
				    GENERATED_CODE_UNPROVEN, fixture->now_ns);
	put(fixture, (PAGES - 1) * PAGE, kernel, sizeof(kernel));
	generated_code_want(fixture->code, PID, END - PAGE, END, GENERATED_CODE_UNPROVEN,
			    fixture->now_ns);
	wait_and_poll(fixture, 0);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(generated_code_has(fixture->code, PID, END - PAGE, END));
	generated_code_want(fixture->code, PID, END - PAGE, END, GENERATED_CODE_FAILED,
			    fixture->now_ns);
	wait_and_poll(fixture, NS_PER_SECOND);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_true(generated_code_has(fixture->code, PID, END - PAGE, END));
}

static void leaves_code_alone_that_has_a_row_for_each_byte(void **state)
{
	struct fixture *fixture = *state;
	uint8_t pushes_and_pops[64 * PAGE];

	for (size_t i = 0; i < sizeof(pushes_and_pops); i++)
		pushes_and_pops[i] = i % 2 ? 0x58 : 0x50;
	pushes_and_pops[sizeof(pushes_and_pops) - 1] = 0xc3;
	pushes_and_pops[sizeof(pushes_and_pops) - 2] = 0x90;
	put(fixture, 0, pushes_and_pops, sizeof(pushes_and_pops));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND * 100);
	wait_and_poll(fixture, NS_PER_SECOND * 100);
	assert_false(has_rows(fixture));
}

static void code_that_never_rests_makes_room_for_other(void **state)
{
	struct fixture *fixture = *state;

	/* Other mappings of the process; what is read there is the same memory. */
	for (unsigned int i = 0; i < GENERATED_CODE_REGIONS; i++)
		generated_code_want(fixture->code, PID, START + i * PAGE, START + i * PAGE + PAGE,
				    GENERATED_CODE_FAILED, fixture->now_ns);
	put(fixture, (PAGES - 1) * PAGE, kernel, sizeof(kernel));
	generated_code_want(fixture->code, PID, END - PAGE, END, GENERATED_CODE_FAILED,
			    fixture->now_ns);
	wait_and_poll(fixture, NS_PER_SECOND);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(generated_code_has(fixture->code, PID, END - PAGE, END));
	for (unsigned int i = 0; i < 20; i++)
		wait_and_poll(fixture, NS_PER_SECOND * 60);
	generated_code_want(fixture->code, PID, END - PAGE, END, GENERATED_CODE_FAILED,
			    fixture->now_ns);
	wait_and_poll(fixture, NS_PER_SECOND);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_true(generated_code_has(fixture->code, PID, END - PAGE, END));
}

static void refuses_what_is_too_much(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int i = 0; i < PAGES; i++)
		put(fixture, i * PAGE, kernel, sizeof(kernel));
	want(fixture);
	wait_and_poll(fixture, NS_PER_SECOND);
	assert_false(has_rows(fixture));
	assert_true(fixture->reads <= 2 * (GENERATED_CODE_REGION_BYTES / PAGE));
	for (uint32_t pid = PID + 1; pid < PID + 200; pid++)
		generated_code_want(fixture->code, pid, START, END, GENERATED_CODE_FAILED,
				    fixture->now_ns + NS_PER_SECOND * 1000);
	generated_code_want(fixture->code, PID, END, END + GENERATED_CODE_MAX_SPAN + PAGE,
			    GENERATED_CODE_FAILED, fixture->now_ns);
	generated_code_want(fixture->code, PID, END, END, GENERATED_CODE_FAILED, fixture->now_ns);
	generated_code_want(fixture->code, PID, END + 1, END + PAGE, GENERATED_CODE_FAILED,
			    fixture->now_ns);
	fixture->gone = true;
	wait_and_poll(fixture, NS_PER_SECOND * 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(believes_code_that_two_looks_find_the_same, begin,
						end),
		cmocka_unit_test_setup_teardown(does_not_touch_pages_without_memory, begin, end),
		cmocka_unit_test_setup_teardown(
			code_that_goes_on_changing_is_looked_at_ever_more_seldom, begin, end),
		cmocka_unit_test_setup_teardown(rows_go_when_the_code_has_changed, begin, end),
		cmocka_unit_test_setup_teardown(forgets_mappings_that_have_gone, begin, end),
		cmocka_unit_test_setup_teardown(
			rows_that_mostly_mislead_are_given_up_until_the_code_changes, begin, end),
		cmocka_unit_test_setup_teardown(leaves_code_alone_that_keeps_frame_pointers, begin,
						end),
		cmocka_unit_test_setup_teardown(reads_code_that_a_frame_pointer_may_have_led_past,
						begin, end),
		cmocka_unit_test_setup_teardown(finds_the_functions_of_hotspot_between_its_data,
						begin, end),
		cmocka_unit_test_setup_teardown(
			leaves_functions_of_hotspot_alone_that_keep_frame_pointers, begin, end),
		cmocka_unit_test_setup_teardown(
			reads_code_with_some_frame_pointers_once_a_walk_has_failed, begin, end),
		cmocka_unit_test_setup_teardown(
			walks_go_by_frame_pointers_where_rows_mislead_and_these_have_not_failed,
			begin, end),
		cmocka_unit_test_setup_teardown(code_where_no_walk_has_failed_makes_room_for_other,
						begin, end),
		cmocka_unit_test_setup_teardown(leaves_code_alone_that_has_a_row_for_each_byte,
						begin, end),
		cmocka_unit_test_setup_teardown(code_that_never_rests_makes_room_for_other, begin,
						end),
		cmocka_unit_test_setup_teardown(refuses_what_is_too_much, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
