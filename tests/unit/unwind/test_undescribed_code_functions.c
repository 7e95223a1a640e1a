// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/undescribed_code: where functions begin and end. The code is what assemblers
 * make of the comments. */
#include <string.h>

#include "undescribed_rows.h"

static void begins_anew_with_each_function(void **state)
{
	uint8_t code[80];
	struct rows rows;

	(void)state;
	memset(code, 0xcc, sizeof(code));
	memcpy(code, "\x53\xe8\x4a\0\0\0\x90", 7); /* push; a call that does not return; nop */
	memset(code + 7, 0x90, 9);
	memcpy(code + 16, "\x55\x5d\xc3", 3); /* push; pop; ret */
	memcpy(code + 32, "\x0f\x0b", 2);     /* ud2 */
	memcpy(code + 48, "\x06\x06", 2);     /* no instruction */
	memcpy(code + 64, "\x53\x5b\xc3", 3);
	rows = run(code, sizeof(code));
	check_cfa(&rows, 1, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 8, PKBPF_CFA_NONE, 0);
	check_cfa(&rows, 16, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 17, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 20, PKBPF_CFA_NONE, 0);
	check_cfa(&rows, 32, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 34, PKBPF_CFA_NONE, 0);
	check_cfa(&rows, 48, PKBPF_CFA_NONE, 0);
	check_cfa(&rows, 65, PKBPF_CFA_SP, 16);
}

static void gives_called_helpers_a_frame_of_their_own(void **state)
{
	struct rows rows = run(BYTES(0x53,		  /* 0: push %rbx */
				     0xe8, 0x03, 0, 0, 0, /* 1: call 9 */
				     0x5b,		  /* 6: pop %rbx */
				     0xc3,		  /* 7: ret */
				     0x90,		  /* 8: nop */
				     0xff, 0xc9,	  /* 9: dec %ecx */
				     0xc3));		  /* 11: ret */

	(void)state;
	check_cfa(&rows, 1, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 9, PKBPF_CFA_SP, 8);
}

static void leaves_a_function_that_may_go_on_to_the_next_piece(void **state)
{
	uint8_t code[64];
	struct rows rows = {0};
	size_t done;

	(void)state;
	memset(code, 0xcc, sizeof(code));
	memcpy(code, "\x53\x5b\xc3", 3);
	memcpy(code + 48, "\x53\x53\x53", 3);
	done = undescribed_code_run(work, &(struct code_piece){code, 51, 0, NO_ENTRY, false},
				    take_row, &rows);
	assert_int_equal(done, 48);
	assert_true(rows.items[rows.count - 1].offset < 48);
	/* A function that fills most of the piece cannot be left. */
	done = undescribed_code_run(work, &(struct code_piece){code, 3, 0, NO_ENTRY, false}, NULL,
				    NULL);
	assert_int_equal(done, 3);
	done = undescribed_code_run(work, &(struct code_piece){code, 1, 0, NO_ENTRY, false}, NULL,
				    NULL);
	assert_int_equal(done, 1);
	/* Each jumps over the next, so that all but the first two look like parts of these: jmp 16
	 * behind the next */
	for (size_t i = 0; i < sizeof(code); i += 16)
		memcpy(code + i, "\xeb\x1e", 2);
	done = undescribed_code_run(
		work, &(struct code_piece){code, sizeof(code), 0, NO_ENTRY, false}, NULL, NULL);
	assert_true(done >= sizeof(code) / 2);
}

static struct rows run_with_start(uint32_t start, const uint8_t *code, size_t size)
{
	struct rows rows;

	undescribed_code_set_starts(work, &start, 1);
	rows = run(code, size);
	undescribed_code_set_starts(work, NULL, 0);
	return rows;
}

static void begins_functions_where_they_are_known_to_begin(void **state)
{
	static const uint8_t two_entries[] = {0x53,		/* 0: push %rbx */
					      0x4d, 0x89, 0xc2, /* 1: mov %r8,%r10 */
					      0xeb, 0x06,	/* 4: jmp 12 */
					      0x53,		/* 6: push %rbx */
					      0x4d, 0x31, 0xd2, /* 7: xor %r10,%r10 */
					      0x0f, 0x0b,	/* 10: ud2 */
					      0x0f, 0x0b};	/* 12: ud2 */
	struct rows rows = run(two_entries, sizeof(two_entries));

	(void)state;
	/* What follows a jump is taken for a part of the same function. */
	check_cfa(&rows, 6, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 7, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 12, PKBPF_CFA_SP, 16);
	rows = run_with_start(6, two_entries, sizeof(two_entries));
	check_cfa(&rows, 1, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 6, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 7, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 10, PKBPF_CFA_SP, 16);
}

