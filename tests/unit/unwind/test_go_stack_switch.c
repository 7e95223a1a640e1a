// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/go_stack_switch, on the instructions that matter of the shapes that exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/go_stack_switch.h"

#define LOAD_G_DIRECT  0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff /* %fs:-8,%rax */
#define LOAD_G_BY_RCX  0x64, 0x48, 0x8b, 0x01				    /* %fs:(%rcx),%rax */
#define RCX_IS_NUMBER  0x48, 0xc7, 0xc1, 0xf0, 0xff, 0xff, 0xff		    /* -16 */
#define RCX_IS_WORD    0x48, 0x8b, 0x0d, 0x00, 0x20, 0x00, 0x00		    /* 0x2000(%rip) */
#define LOAD_M	       0x48, 0x8b, 0x58, 0x30				    /* 0x30(%rax),%rbx */
#define LOAD_G0	       0x48, 0x8b, 0x13					    /* (%rbx),%rdx */
#define LOAD_CURG      0x48, 0x8b, 0x83, 0xc0, 0x00, 0x00, 0x00		    /* 0xc0(%rbx),%rax */
#define LOAD_SP_OF_RDX 0x48, 0x8b, 0x62, 0x38				    /* 0x38(%rdx),%rsp */
#define LOAD_SP_OF_RAX 0x48, 0x8b, 0x60, 0x38
#define CALL_RDI       0xff, 0xd7
#define CALL_RAX       0xff, 0xd0
#define RETURN	       0xc3

static const uint8_t systemstack[] = {
	LOAD_G_DIRECT, LOAD_M, LOAD_G0,	  LOAD_SP_OF_RDX, CALL_RDI,
	LOAD_G_DIRECT, LOAD_M, LOAD_CURG, LOAD_SP_OF_RAX, RETURN,
};

static int64_t no_frame(void *context, uint32_t offset)
{
	(void)context;
	(void)offset;
	return 0;
}

static int64_t one_word(void *context, uint32_t offset)
{
	(void)context;
	(void)offset;
	return 8;
}

static void finds_where_the_thread_keeps_its_goroutine(void **state)
{
	struct go_layout layout = go_layout_read(systemstack, sizeof(systemstack), 0x1000);

	(void)state;
	assert_true(layout.is_known);
	assert_int_equal(layout.thread_g, -8);
	assert_false(layout.thread_g_is_address);
	assert_int_equal(layout.g_m, 6);
	assert_int_equal(layout.m_curg, 0xc0);
	assert_int_equal(layout.g_sched_sp, 0x38);
	/* not without the way back */
	assert_false(go_layout_read(systemstack, 25, 0x1000).is_known);
	assert_false(go_layout_read(systemstack, 0, 0x1000).is_known);
}

static void knows_thread_local_storage_of_programs_and_of_libraries(void **state)
{
	static const uint8_t program[] = {RCX_IS_NUMBER, LOAD_G_BY_RCX, LOAD_M, LOAD_CURG,
					  LOAD_SP_OF_RAX};
	static const uint8_t library[] = {RCX_IS_WORD, LOAD_G_BY_RCX, LOAD_M, LOAD_CURG,
					  LOAD_SP_OF_RAX};
	struct go_layout layout = go_layout_read(program, sizeof(program), 0x1000);

	(void)state;
	assert_true(layout.is_known);
	assert_int_equal(layout.thread_g, -16);
	assert_false(layout.thread_g_is_address);
	layout = go_layout_read(library, sizeof(library), 0x1000);
	assert_true(layout.is_known);
	assert_int_equal(layout.thread_g, 0x1000 + 7 + 0x2000);
	assert_true(layout.thread_g_is_address);
	/* farther than a rule can say */
	assert_false(go_layout_read(library, sizeof(library), 0x80000000).is_known);
}

static struct go_switch_rows read_rows(enum go_switch_kind kind, const uint8_t *code, size_t size,
				       go_distance_fn distance)
{
	struct go_layout layout = go_layout_read(systemstack, sizeof(systemstack), 0x1000);
	struct go_switch_rows rows;

	go_switch_read(kind, &(struct go_switch_code){code, size, distance, NULL}, &layout, &rows);
	return rows;
}

