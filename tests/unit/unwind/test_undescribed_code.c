// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/undescribed_code: rows from instructions. The code is what assemblers make of
 * the comments. */
#include <string.h>

#include "undescribed_rows.h"

static void follows_what_is_pushed_and_popped(void **state)
{
	struct rows rows = run(BYTES(0x53,			      /* 0: push %rbx */
				     0x55,			      /* 1: push %rbp */
				     0x48, 0x81, 0xec, 0, 1, 0, 0,    /* 2: sub $0x100,%rsp */
				     0x31, 0xed,		      /* 9: xor %ebp,%ebp */
				     0x48, 0x83, 0xec, 0x80,	      /* 11: sub $-128,%rsp */
				     0x48, 0x81, 0xc4, 0x80, 0, 0, 0, /* 15: add $0x80,%rsp */
				     0x5d,			      /* 22: pop %rbp */
				     0x5b,			      /* 23: pop %rbx */
				     0xc3));			      /* 24: ret */

	(void)state;
	check_cfa(&rows, 0, PKBPF_CFA_SP, 8);
	check_fp(&rows, 0, PKBPF_FP_SAME, 0);
	check_cfa(&rows, 1, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 2, PKBPF_CFA_SP, 24);
	check_fp(&rows, 2, PKBPF_FP_CFA, -24);
	check_cfa(&rows, 9, PKBPF_CFA_SP, 24 + 0x100);
	check_fp(&rows, 11, PKBPF_FP_CFA, -24);
	check_cfa(&rows, 15, PKBPF_CFA_SP, 24 + 0x80);
	check_cfa(&rows, 22, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 23, PKBPF_CFA_SP, 16);
	check_fp(&rows, 23, PKBPF_FP_SAME, 0);
	check_cfa(&rows, 24, PKBPF_CFA_SP, 8);
}

static void knows_when_the_frame_pointer_is_lost_and_where_it_is_stored(void **state)
{
	struct rows lost = run(BYTES(0x89, 0xfd,		     /* 0: mov %edi,%ebp */
				     0xc3));			     /* 2: ret */
	struct rows stored = run(BYTES(0x48, 0x83, 0xec, 0x18,	     /* 0: sub $24,%rsp */
				       0x48, 0x89, 0x6c, 0x24, 0x08, /* 4: mov %rbp,8(%rsp) */
				       0x48, 0x8d, 0x2f,	     /* 9: lea (%rdi),%rbp */
				       0x48, 0x8b, 0x6c, 0x24, 0x08, /* 12: mov 8(%rsp),%rbp */
				       0x48, 0x83, 0xc4, 0x18,	     /* 17: add $24,%rsp */
				       0xc3));			     /* 21: ret */
	struct rows kept = run(BYTES(0x48, 0x8d, 0x6d, 0x00,	     /* 0: lea 0(%rbp),%rbp */
				     0xc3));			     /* 4: ret */

	(void)state;
	check_fp(&kept, 4, PKBPF_FP_SAME, 0);
	check_fp(&lost, 0, PKBPF_FP_SAME, 0);
	check_fp(&lost, 2, PKBPF_FP_UNDEFINED, 0);
	check_cfa(&lost, 2, PKBPF_CFA_SP, 8);
	check_fp(&stored, 4, PKBPF_FP_SAME, 0);
	check_fp(&stored, 9, PKBPF_FP_CFA, -24);
	check_fp(&stored, 12, PKBPF_FP_CFA, -24);
	check_fp(&stored, 17, PKBPF_FP_SAME, 0);
	check_cfa(&stored, 21, PKBPF_CFA_SP, 8);
}