static void does_not_take_a_known_start_for_the_target_of_a_table(void **state)
{
	static const uint8_t code[] = {0x53,			     /* 0: push %rbx */
				       0xff, 0xe0,		     /* 1: jmp *%rax */
				       0x5b,			     /* 3: pop %rbx */
				       0xc3,			     /* 4: ret */
				       0x90, 0x90, 0x90, 0x90, 0x90, /* 5 */
				       0x90, 0x90, 0x90, 0x90, 0x90,
				       0x90, 0x89, 0xd1, /* 16: mov %edx,%ecx */
				       0x0f, 0x0b};	 /* 18: ud2 */
	struct rows rows = run(code, sizeof(code));

	(void)state;
	check_cfa(&rows, 16, PKBPF_CFA_SP, 16);
	rows = run_with_start(16, code, sizeof(code));
	check_cfa(&rows, 3, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 16, PKBPF_CFA_SP, 8);
}

static void put(uint8_t *to, const uint8_t *code, size_t size)
{
	memcpy(to, code, size);
}

/* A return finds the stack as the call left it. */
static void tells_functions_from_targets_of_a_table_by_their_returns(void **state)
{
	uint8_t code[64];
	struct rows rows;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put(code, BYTES(0x53, 0xff, 0xe0));	       /* 0: push %rbx; jmp *%rax */
	put(code + 16, BYTES(0x89, 0xd1, 0x5b, 0xc3)); /* 16: mov %edx,%ecx; pop %rbx; ret */
	put(code + 32, BYTES(0x89, 0xd1, 0xeb, 0xee)); /* 32: mov %edx,%ecx; jmp 18 */
	put(code + 48, BYTES(0x89, 0xd1, 0xc3));       /* 48: mov %edx,%ecx; ret */
	rows = run(code, sizeof(code));
	check_cfa(&rows, 16, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 32, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 48, PKBPF_CFA_SP, 8);
}

/* As in musl's allocator: a block that a branch leads to from behind HLT, aligned behind a
 * return. */
static void goes_on_behind_a_halt(void **state)
{
	uint8_t code[32];
	struct rows rows;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put(code, BYTES(0x53, 0x85, 0xff, 0x75, 5, 0xf4, 0x85, 0xf6, 0x74, 6, 0x5b,
			0xc3)); /* push; test; jne 10; hlt; test; je 16; pop; ret */
	put(code + 16, BYTES(0x31, 0xc0, 0x5b, 0xc3)); /* xor %eax,%eax; pop; ret */
	rows = run(code, 20);
	check_cfa(&rows, 6, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 10, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 16, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 19, PKBPF_CFA_SP, 8);
}