static void systemstack_goes_and_comes_back(void **state)
{
	struct go_switch_rows rows =
		read_rows(GO_SWITCH_SYSTEMSTACK, systemstack, sizeof(systemstack), one_word);

	(void)state;
	assert_int_equal(rows.count, 3);
	assert_true(rows.items[0].is_plain);
	assert_int_equal(rows.items[1].offset, 20);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_GO_STACK);
	assert_int_equal(rows.items[1].rule.ra, PKBPF_GO_CALLER);
	assert_int_equal(rows.items[1].rule.fp_offset, 16);
	assert_int_equal(rows.items[1].rule.ra_offset, 0xc0);
	assert_int_equal(rows.items[2].offset, sizeof(systemstack) - 1);
	assert_true(rows.items[2].is_plain);
}

static void code_that_was_not_understood_is_said_to_be_unsupported(void **state)
{
	struct go_layout unknown = {0};
	struct go_switch_rows rows;

	(void)state;
	go_switch_read(GO_SWITCH_MORESTACK,
		       &(struct go_switch_code){systemstack, sizeof(systemstack), no_frame, NULL},
		       &unknown, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_UNSUPPORTED);
	/* one that only calls another of its name */
	assert_int_equal(read_rows(GO_SWITCH_SYSTEMSTACK, systemstack, 16, no_frame).count, 0);
}

static void morestack_and_mcall_do_not_come_back(void **state)
{
	struct go_switch_rows rows =
		read_rows(GO_SWITCH_MORESTACK, systemstack, sizeof(systemstack), no_frame);

	(void)state;
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.items[1].rule.ra, PKBPF_GO_STOPPED);
	rows = read_rows(GO_SWITCH_MCALL, systemstack, sizeof(systemstack), no_frame);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_END);
}

/* Two ways: from a goroutine, and on the system's stack already. */
static void asmcgocall_keeps_the_way_back_on_the_new_stack(void **state)
{
	static const uint8_t code[] = {
		0x48,	  0x89, 0xe2,		  /* mov %rsp,%rdx */
		0x48,	  0x8b, 0x66, 0x38,	  /* mov 0x38(%rsi),%rsp */
		0x48,	  0x83, 0xec, 0x40,	  /* sub $0x40,%rsp */
		0x48,	  0x83, 0xe4, 0xf0,	  /* and $-16,%rsp */
		CALL_RAX,			  /* 15 */
		0x48,	  0x8b, 0x7c, 0x24, 0x30, /* mov 0x30(%rsp),%rdi */
		0x48,	  0x8b, 0x77, 0x08,	  /* mov 8(%rdi),%rsi */
		0x48,	  0x2b, 0x74, 0x24, 0x28, /* sub 0x28(%rsp),%rsi */
		0x48,	  0x89, 0xf4,		  /* mov %rsi,%rsp */
		RETURN,				  /* 34 */
		0x48,	  0x83, 0xec, 0x40,	  /* sub $0x40,%rsp */
		0x48,	  0x83, 0xe4, 0xf0,	  /* and $-16,%rsp */
		CALL_RAX,			  /* 43 */
		0x48,	  0x8b, 0x74, 0x24, 0x28, /* mov 0x28(%rsp),%rsi */
		0x48,	  0x89, 0xf4,		  /* mov %rsi,%rsp */
		RETURN,
	};
	static const uint32_t offsets[] = {0, 7, 15, 34, 39, 43, 53};
	struct go_switch_rows rows = read_rows(GO_SWITCH_ASMCGOCALL, code, sizeof(code), one_word);

	(void)state;
	assert_int_equal(rows.count, 7);
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.items[i].offset, offsets[i]);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(rows.items[1].rule.aux, 1);
	assert_int_equal(rows.items[2].rule.cfa, PKBPF_CFA_GO_CALL);
	assert_int_equal(rows.items[2].rule.cfa_offset, 16);
	assert_int_equal(rows.items[2].rule.fp_offset, 0x30);
	assert_int_equal(rows.items[2].rule.go_offset, 0x28);
	assert_int_equal(rows.items[2].rule.aux, 8);
	assert_true(rows.items[3].is_plain);
	assert_int_equal(rows.items[5].rule.cfa, PKBPF_CFA_GO_CALL);
	assert_int_equal(rows.items[5].rule.go_offset, 0x28);
	assert_int_equal(rows.items[5].rule.aux, 0);
}