static void goes_by_a_frame_pointer_that_is_set_up_as_compilers_do(void **state)
{
	struct rows rows = run(BYTES(0x55,		     /* 0: push %rbp */
				     0x48, 0x89, 0xe5,	     /* 1: mov %rsp,%rbp */
				     0x48, 0x29, 0xfc,	     /* 4: sub %rdi,%rsp */
				     0x48, 0x83, 0xe4, 0xc0, /* 7: and $-64,%rsp */
				     0xc9,		     /* 11: leave */
				     0xc3));		     /* 12: ret */

	(void)state;
	check_cfa(&rows, 1, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 4, PKBPF_CFA_FP, 16);
	check_fp(&rows, 4, PKBPF_FP_CFA, -16);
	check_cfa(&rows, 11, PKBPF_CFA_FP, 16);
	check_cfa(&rows, 12, PKBPF_CFA_SP, 8);
	check_fp(&rows, 12, PKBPF_FP_SAME, 0);
}

/* Video codecs: the caller's stack pointer is kept in a slot of the aligned stack. */
static void finds_the_caller_through_a_slot_of_an_aligned_stack(void **state)
{
	struct rows rows = run(BYTES(0x41, 0x54,		   /* 0: push %r12 */
				     0x48, 0x89, 0xe0,		   /* 2: mov %rsp,%rax */
				     0x48, 0x83, 0xe4, 0xe0,	   /* 5: and $-32,%rsp */
				     0x48, 0x83, 0xec, 0x60,	   /* 9: sub $0x60,%rsp */
				     0x48, 0x89, 0x44, 0x24, 0x40, /* 13: mov %rax,0x40(%rsp) */
				     0x31, 0xc0,		   /* 18: xor %eax,%eax */
				     0x50,			   /* 20: push %rax */
				     0x58,			   /* 21: pop %rax */
				     0x48, 0x8b, 0x64, 0x24, 0x40, /* 22: mov 0x40(%rsp),%rsp */
				     0x41, 0x5c,		   /* 27: pop %r12 */
				     0xc3));			   /* 29: ret */

	(void)state;
	check_cfa(&rows, 5, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 9, PKBPF_CFA_REGISTER, 16);
	assert_int_equal(rule_at(&rows, 9)->aux, 0); /* rax */
	check_cfa(&rows, 18, PKBPF_CFA_SP_DEREF, 0x40);
	assert_int_equal(rule_at(&rows, 18)->aux, 2); /* the slot's value + 2 * 8 */
	check_cfa(&rows, 20, PKBPF_CFA_SP_DEREF, 0x40);
	check_cfa(&rows, 21, PKBPF_CFA_SP_DEREF, 0x48);
	check_cfa(&rows, 27, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 29, PKBPF_CFA_SP, 8);
}

/* libjpeg-turbo: the slot is where the frame pointer points to, and the stack goes on below. */
static void finds_the_caller_through_a_slot_at_the_frame_pointer(void **state)
{
	struct rows rows =
		run(BYTES(0x55,					 /* 0: push %rbp */
			  0x48, 0x89, 0xe0,			 /* 1: mov %rsp,%rax */
			  0x48, 0x83, 0xec, 0x04,		 /* 4: sub $4,%rsp */
			  0x48, 0x83, 0xe4, 0xe0,		 /* 8: and $-32,%rsp */
			  0x48, 0x89, 0x04, 0x24,		 /* 12: mov %rax,(%rsp) */
			  0x48, 0x89, 0xe5,			 /* 16: mov %rsp,%rbp */
			  0x48, 0x8d, 0xa5, 0, 0xff, 0xff, 0xff, /* 19: lea -0x100(%rbp),%rsp */
			  0x41, 0x52,				 /* 26: push %r10 */
			  0x31, 0xc0,				 /* 28: xor %eax,%eax */
			  0x41, 0x5a,				 /* 30: pop %r10 */
			  0x31, 0xed,				 /* 32: xor %ebp,%ebp */
			  0x48, 0x81, 0xc4, 0, 0x01, 0, 0,	 /* 34: add $0x100,%rsp */
			  0x5c,					 /* 41: pop %rsp */
			  0x5d,					 /* 42: pop %rbp */
			  0xc3));				 /* 43: ret */

	(void)state;
	check_cfa(&rows, 12, PKBPF_CFA_REGISTER, 16);
	check_cfa(&rows, 16, PKBPF_CFA_SP_DEREF, 0);
	check_cfa(&rows, 19, PKBPF_CFA_FP_DEREF, 0);
	assert_int_equal(rule_at(&rows, 19)->aux, 2); /* the slot's value + 2 * 8 */
	check_fp(&rows, 19, PKBPF_FP_CFA, -16);
	check_cfa(&rows, 30, PKBPF_CFA_FP_DEREF, 0);
	/* Known from there, when the frame pointer is something else. */
	check_cfa(&rows, 34, PKBPF_CFA_SP_DEREF, 0x100);
	check_fp(&rows, 34, PKBPF_FP_CFA, -16);
	check_cfa(&rows, 41, PKBPF_CFA_SP_DEREF, 0);
	check_cfa(&rows, 42, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 43, PKBPF_CFA_SP, 8);
	check_fp(&rows, 43, PKBPF_FP_SAME, 0);
}