/* call X, at an offset of a piece */
static void put_call(uint8_t *code, size_t at, size_t called)
{
	int32_t distance = (int32_t)called - (int32_t)at - 5;

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

static void learns_which_functions_do_not_return(void **state)
{
	uint8_t code[128];
	struct rows rows;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put(code, BYTES(0x53, 0x85, 0xff, 0x74, 0x10)); /* 0: push %rbx; test; je 21 */
	put_call(code, 5, 96);				/* returns */
	put(code + 10, BYTES(0x85, 0xc0, 0x75, 7));	/* 10: test; jne 21 */
	code[14] = 0x50;				/* 14: push %rax */
	put_call(code, 15, 112);			/* never returns */
	code[20] = 0x50;				/* 20: push %rax, which nothing leads to */
	put(code + 21, BYTES(0x5b, 0xc3));		/* 21: pop %rbx; ret */
	code[32] = 0x53;				/* 32: push %rbx */
	put_call(code, 33, 112);
	put(code + 48,
	    BYTES(0x55, 0x53, 0x5b, 0x5d, 0xc3)); /* 48: push %rbp; push %rbx; pop; pop; ret */
	code[96] = 0xc3;
	put(code + 112, BYTES(0x0f, 0x0b));
	rows = run(code, sizeof(code));
	check_cfa(&rows, 10, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 15, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 21, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 22, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 33, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 48, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 49, PKBPF_CFA_SP, 16);
}

/* Compilers that save space leave the alignment out. */
static void finds_functions_that_are_not_aligned(void **state)
{
	static const uint8_t body[] = {0x53, 0x89, 0xfb, 0x5b,
				       0xc3}; /* push %rbx; mov %edi,%ebx; pop %rbx; ret */
	uint8_t code[256];
	struct rows rows;

	(void)state;
	for (size_t at = 0; at < 150; at += sizeof(body))
		memcpy(code + at, body, sizeof(body));
	/* 150: push %rbx; twenty calls of functions of which few are aligned; pop %rbx; ret */
	code[150] = 0x53;
	for (size_t i = 0; i < 20; i++)
		put_call(code, 151 + i * 5, i * 5);
	memcpy(code + 251, body + 3, 2);
	rows = run(code, 253);
	/* Of the last ten, which nobody calls, */
	for (uint32_t at = 100; at < 150; at += sizeof(body)) {
		check_cfa(&rows, at, PKBPF_CFA_SP, 8);
		check_cfa(&rows, at + 1, PKBPF_CFA_SP, 16);
	}
	check_cfa(&rows, 151, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 252, PKBPF_CFA_SP, 8);
}

/* lea of a function that nothing calls, in the middle of code that would be taken for the target of
 * a table */
static void follows_pointers_to_functions(void **state)
{
	uint8_t code[64];
	struct rows rows;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put(code, BYTES(0x53, 0x48, 0x8d, 0x3d, 0x21, 0, 0, 0, 0xff,
			0xe0));			 /* push %rbx; lea 41(%rip),%rdi; jmp *%rax */
	put(code + 41, BYTES(0x53, 0x0f, 0x0b)); /* 41: push %rbx; ud2 */
	rows = run(code, sizeof(code));
	check_cfa(&rows, 41, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 42, PKBPF_CFA_SP, 16);
}

static void does_not_read_over_a_known_start(void **state)
{
	struct rows rows = run_with_start(3, BYTES(0xc3,       /* 0: ret */
						   0x48, 0xb8, /* 1: data, or mov $…,%rax */
						   0x53,       /* 3: push %rbx */
						   0x5b,       /* 4: pop %rbx */
						   0xc3,       /* 5: ret */
						   0, 0, 0, 0, 0, 0));

	(void)state;
	check_cfa(&rows, 3, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 4, PKBPF_CFA_SP, 16);
	/* Nor as what fills space up: nopw 0x53(…) */
	rows = run_with_start(4, BYTES(0xc3,		 /* 0: ret */
				       0x0f, 0x1f, 0x40, /* 1 */
				       0x53,		 /* 4: push %rbx */
				       0x5b,		 /* 5: pop %rbx */
				       0xc3));		 /* 6: ret */
	check_cfa(&rows, 4, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 5, PKBPF_CFA_SP, 16);
}

static void known_starts_may_lie_anywhere(void **state)
{
	static const uint32_t starts[] = {0, 0x100, 0x101, 0x102, 0x103, UINT32_MAX};
	static const uint8_t code[] = {0x53, 0x53, 0x5b}; /* push; push; pop */
	struct rows rows;

	(void)state;
	undescribed_code_set_starts(work, starts, sizeof(starts) / sizeof(starts[0]));
	rows = run_at(0x100, NO_ENTRY, code, sizeof(code));
	assert_int_equal(rows.count, 1);
	check_cfa(&rows, 0x102, PKBPF_CFA_SP, 8);
	rows = run_at(0xfffffffe, NO_ENTRY, code, 2);
	check_cfa(&rows, 0xffffffff, PKBPF_CFA_SP, 8);
	undescribed_code_set_starts(work, NULL, 0);
}

static void counts_functions_that_use_the_frame_of_another(void **state)
{
	struct undescribed_counts before = undescribed_code_counts(work), after;

	(void)state;
	run(BYTES(0x48, 0x8b, 0x45, 0xf8, 0xc3)); /* mov -8(%rbp),%rax; ret */
	after = undescribed_code_counts(work);
	assert_true(after.functions > before.functions);
	assert_true(after.borrowed_frames > before.borrowed_frames);
	before = after;
	/* With a frame of its own: push %rbp; mov %rsp,%rbp; mov -8(%rbp),%rax; pop %rbp; ret */
	run(BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x45, 0xf8, 0x5d, 0xc3));
	after = undescribed_code_counts(work);
	assert_int_equal(after.borrowed_frames, before.borrowed_frames);
	assert_int_equal(undescribed_code_frame_pointers(
				 BYTES(0x55, 0x48, 0x89, 0xe5, 0x55, 0x48, 0x89, 0xe5, 0x55)),
			 2);
	assert_int_equal(undescribed_code_frame_pointers(
				 BYTES(0x55, 0x48, 0x8b, 0xec, 0x55, 0x48, 0x89, 0xe5, 0x55)),
			 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(begins_anew_with_each_function, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gives_called_helpers_a_frame_of_their_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(leaves_a_function_that_may_go_on_to_the_next_piece,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(begins_functions_where_they_are_known_to_begin,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			does_not_take_a_known_start_for_the_target_of_a_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(does_not_read_over_a_known_start, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			tells_functions_from_targets_of_a_table_by_their_returns, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(goes_on_behind_a_halt, set_up, tear_down),
		cmocka_unit_test_setup_teardown(learns_which_functions_do_not_return, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(finds_functions_that_are_not_aligned, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(follows_pointers_to_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(known_starts_may_lie_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_functions_that_use_the_frame_of_another,
						set_up, tear_down),
	};

	return cmocka_run_group_tests_name("unwind/undescribed_code_functions", tests, NULL, NULL);
}
