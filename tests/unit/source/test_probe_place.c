// SPDX-License-Identifier: BSD-2-Clause
#include "source/alloc/probe_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#if defined(__x86_64__)
#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

static void a_push_is_taken_as_it_is(void **state)
{
	assert_int_equal(probe_place_find(CODE("\x55\x53\x48\x89\xfb")), 0);
}

/* glibc's free: test %rdi,%rdi; je */
static void what_changes_nothing_is_passed(void **state)
{
	assert_int_equal(probe_place_find(CODE("\x48\x85\xff\x0f\x84\x10\x00\x00\x00")), 3);
	/* endbr64; mov %rdi,%rax; push %rbx */
	assert_int_equal(probe_place_find(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x53")), 7);
}

static void a_nop_of_five_bytes_is_no_place(void **state)
{
	/* nopl 0(%rax,%rax); push %rbp */
	assert_int_equal(probe_place_find(CODE("\x0f\x1f\x44\x00\x00\x55")), 5);
	/* nopl 0(%rax) is one that is stepped over; push %rbp */
	assert_int_equal(probe_place_find(CODE("\x0f\x1f\x40\x00\x55")), 4);
	/* nopl 0(%rax,%rax); xor %eax,%eax: there is no other place */
	assert_int_equal(probe_place_find(CODE("\x0f\x1f\x44\x00\x00\x31\xc0\x55")), -1);
}

static void arguments_stay_as_they_were(void **state)
{
	/* mov %rsi,%rdi; push %rbp */
	assert_int_equal(probe_place_find(CODE("\x48\x89\xf7\x55")), 0);
	/* sub $8,%rsp; push %rbp */
	assert_int_equal(probe_place_find(CODE("\x48\x83\xec\x08\x55")), 0);
	/* xor %eax,%eax is not known to be harmless; push */
	assert_int_equal(probe_place_find(CODE("\x31\xc0\x55")), 0);
}

static void code_that_ends_has_no_other_place(void **state)
{
	assert_int_equal(probe_place_find(CODE("\x48\x85")), 0);
	assert_int_equal(probe_place_find(CODE("")), 0);
	assert_int_equal(probe_place_find(CODE("\x48\x85\xff")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_push_is_taken_as_it_is),
		cmocka_unit_test(what_changes_nothing_is_passed),
		cmocka_unit_test(a_nop_of_five_bytes_is_no_place),
		cmocka_unit_test(arguments_stay_as_they_were),
		cmocka_unit_test(code_that_ends_has_no_other_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 77;
}
#endif