/* Linear algebra: in a register that the function keeps for it. */
static void finds_the_caller_through_a_register(void **state)
{
	struct rows rows =
		run(BYTES(0x48, 0x83, 0xec, 0x60,		 /* 0: sub $0x60,%rsp */
			  0x48, 0x89, 0x1c, 0x24,		 /* 4: mov %rbx,(%rsp) */
			  0x48, 0x89, 0xe3,			 /* 8: mov %rsp,%rbx */
			  0x48, 0x81, 0xec, 0x80, 0x70, 0, 0,	 /* 11: sub $0x7080,%rsp */
			  0x48, 0x81, 0xe4, 0, 0xf0, 0xff, 0xff, /* 18: and $-4096,%rsp */
			  0xc5, 0xf5, 0xfd, 0xc2,		 /* 25: vpaddw %ymm2,%ymm1,%ymm0 */
			  0x48, 0x89, 0xdc,			 /* 29: mov %rbx,%rsp */
			  0x48, 0x8b, 0x1c, 0x24,		 /* 32: mov (%rsp),%rbx */
			  0x48, 0x83, 0xc4, 0x60,		 /* 36: add $0x60,%rsp */
			  0xc3));				 /* 40: ret */

	(void)state;
	check_cfa(&rows, 18, PKBPF_CFA_SP, 0x68 + 0x7080);
	check_cfa(&rows, 25, PKBPF_CFA_REGISTER, 0x68);
	assert_int_equal(rule_at(&rows, 25)->aux, 3); /* rbx */
	check_cfa(&rows, 32, PKBPF_CFA_SP, 0x68);
	check_cfa(&rows, 40, PKBPF_CFA_SP, 8);
}

/* A stack that is aligned, whose old pointer is in a register; then an instruction that writes to
 * this register. */
static void check_forgotten(uint8_t copy_to, const uint8_t *instruction, size_t size)
{
	uint8_t code[] = {0x48, 0x83, 0xec,
			  0x60,					 /* 0: sub $0x60,%rsp */
			  0x48, 0x89, (uint8_t)(0xe0 | copy_to), /* 4: mov %rsp,register */
			  0x48, 0x81, 0xec,
			  0x80, 0x70, 0,
			  0, /* 7: sub $0x7080,%rsp */
			  0x48, 0x81, 0xe4,
			  0,	0xf0, 0xff,
			  0xff, /* 14: and $-4096,%rsp */
			  0x90, /* 21: nop */
			  0x90, 0x90, 0x90,
			  0x90, 0x90, 0x90, /* 22: the instruction */
			  0x90, 0xc3};	    /* 28: nop; ret */
	struct rows rows;

	memcpy(code + 22, instruction, size);
	rows = run(code, sizeof(code));
	check_cfa(&rows, 22, PKBPF_CFA_REGISTER, 0x68);
	assert_int_equal(rule_at(&rows, 22)->aux, copy_to == 2 ? 1 : copy_to == 1 ? 2 : copy_to);
	check_cfa(&rows, 28, PKBPF_CFA_NONE, 0);
}

