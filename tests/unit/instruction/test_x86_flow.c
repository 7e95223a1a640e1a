// SPDX-License-Identifier: BSD-2-Clause
/* Tests for instruction/x86_flow: where execution goes on, and what functions begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "instruction/x86_flow.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct x86_instruction decode(const uint8_t *code, size_t size)
{
	struct x86_instruction instruction;

	assert_true(x86_decode(code, size, &instruction));
	assert_int_equal(instruction.size, size);
	return instruction;
}

static enum x86_flow flow(const uint8_t *code, size_t size)
{
	struct x86_instruction instruction = decode(code, size);

	return x86_flow_of(&instruction);
}

static void tells_where_execution_goes_on(void **state)
{
	(void)state;
	assert_int_equal(flow(BYTES(0x31, 0xc0)), X86_FLOW_ON);			/* xor %eax,%eax */
	assert_int_equal(flow(BYTES(0xe8, 1, 0, 0, 0)), X86_FLOW_ON);		/* call */
	assert_int_equal(flow(BYTES(0xff, 0xd0)), X86_FLOW_ON);			/* call *%rax */
	assert_int_equal(flow(BYTES(0xf4)), X86_FLOW_ON);			/* hlt */
	assert_int_equal(flow(BYTES(0x74, 1)), X86_FLOW_BRANCH);		/* je */
	assert_int_equal(flow(BYTES(0xe3, 1)), X86_FLOW_BRANCH);		/* jrcxz */
	assert_int_equal(flow(BYTES(0x0f, 0x84, 1, 0, 0, 0)), X86_FLOW_BRANCH); /* je */
	assert_int_equal(flow(BYTES(0xeb, 1)), X86_FLOW_JUMP);			/* jmp */
	assert_int_equal(flow(BYTES(0xe9, 1, 0, 0, 0)), X86_FLOW_JUMP);		/* jmp */
	assert_int_equal(flow(BYTES(0xff, 0xe0)), X86_FLOW_JUMP_THROUGH);	/* jmp *%rax */
	assert_int_equal(flow(BYTES(0x3e, 0xff, 0xe0)),
			 X86_FLOW_JUMP_THROUGH);		 /* notrack jmp *%rax */
	assert_int_equal(flow(BYTES(0xc3)), X86_FLOW_END);	 /* ret */
	assert_int_equal(flow(BYTES(0xf3, 0xc3)), X86_FLOW_END); /* rep ret */
	assert_int_equal(flow(BYTES(0xc2, 8, 0)), X86_FLOW_END); /* ret $8 */
	assert_int_equal(flow(BYTES(0x0f, 0x0b)), X86_FLOW_END); /* ud2 */
	assert_int_equal(flow(BYTES(0xc5, 0xf1, 0x74, 0xc2)),
			 X86_FLOW_ON); /* vpcmpeqb, whose opcode is that of je */
}

static void knows_what_may_be_the_last_of_a_function(void **state)
{
	struct x86_instruction call = decode(BYTES(0xe8, 1, 0, 0, 0)),
			       through = decode(BYTES(0xff, 0x15, 1, 0, 0, 0)),
			       halt = decode(BYTES(0xf4)), ret = decode(BYTES(0xc3)),
			       push = decode(BYTES(0xff, 0x30)), trap = decode(BYTES(0x0f, 0x0b));

	(void)state;
	assert_true(x86_may_be_last(&call));
	assert_true(x86_may_be_last(&through));
	assert_true(x86_may_be_last(&halt));
	assert_false(x86_may_be_last(&ret));
	assert_false(x86_may_be_last(&push));
	assert_true(x86_is_call(&call));
	assert_false(x86_is_call(&through));
	assert_true(x86_is_return(&ret));
	assert_false(x86_is_return(&trap));
}

static void knows_addresses_by_distance(void **state)
{
	struct x86_instruction lea = decode(BYTES(0x48, 0x8d, 0x3d, 1, 0, 0, 0)),
			       frame = decode(BYTES(0x48, 0x8d, 0x7d, 1)),
			       load = decode(BYTES(0x48, 0x8b, 0x3d, 1, 0, 0, 0));

	(void)state;
	assert_true(x86_is_own_address(&lea));
	assert_int_equal(lea.displacement, 1);
	assert_false(x86_is_own_address(&frame));
	assert_false(x86_is_own_address(&load));
}

