/* SPDX-License-Identifier: BSD-2-Clause */
/* A process on paper, whose code has the rules and whose stack the words that a test gives it. */
#ifndef PKBPF_TEST_PAPER_PROCESS_H
#define PKBPF_TEST_PAPER_PROCESS_H

#include <errno.h>
#include <string.h>

#include "unwind/step.h"

#define STACK 0x7fff00000000ULL
#define CODE  0x400000ULL

/* A process on paper: one mapping whose every address has the same rule until `second_at`. */
struct paper {
	struct pkbpf_unwind_rule rule, second;
	uint64_t second_at; /* ELF address; 0: none */
	uint32_t code_end;  /* result of looking for code outside */
	uint32_t flags;
	uint64_t data; /* at the beginning of the code */
	uint64_t stack[512];
	uint64_t ips[16];
};

static inline uint32_t paper_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	struct paper *paper = context;

	if (address < CODE || address >= CODE + 0x10000)
		return PKBPF_END_NO_MAPPING;
	if (paper->code_end)
		return paper->code_end;
	*ret_code = (struct unwind_code){
		.start = CODE,
		.end = CODE + 0x10000,
		.bias = CODE,
		.flags = paper->flags,
	};
	return 0;
}

static inline bool paper_rule(void *context, const struct unwind_code *code, uint64_t elf_address,
			      struct pkbpf_unwind_rule *ret_rule)
{
	struct paper *paper = context;

	*ret_rule =
		paper->second_at && elf_address >= paper->second_at ? paper->second : paper->rule;
	return true;
}

static inline int paper_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct paper *paper = context;

	if (address == CODE && size == sizeof(paper->data)) {
		memcpy(buffer, &paper->data, size);
		return 0;
	}
	if (address < STACK || address + size > STACK + sizeof(paper->stack))
		return -EFAULT;
	memcpy(buffer, (char *)paper->stack + (address - STACK), size);
	return 0;
}

/* At the stack's start, as far as anybody needs one. */
static inline int paper_thread_pointer(void *context, __u64 *ret_address)
{
	(void)context;
	*ret_address = STACK;
	return 0;
}

static const struct unwind_walk_ops paper_ops = {paper_code, paper_rule, paper_read,
						 paper_thread_pointer};

/* Two that callees may change, and what every architecture has. */
#if defined(__aarch64__)
enum { FIRST = 1, SECOND = 10, FP = 29, SP = 31 };
#else
enum { RBX = 3, FIRST = 5, SECOND = 10, FP = 6, SP = 7 };
#endif

static inline struct unwind_walk_result walk_paper(struct paper *paper, const uint64_t *regs,
						   bool exact)
{
	struct unwind_walk_options options = {.exact = exact};

	return unwind_walk(&paper_ops, paper, regs, &options, paper->ips, 16);
}

#define END_RULE                                                                                   \
	{                                                                                          \
		.cfa = PKBPF_CFA_END                                                               \
	}
#define RA_AT_8 .ra = PKBPF_RA_CFA, .ra_offset = -8

#endif