static void forgets_registers_that_are_written_beside_the_first_operand(void **state)
{
	(void)state;
	check_forgotten(3, BYTES(0xc4, 0xe2, 0xe3, 0xf6, 0xc8));       /* mulx %rax,%rbx,%rcx */
	check_forgotten(2, BYTES(0x48, 0x0f, 0xc7, 0x0e));	       /* cmpxchg16b (%rsi) */
	check_forgotten(3, BYTES(0x62, 0xf1, 0x7f, 0x08, 0x78, 0xd8)); /* vcvttsd2usi %xmm0,%ebx */
	check_forgotten(1, BYTES(0x66, 0x0f, 0x3a, 0x63, 0xc0, 0)); /* pcmpistri $0,%xmm0,%xmm0 */
	check_forgotten(3, BYTES(0xf3, 0x48, 0x0f, 0xae, 0xc3));    /* rdfsbase %rbx */
}

static void follows_segment_registers_that_are_pushed(void **state)
{
	struct rows rows = run(BYTES(0x0f, 0xa0, /* 0: push %fs */
				     0x0f, 0xa8, /* 2: push %gs */
				     0x0f, 0xa9, /* 4: pop %gs */
				     0x0f, 0xa1, /* 6: pop %fs */
				     0xc3));	 /* 8: ret */

	(void)state;
	check_cfa(&rows, 2, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 4, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 6, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 8, PKBPF_CFA_SP, 8);
}

static void has_no_row_where_nothing_leads_back(void **state)
{
	struct rows rows = run(BYTES(0x48, 0x29, 0xfc,		    /* 0: sub %rdi,%rsp */
				     0x90,			    /* 3: nop */
				     0xc3));			    /* 4: ret */
	struct rows overwritten = run(BYTES(0x48, 0x89, 0xe0,	    /* 0: mov %rsp,%rax */
					    0x48, 0x83, 0xe4, 0xe0, /* 3: and $-32,%rsp */
					    0xf7, 0xe1, /* 7: mul %ecx, which writes rax */
					    0xc3));	/* 9: ret */

	(void)state;
	check_cfa(&rows, 0, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 3, PKBPF_CFA_NONE, 0);
	check_cfa(&overwritten, 7, PKBPF_CFA_REGISTER, 8);
	check_cfa(&overwritten, 9, PKBPF_CFA_NONE, 0);
}

static void hands_the_frame_on_along_branches(void **state)
{
	struct rows rows = run(BYTES(0x53,	 /* 0: push %rbx */
				     0x85, 0xff, /* 1: test %edi,%edi */
				     0x74, 0x02, /* 3: je 7 */
				     0x5b,	 /* 5: pop %rbx */
				     0xc3,	 /* 6: ret */
				     0x53,	 /* 7: push %rbx */
				     0xeb, 0x02, /* 8: jmp 12 */
				     0xff, 0xc9, /* 10: dec %ecx, reached from below only */
				     0x75, 0xfc, /* 12: jne 10 */
				     0x58,	 /* 14: pop %rax */
				     0x5b,	 /* 15: pop %rbx */
				     0xc3));	 /* 16: ret */

	(void)state;
	check_cfa(&rows, 6, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 7, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 10, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 14, PKBPF_CFA_SP, 24);
	check_cfa(&rows, 16, PKBPF_CFA_SP, 8);
}

/* What is stored half a gibibyte away is no slot of this frame. */
static void takes_nothing_far_away_for_a_slot(void **state)
{
	struct rows rows =
		run(BYTES(0x48, 0x89, 0xe0,			 /* 0: mov %rsp,%rax */
			  0x48, 0x83, 0xe4, 0xe0,		 /* 3: and $-32,%rsp */
			  0x48, 0x89, 0x84, 0x24, 0, 0, 0, 0x20, /* 7: mov %rax,0x20000000(%rsp) */
			  0x31, 0xc0,				 /* 15: xor %eax,%eax */
			  0xc3));				 /* 17: ret */

	(void)state;
	check_cfa(&rows, 7, PKBPF_CFA_REGISTER, 8);
	check_cfa(&rows, 15, PKBPF_CFA_REGISTER, 8);
	check_cfa(&rows, 17, PKBPF_CFA_NONE, 0);
}

/* 0: push; 1: jmp 34; then padding; 16: dec, reached by the branch at 34 only, though it is aligned
 * as functions are. */
