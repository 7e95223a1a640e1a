// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks hostile stacks by hostile rules: the input is 1 byte of options, 17 registers, 8 rules of
 * 16 bytes, where it has the option what they say of registers that are kept (16 bytes each), and
 * the stack. Code is 8 pieces of 4 KiB, one per rule.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/hotspot.h>

#include "unwind/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGISTERS  17
#define RULES	   8
#define STACK	   0x7ff000000000ULL
#define CODE	   0x400000ULL
#define MAX_FRAMES 64

enum { EXACT = 1, NO_GUESS = 2, SAVES = 4, ANONYMOUS = 8 };

struct input {
	uint8_t options;
	struct pkbpf_unwind_rule rules[RULES];
	const uint8_t *stack;
	size_t stack_size;
};

static uint32_t find_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	const struct input *input = context;

	if (address < CODE || address >= CODE + RULES * 4096)
		return PKBPF_END_NO_MAPPING;
	*ret_code = (struct unwind_code){
		.start = CODE,
		.end = CODE + RULES * 4096,
		.bias = CODE,
		.flags = input->options & ANONYMOUS ? PKBPF_MAPPING_ANONYMOUS : 0,
	};
	return 0;
}

static bool find_rule(void *context, const struct unwind_code *code, uint64_t elf_address,
		      struct pkbpf_unwind_rule *ret_rule)
{
	const struct input *input = context;

	(void)code;
	if (elf_address / 4096 >= RULES)
		abort(); /* outside of what was entered */
	*ret_rule = input->rules[elf_address / 4096];
	return true;
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct input *input = context;
	uint64_t offset = address - STACK;

	if (address < STACK || offset > input->stack_size || size > input->stack_size - offset)
		return -1;
	memcpy(buffer, input->stack + offset, size);
	return 0;
}

/* Somewhere in the stack, so that what Go's rules read from there is in it, too. */
static int thread_pointer(void *context, __u64 *ret_address)
{
	const struct input *input = context;

	*ret_address = STACK + input->stack_size / 2;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_walk_ops ops = {find_code, find_rule, read_memory,
						   thread_pointer};
	const size_t head = PKBPF_UNWIND_RULE_HEAD_BYTES, rules = 1 + REGISTERS * sizeof(uint64_t);
	const size_t saved = rules + RULES * head;
	size_t stack = saved;
	uint64_t regs[PKBPF_REGS] = {0}, ips[MAX_FRAMES + 1];
	struct unwind_walk_options options = {0};
	struct unwind_walk_result result;
	struct input input;

	if (size && data[0] & SAVES)
		stack += RULES * head;
	if (size < stack)
		return 0;
	input.options = data[0];
	memcpy(regs, data + 1, REGISTERS * sizeof(uint64_t));
	memset(input.rules, 0, sizeof(input.rules));
	for (size_t i = 0; i < RULES; i++) {
		memcpy(&input.rules[i], data + rules + i * head, head);
		if (input.options & SAVES)
			memcpy(input.rules[i].saved, data + saved + i * head, head);
	}
	input.stack = data + stack;
	input.stack_size = size - stack;
	options.exact = input.options & EXACT;
	options.no_guess = input.options & NO_GUESS;
	ips[MAX_FRAMES] = 0x5a5a5a5a;
	result = unwind_walk(&ops, &input, regs, &options, ips, MAX_FRAMES);
	if (result.end == 0 || result.end >= PKBPF_END_COUNT || result.depth > MAX_FRAMES ||
	    result.guessed > result.depth || ips[MAX_FRAMES] != 0x5a5a5a5a ||
	    (options.no_guess && result.guessed))
		abort();
	/* Every frame but the last was found in code, or in the page that is in no mapping. Behind
	 * a frame of Java's interpreter stands one word that names its method. */
	for (size_t i = 0; i + 1 < result.depth; i++) {
		uint64_t ip = pkbpf_address(ips[i]);

		if (pkbpf_is_hotspot(ips[i])) {
			if (!i || pkbpf_is_hotspot(ips[i - 1]) || !pkbpf_hotspot_method(ips[i]))
				abort();
			continue;
		}
		if ((ip < CODE || ip > CODE + RULES * 4096) && !PKBPF_IS_VSYSCALL(ip))
			abort();
	}
	return 0;
}