/* sub displacement(%rsp),%rsi, of 32 bits, and the load of the stack's end, of 8. */
static struct pkbpf_unwind_rule rule_of_way_back(uint8_t end_at, uint32_t distance_at)
{
	const uint8_t code[] = {
		0x48,
		0x8b,
		0x66,
		0x38,	  /* mov 0x38(%rsi),%rsp */
		CALL_RAX, /* 4 */
		0x48,
		0x8b,
		0x7c,
		0x24,
		0x30, /* mov 0x30(%rsp),%rdi */
		0x48,
		0x8b,
		0x77,
		end_at,
		0x48,
		0x2b,
		0xb4,
		0x24,
		(uint8_t)distance_at,
		(uint8_t)(distance_at >> 8),
		(uint8_t)(distance_at >> 16),
		(uint8_t)(distance_at >> 24),
		0x48,
		0x89,
		0xf4, /* mov %rsi,%rsp */
		RETURN,
	};
	struct go_switch_rows rows = read_rows(GO_SWITCH_ASMCGOCALL, code, sizeof(code), one_word);

	for (size_t i = 0; i < rows.count; i++)
		if (!rows.items[i].is_plain && rows.items[i].rule.cfa == PKBPF_CFA_GO_CALL)
			return rows.items[i].rule;
	return (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_UNSUPPORTED};
}

static void offsets_beyond_what_a_rule_can_say_are_unsupported(void **state)
{
	(void)state;
	assert_int_equal(rule_of_way_back(8, 0x28).cfa, PKBPF_CFA_GO_CALL);
	assert_int_equal(rule_of_way_back(1, INT16_MAX).cfa, PKBPF_CFA_GO_CALL);
	assert_int_equal(rule_of_way_back(1, INT16_MAX).go_offset, INT16_MAX);
	assert_int_equal(rule_of_way_back(8, INT16_MAX + 1).cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(rule_of_way_back(8, UINT32_MAX).cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(rule_of_way_back(8, 0).cfa, PKBPF_CFA_GO_CALL);
	/* Without a displacement it is another word. */
	assert_int_equal(rule_of_way_back(0, 0x28).cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(rule_of_way_back(0x80, 0x28).cfa, PKBPF_CFA_UNSUPPORTED);
}

/* Callers of the vDSO: their frame pointer leads to their frame, whatever the stack. */
static void others_are_trusted_with_a_frame_only(void **state)
{
	static const uint8_t framed[] = {
		0x55,				    /* push %rbp */
		0x48,		0x89,	0xe5,	    /* mov %rsp,%rbp */
		LOAD_SP_OF_RDX,			    /* 4 */
		0x48,		0x83,	0xe4, 0xf0, /* and $-16,%rsp */
		CALL_RAX,			    /* 12 */
		0x4c,		0x89,	0xe4,	    /* mov %r12,%rsp */
		0x5d,		RETURN,		    /* 17 */
		0x0f,		0x05,		    /* syscall, and back */
	};
	struct go_switch_rows rows = read_rows(GO_SWITCH_OTHER, framed, sizeof(framed), one_word);

	(void)state;
	assert_int_equal(rows.count, 4);
	assert_int_equal(rows.items[1].offset, 8);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_OTHER_STACK);
	assert_int_equal(rows.items[2].offset, 17);
	assert_true(rows.items[2].is_plain);
	assert_int_equal(rows.items[3].offset, 19);
	assert_int_equal(rows.items[3].rule.cfa, PKBPF_CFA_OTHER_STACK);
	rows = read_rows(GO_SWITCH_OTHER, framed + 4, sizeof(framed) - 4, no_frame);
	assert_int_equal(rows.items[1].rule.cfa, PKBPF_CFA_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_where_the_thread_keeps_its_goroutine),
		cmocka_unit_test(knows_thread_local_storage_of_programs_and_of_libraries),
		cmocka_unit_test(systemstack_goes_and_comes_back),
		cmocka_unit_test(code_that_was_not_understood_is_said_to_be_unsupported),
		cmocka_unit_test(morestack_and_mcall_do_not_come_back),
		cmocka_unit_test(asmcgocall_keeps_the_way_back_on_the_new_stack),
		cmocka_unit_test(offsets_beyond_what_a_rule_can_say_are_unsupported),
		cmocka_unit_test(others_are_trusted_with_a_frame_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