static void takes_an_aligned_loop_for_what_it_is(void **state)
{
	uint8_t code[48];
	struct rows rows;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, "\x53\xeb\x1f", 3);
	memcpy(code + 16, "\xff\xc9", 2);
	memcpy(code + 34, "\x75\xec\x5b\xc3", 4); /* jne 16; pop; ret */
	rows = run(code, sizeof(code));
	check_cfa(&rows, 16, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 34, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 37, PKBPF_CFA_SP, 8);
	check_cfa(&rows, 40, PKBPF_CFA_NONE, 0);
}

static void keeps_the_frame_behind_jumps_through_a_table(void **state)
{
	struct rows rows =
		run(BYTES(0x53,	      /* 0: push %rbx */
			  0xff, 0xe0, /* 1: jmp *%rax */
			  0x31, 0xc0, /* 3: xor %eax,%eax */
			  0x5b,	      /* 5: pop %rbx */
			  0xc3,	      /* 6: ret */
			  0x31, 0xc9, /* 7: xor %ecx,%ecx, reached through the table only */
			  0x5b,	      /* 9: pop %rbx */
			  0xc3));     /* 10: ret */

	(void)state;
	check_cfa(&rows, 3, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 7, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 10, PKBPF_CFA_SP, 8);
}

static void ends_the_stack_where_the_program_starts(void **state)
{
	struct rows rows = run_at(0x1000, 0x1000,
				  BYTES(0x31, 0xed,	  /* 0: xor %ebp,%ebp */
					0x48, 0x89, 0xe7, /* 2: mov %rsp,%rdi */
					0xe8, 1, 0, 0, 0, /* 5: call 11 */
					0xf4,		  /* 10: hlt */
					0x53,		  /* 11: push %rbx */
					0xc3));		  /* 12: ret */

	(void)state;
	check_cfa(&rows, 0x1000, PKBPF_CFA_END, 0);
	check_cfa(&rows, 0x1005, PKBPF_CFA_END, 0);
	check_cfa(&rows, 0x100b, PKBPF_CFA_SP, 8);
}

static void ends_the_stack_behind_a_jump_through_a_register(void **state)
{
	/* As make_fcontext() of Boost: nothing calls what is behind the jump, but a new stack may
	 * begin with its address. */
	struct rows rows = run(BYTES(0x48, 0x8d, 0x0d, 0x0b, 0, 0, 0, /* 0: lea 18(%rip),%rcx */
				     0x48, 0x89, 0x48, 0x30,	      /* 7: mov %rcx,48(%rax) */
				     0x53,			      /* 11: push %rbx */
				     0x41, 0xff, 0xe0,		      /* 12: jmp *%r8 */
				     0x31, 0xff,		      /* 15: xor %edi,%edi */
				     0x5b,			      /* 17: pop %rbx */
				     0xc3));			      /* 18: ret */

	(void)state;
	check_cfa(&rows, 12, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 13, PKBPF_CFA_SP, 16);
	check_cfa(&rows, 14, PKBPF_CFA_END, 0);
	check_cfa(&rows, 15, PKBPF_CFA_SP, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(follows_what_is_pushed_and_popped, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			knows_when_the_frame_pointer_is_lost_and_where_it_is_stored, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			goes_by_a_frame_pointer_that_is_set_up_as_compilers_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(finds_the_caller_through_a_slot_of_an_aligned_stack,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_nothing_far_away_for_a_slot, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			finds_the_caller_through_a_slot_at_the_frame_pointer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(finds_the_caller_through_a_register, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			forgets_registers_that_are_written_beside_the_first_operand, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(follows_segment_registers_that_are_pushed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(has_no_row_where_nothing_leads_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(hands_the_frame_on_along_branches, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_an_aligned_loop_for_what_it_is, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keeps_the_frame_behind_jumps_through_a_table,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_the_stack_where_the_program_starts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(ends_the_stack_behind_a_jump_through_a_register,
						set_up, tear_down),
	};

	return cmocka_run_group_tests_name("unwind/undescribed_code", tests, NULL, NULL);
}