static void tells_padding_from_code(void **state)
{
	(void)state;
	assert_int_equal(x86_padding_size(BYTES(0xcc, 0xc3)), 1);
	assert_int_equal(x86_padding_size(BYTES(0x90, 0xc3)), 1);
	assert_int_equal(x86_padding_size(BYTES(0, 0xc3)), 1);
	assert_int_equal(x86_padding_size(BYTES(0x66, 0x90)), 2);
	assert_int_equal(x86_padding_size(BYTES(0x0f, 0x1f, 0x44, 0, 0)), 5);
	assert_int_equal(x86_padding_size(BYTES(0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0)),
			 11);
	assert_int_equal(x86_padding_size(BYTES(0xf3, 0x90)), 0);	/* pause */
	assert_int_equal(x86_padding_size(BYTES(0x66, 0x89, 0xc0)), 0); /* mov %ax,%ax */
	assert_int_equal(x86_padding_size(BYTES(0x0f, 0x1f)), 0);	/* half a NOP */
	assert_int_equal(x86_padding_size(BYTES(0xc3)), 0);
}

static void knows_what_functions_begin_with(void **state)
{
	(void)state;
	assert_int_equal(x86_beginning_of(BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0xc3)),
			 X86_BEGINS_A_FUNCTION); /* endbr64 */
	assert_int_equal(x86_beginning_of(BYTES(0x53, 0xc3)),
			 X86_BEGINS_A_FUNCTION); /* push %rbx */
	assert_int_equal(x86_beginning_of(BYTES(0x41, 0x57, 0xc3)),
			 X86_BEGINS_A_FUNCTION); /* push %r15 */
	assert_int_equal(x86_beginning_of(BYTES(0x41, 0x57, 0x31, 0xc0, 0x53)),
			 X86_BEGINS_A_FUNCTION_SURELY);
	assert_int_equal(x86_beginning_of(BYTES(0x55, 0x48, 0x89, 0xe5)),
			 X86_BEGINS_A_FUNCTION_SURELY); /* push; mov %rsp,%rbp */
	assert_int_equal(x86_beginning_of(BYTES(0x53, 0xe8, 1, 0, 0, 0, 0x55)),
			 X86_BEGINS_A_FUNCTION); /* push; call; push */
	assert_int_equal(x86_beginning_of(BYTES(0x53, 0xeb, 1, 0x55)),
			 X86_BEGINS_A_FUNCTION); /* push; jmp; push */
	assert_int_equal(x86_beginning_of(BYTES(0x50, 0xc3)), X86_BEGINS_WITH_ROOM); /* push %rax */
	assert_int_equal(x86_beginning_of(BYTES(0x41, 0x50, 0xc3)),
			 X86_BEGINS_WITH_ROOM); /* push %r8 */
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x83, 0xec, 8)),
			 X86_BEGINS_WITH_ROOM); /* sub $8,%rsp */
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x8d, 0x64, 0x24, 0xc8)),
			 X86_BEGINS_WITH_ROOM); /* lea -56(%rsp),%rsp */
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x8d, 0x64, 0x24, 0x40)),
			 X86_BEGINS_NOTHING); /* lea 64(%rsp),%rsp */
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x8d, 0x44, 0x24, 0xc8)),
			 X86_BEGINS_NOTHING); /* lea -56(%rsp),%rax */
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x81, 0xec, 8, 1, 0, 0)),
			 X86_BEGINS_WITH_ROOM);
	assert_int_equal(x86_beginning_of(BYTES(0x48, 0x83, 0xe8, 8)),
			 X86_BEGINS_NOTHING); /* sub $8,%rax */
	assert_int_equal(x86_beginning_of(BYTES(0x31, 0xc0)), X86_BEGINS_NOTHING);
	assert_int_equal(x86_beginning_of((const uint8_t *)"", 0), X86_BEGINS_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_where_execution_goes_on),
		cmocka_unit_test(knows_what_may_be_the_last_of_a_function),
		cmocka_unit_test(knows_addresses_by_distance),
		cmocka_unit_test(tells_padding_from_code),
		cmocka_unit_test(knows_what_functions_begin_with),
	};

	return cmocka_run_group_tests_name("instruction/x86_flow", tests, NULL, NULL);
}
