// SPDX-License-Identifier: BSD-2-Clause
/* Rows of HotSpot's code, on code of OpenJDK 17 and 25. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "unwind/hotspot/hotspot_rows.h"

#define BASE   0x7f0000001000ULL /* of the block */
#define HEADER 64U

struct taken {
	uint32_t offsets[512];
	struct pkbpf_unwind_rule rules[512];
	size_t count;
};

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct taken *taken = context;

	assert_true(taken->count < 512);
	assert_true(taken->count ? offset >= taken->offsets[taken->count - 1] : offset == 0);
	if (taken->count && offset == taken->offsets[taken->count - 1])
		taken->count--;
	taken->offsets[taken->count] = offset;
	taken->rules[taken->count++] = *rule;
}

struct code {
	struct hotspot_blob blob;
	struct hotspot_rows_hints hints;
	struct taken taken;
	struct hotspot_rows_counts counts;
};

static void make(struct code *code, const uint8_t *bytes, size_t size)
{
	struct hotspot_rows *rows = hotspot_rows_new();
	struct hotspot_blob *blob = &code->blob;

	assert_non_null(rows);
	blob->start = BASE;
	blob->code_begin = BASE + HEADER;
	blob->code_end = blob->code_begin + size;
	blob->end = blob->code_end + 64;
	blob->code = bytes;
	if (blob->kind == HOTSPOT_NMETHOD && !blob->verified_entry)
		blob->entry = blob->verified_entry = blob->code_begin;
	assert_int_equal(hotspot_rows_make(rows, blob, &code->hints, take_row, &code->taken), 0);
	code->counts = hotspot_rows_counts(rows);
	hotspot_rows_free(rows);
	assert_true(code->taken.count > 0);
}

/* The rule at an offset of the code. */
static const struct pkbpf_unwind_rule *at(const struct code *code, size_t offset)
{
	size_t i = code->taken.count;

	while (code->taken.offsets[--i] > HEADER + offset)
		;
	return &code->taken.rules[i];
}

static void assert_sp(const struct code *code, size_t offset, int32_t size)
{
	const struct pkbpf_unwind_rule *rule = at(code, offset);

	assert_int_equal(rule->cfa, PKBPF_CFA_SP);
	assert_int_equal(rule->cfa_offset, size);
	assert_int_equal(rule->ra, PKBPF_RA_CFA);
	assert_int_equal(rule->ra_offset, -8);
}

static void assert_body(const struct code *code, size_t offset, int32_t size)
{
	assert_sp(code, offset, size);
	assert_int_equal(at(code, offset)->fp, PKBPF_FP_CFA);
	assert_int_equal(at(code, offset)->fp_offset, -16);
}

static void assert_jump(const struct code *code, size_t offset, unsigned int stack_pointer,
			unsigned int address)
{
	const struct pkbpf_unwind_rule *rule = at(code, offset);

	assert_int_equal(rule->cfa, PKBPF_CFA_JUMP);
	assert_int_equal(rule->aux, stack_pointer);
	assert_int_equal(rule->fp_offset, 6);
	assert_int_equal(rule->ra_offset, address);
}

static void assert_sender(const struct code *code, size_t offset, unsigned int stack_pointer)
{
	const struct pkbpf_unwind_rule *rule = at(code, offset);

	assert_int_equal(rule->cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(rule->aux, stack_pointer);
	assert_int_equal(rule->cfa_offset, 0);
	assert_int_equal(rule->ra, PKBPF_RA_AT_REGISTER);
	assert_int_equal(PKBPF_RA_AT_NUMBER(rule->ra_offset), 7);
}

static void assert_interpreted(const struct code *code, size_t offset)
{
	const struct pkbpf_unwind_rule *rule = at(code, offset);

	assert_int_equal(rule->cfa, PKBPF_CFA_FP_DEREF);
	assert_int_equal(rule->cfa_offset, -8);
	assert_int_equal(rule->aux, 0);
	assert_int_equal(rule->fp, PKBPF_FP_FP);
	assert_int_equal(rule->fp_offset, 0);
	assert_int_equal(rule->ra, PKBPF_RA_FP);
	assert_int_equal(rule->ra_offset, 8);
}

/* C1 of 25: a touch of the stack, push and room, a call, the return's poll behind the epilogue, its
 * stub, the handlers of exceptions and of deoptimization. */
static const uint8_t c1[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,		    /* 00 mov %eax,-81920(%rsp) */
	0x55,							    /* 07 push %rbp */
	0x48, 0x83, 0xec, 0x10,					    /* 08 sub $16,%rsp */
	0xe8, 0x85, 0x66, 0xf2, 0xff,				    /* 0c call */
	0x48, 0x83, 0xc4, 0x10,					    /* 11 add $16,%rsp */
	0x5d,							    /* 15 pop %rbp */
	0x49, 0x3b, 0x67, 0x28,					    /* 16 cmp 40(%r15),%rsp */
	0x0f, 0x87, 0x01, 0x00, 0x00, 0x00,			    /* 1a ja 21 */
	0xc3,							    /* 20 ret */
	0x49, 0xba, 0xc0, 0x08, 0x51, 0xe4, 0xb1, 0x7f, 0x00, 0x00, /* 21 mov $…,%r10 */
	0xe9, 0x7f, 0x12, 0xf4, 0xff,				    /* 2b jmp out */
	0xe8, 0x53, 0xb3, 0xff, 0xff,				    /* 30 call, never returns */
	0x48, 0x83, 0xe4, 0xf0,					    /* 35 and $-16,%rsp */
	0xe8, 0xa0, 0xbc, 0xe3, 0x10,				    /* 39 call */
	0xf4,							    /* 3e hlt */
	0x49, 0xba, 0x21, 0x09, 0x51, 0xe4, 0xb1, 0x7f, 0x00, 0x00, /* 3f mov $…,%r10 */
	0x41, 0x52,						    /* 49 push %r10 */
	0xe9, 0xae, 0xf9, 0xf3, 0xff,				    /* 4b jmp out */
};

static const struct hotspot_pc c1_pcs[] = {{0x11, 0}};

static void follows_a_compiled_method(void **state)
{
	struct code code = {.blob = {
				    .kind = HOTSPOT_NMETHOD,
				    .frame_words = 4,
				    .pcs = c1_pcs,
				    .pc_count = 1,
				    .deopt_handler = BASE + HEADER + 0x3f,
			    }};

	make(&code, c1, sizeof(c1));
	assert_sp(&code, 0x00, 8);
	assert_sp(&code, 0x07, 8);
	assert_int_equal(at(&code, 0x07)->fp, PKBPF_FP_SAME);
	assert_body(&code, 0x08, 16);
	assert_body(&code, 0x0c, 32);
	assert_body(&code, 0x11, 32);
	assert_body(&code, 0x15, 16);
	assert_sp(&code, 0x16, 8);
	assert_int_equal(at(&code, 0x16)->fp, PKBPF_FP_SAME);
	assert_sp(&code, 0x20, 8);
	assert_sp(&code, 0x2b, 8);
	/* Nothing leads to the handlers. A deoptimized frame is looked up one byte before its. */
	assert_body(&code, 0x30, 32);
	assert_body(&code, 0x3e, 32);
	assert_body(&code, 0x3f, 32);
	assert_body(&code, 0x4b, 40);
	assert_int_equal(code.counts.calls, 1);
	assert_int_equal(code.counts.contradictions, 0);
}

/* Code of another frame than the one that is told: a method that was read half written. */
static void counts_calls_that_contradict_the_frame_size(void **state)
{
	struct code code = {.blob = {
				    .kind = HOTSPOT_NMETHOD,
				    .frame_words = 6,
				    .pcs = c1_pcs,
				    .pc_count = 1,
			    }};

	make(&code, c1, sizeof(c1));
	assert_int_equal(code.counts.calls, 1);
	assert_int_equal(code.counts.contradictions, 1);
}

/* A method that is no longer entered: a jump out of it over its first instruction. */
static void puts_back_what_a_jump_was_written_over(void **state)
{
	/* sub $24,%rsp; mov %rbp,16(%rsp); … of C2 */
	static const uint8_t c2[] = {
		0xe9, 0x3b, 0x10, 0x00, 0xff, 0x00, 0x00, /* 00 jmp out, and the rest of sub */
		0x48, 0x89, 0x6c, 0x24, 0x10,		  /* 07 mov %rbp,16(%rsp) */
		0xe8, 0x85, 0x66, 0xf2, 0xff,		  /* 0c call */
		0x48, 0x83, 0xc4, 0x10,			  /* 11 add $16,%rsp */
		0x5d,					  /* 15 pop %rbp */
		0xc3,					  /* 16 ret */
	};
	struct code code = {.blob = {.kind = HOTSPOT_NMETHOD, .frame_words = 4}};
	struct code other = code;
	uint8_t bytes[sizeof(c1)];

	make(&code, c2, sizeof(c2));
	assert_sp(&code, 0x00, 8);
	assert_sp(&code, 0x07, 32);
	assert_body(&code, 0x0c, 32);
	assert_sp(&code, 0x16, 8);
	memcpy(bytes, c1, sizeof(c1));
	memcpy(bytes, c2, 5);
	make(&other, bytes, sizeof(bytes));
	assert_sp(&other, 0x07, 8);
	assert_body(&other, 0x0c, 32);
	/* A loop at the entry leads into the method: no such jump. */
	memset(&other, 0, sizeof(other));
	other.blob = (struct hotspot_blob){.kind = HOTSPOT_NMETHOD, .frame_words = 4};
	memcpy(bytes, (uint8_t[]){0xe9, 0x02, 0x00, 0x00, 0x00}, 5);
	make(&other, bytes, sizeof(bytes));
	assert_sp(&other, 0x07, 8);
	assert_body(&other, 0x0c, 32);
}

/* A blob that is being written has no frame size yet. */
static void waits_for_a_method_without_a_frame_size(void **state)
{
	struct code code = {.blob = {.kind = HOTSPOT_NMETHOD}};

	make(&code, c1, sizeof(c1));
	assert_int_equal(code.taken.count, 1);
	assert_int_equal(code.taken.rules[0].cfa, PKBPF_CFA_PENDING);
}

static void knows_both_ways_through_adapters_of_17(void **state)
{
	static const uint8_t adapter[] = {
		0x48, 0x8b, 0x04, 0x24,	      /* 00 mov (%rsp),%rax: to compiled code */
		0x4c, 0x8b, 0xec,	      /* 04 mov %rsp,%r13 */
		0x48, 0x83, 0xec, 0x10,	      /* 07 sub $16,%rsp */
		0x50,			      /* 0b push %rax */
		0x48, 0x8b, 0x74, 0x24, 0x20, /* 0c mov 32(%rsp),%rsi */
		0x41, 0xff, 0xe3,	      /* 11 jmp *%r11 */
		0x4c, 0x8b, 0xec,	      /* 14 mov %rsp,%r13: mends the caller */
		0x48, 0x83, 0xe4, 0xf0,	      /* 17 and $-16,%rsp */
		0xe8, 0x00, 0x00, 0x00, 0x10, /* 1b call */
		0x49, 0x8b, 0xe5,	      /* 20 mov %r13,%rsp */
		0x58,			      /* 23 pop %rax: to the interpreter */
		0x4c, 0x8b, 0xec,	      /* 24 mov %rsp,%r13 */
		0x48, 0x83, 0xec, 0x10,	      /* 27 sub $16,%rsp */
		0x48, 0x89, 0x04, 0x24,	      /* 2b mov %rax,(%rsp) */
		0xff, 0xe1,		      /* 2f jmp *%rcx */
		0x48, 0x8b, 0xc0,	      /* 31 */
	};
	struct code code = {.blob = {.kind = HOTSPOT_ADAPTER}};

	make(&code, adapter, sizeof(adapter));
	assert_sp(&code, 0x00, 8);
	assert_jump(&code, 0x04, 13, 0);
	assert_jump(&code, 0x0b, 13, 0);
	assert_sp(&code, 0x0c, 8);
	assert_sp(&code, 0x14, 8);
	assert_int_equal(at(&code, 0x1b)->cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(at(&code, 0x1b)->cfa_offset, 8);
	assert_int_equal(at(&code, 0x1b)->ra, PKBPF_RA_CFA);
	assert_sp(&code, 0x23, 8);
	assert_jump(&code, 0x24, 7, 0);
	assert_jump(&code, 0x27, 13, 0);
	assert_jump(&code, 0x2f, 13, 0);
	assert_sp(&code, 0x31, 8);
}

static void knows_both_ways_through_adapters_of_25(void **state)
{
	static const uint8_t adapter[] = {
		0x58,			      /* 00 pop %rax: to compiled code */
		0x48, 0x83, 0xec, 0x10,	      /* 01 sub $16,%rsp */
		0x50,			      /* 05 push %rax */
		0x41, 0xff, 0xe3,	      /* 06 jmp *%r11 */
		0x48, 0x8b, 0x04, 0x24,	      /* 09 mov (%rsp),%rax: of saved registers */
		0x4c, 0x8d, 0x6c, 0x24, 0x08, /* 0d lea 8(%rsp),%r13: to the interpreter */
		0x58,			      /* 12 pop %rax */
		0x48, 0x83, 0xec, 0x10,	      /* 13 sub $16,%rsp */
		0x50,			      /* 17 push %rax */
		0xff, 0xe1,		      /* 18 jmp *%rcx */
		0x4c, 0x8b, 0xec,	      /* 1a mov %rsp,%r13: mends the caller */
		0x48, 0x8b, 0x04, 0x24,	      /* 1d mov (%rsp),%rax */
		0x48, 0x83, 0xe4, 0xf0,	      /* 21 and $-16,%rsp */
		0xe8, 0x00, 0x00, 0x00, 0x10, /* 25 call */
		0x49, 0x8b, 0xe5,	      /* 2a mov %r13,%rsp */
		0x4c, 0x8d, 0x6c, 0x24, 0x08, /* 2d lea 8(%rsp),%r13 */
		0x58,			      /* 32 pop %rax */
		0x48, 0x83, 0xec, 0x30,	      /* 33 sub $48,%rsp */
		0x50,			      /* 37 push %rax */
		0x48, 0x89, 0x74, 0x24, 0x28, /* 38 mov %rsi,40(%rsp) */
		0xff, 0xe1,		      /* 3d jmp *%rcx */
	};
	struct code code = {.blob = {.kind = HOTSPOT_ADAPTER}};

	make(&code, adapter, sizeof(adapter));
	assert_sp(&code, 0x00, 8);
	assert_jump(&code, 0x01, 13, 0);
	assert_jump(&code, 0x05, 13, 0);
	assert_sp(&code, 0x06, 8);
	assert_sp(&code, 0x09, 8);
	assert_sp(&code, 0x0d, 8);
	assert_sp(&code, 0x12, 8);
	assert_jump(&code, 0x13, 13, 0);
	assert_sender(&code, 0x18, 13);
	assert_sp(&code, 0x1a, 8);
	assert_int_equal(at(&code, 0x1d)->cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(at(&code, 0x29)->cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(at(&code, 0x29)->cfa_offset, 8);
	assert_int_equal(at(&code, 0x29)->ra, PKBPF_RA_CFA);
	assert_sp(&code, 0x2d, 8);
	assert_jump(&code, 0x37, 13, 0);
	assert_sender(&code, 0x38, 13);
	assert_sender(&code, 0x3d, 13);
}

static void knows_how_interpreted_frames_are_made_and_left(void **state)
{
	static const uint8_t bytes[] = {
		0x8b, 0x4a, 0x2e,		       /* 00 movzwl …: an entry */
		0x58,				       /* 03 pop %rax */
		0x4d, 0x8d, 0x74, 0xcc, 0xf8,	       /* 04 lea -8(%r12,%rcx,8),%r14 */
		0x50,				       /* 09 push %rax */
		0x55,				       /* 0a push %rbp */
		0x48, 0x8b, 0xec,		       /* 0b mov %rsp,%rbp */
		0x41, 0x55,			       /* 0e push %r13 */
		0x6a, 0x00,			       /* 10 push $0 */
		0x90,				       /* 12 */
		0x48, 0x8b, 0x5d, 0xf8,		       /* 13 mov -8(%rbp),%rbx: a return */
		0xc9,				       /* 17 leave */
		0x41, 0xc6, 0x87, 0xbe, 0x03, 0, 0, 0, /* 18 movb $0,958(%r15) */
		0x5e,				       /* 20 pop %rsi */
		0x48, 0x8b, 0xe3,		       /* 21 mov %rbx,%rsp */
		0xff, 0xe6,			       /* 24 jmp *%rsi */
		0x90,				       /* 26 */
	};
	const struct hotspot_codelet codelets[] = {
		{BASE + HEADER, BASE + HEADER + 0x12, "method entry point (kind = zerolocals)", -1},
		{BASE + HEADER + 0x13, BASE + HEADER + 0x26, "ireturn", 172},
	};
	struct code code = {.blob = {.kind = HOTSPOT_INTERPRETER},
			    .hints = {.codelets = codelets, .codelet_count = 2}};

	make(&code, bytes, sizeof(bytes));
	assert_sender(&code, 0x00, 13);
	assert_jump(&code, 0x04, 13, 0);
	assert_jump(&code, 0x0b, 13, 0);
	assert_int_equal(at(&code, 0x0e)->cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(at(&code, 0x0e)->ra, PKBPF_RA_FP);
	assert_interpreted(&code, 0x10);
	assert_interpreted(&code, 0x12);
	assert_interpreted(&code, 0x17);
	assert_sender(&code, 0x18, 3);
	assert_jump(&code, 0x21, 3, 4);
	assert_jump(&code, 0x24, 3, 4);
	assert_interpreted(&code, 0x26);
}

/* The interpreter without its parts, which are hostile or unreadable. */
static void takes_no_parts_from_outside(void **state)
{
	static const uint8_t bytes[] = {0x58, 0x90, 0xc9, 0xc3};
	const struct hotspot_codelet codelets[] = {
		{BASE + HEADER + 2, BASE + HEADER + 1, "method entry point", -1},
		{BASE, BASE + HEADER + 2, "method entry point", -1},
		{BASE + HEADER, BASE + HEADER + 5, "method entry point", -1},
		{UINT64_MAX - 1, UINT64_MAX, "method entry point", -1},
	};
	struct code code = {.blob = {.kind = HOTSPOT_INTERPRETER},
			    .hints = {.codelets = codelets, .codelet_count = 4}};

	make(&code, bytes, sizeof(bytes));
	assert_int_equal(code.taken.count, 1);
	assert_interpreted(&code, 0);
}

/* It is jumped to at a poll: it makes room for its own return address, which the thread holds until
 * then. The caller was interrupted. */
static void finds_the_return_address_of_a_poll_in_the_thread(void **state)
{
	static const uint8_t bytes[] = {
		0x53,					  /* 00 push %rbx */
		0x55,					  /* 01 push %rbp */
		0x48, 0x8b, 0xec,			  /* 02 mov %rsp,%rbp */
		0x48, 0x81, 0xec, 0x80, 0x00, 0x00, 0x00, /* 05 sub $128,%rsp */
		0x49, 0x8b, 0x9f, 0x58, 0x03, 0x00, 0x00, /* 0c mov 856(%r15),%rbx */
		0x48, 0x89, 0x5d, 0x08,			  /* 13 mov %rbx,8(%rbp) */
		0xe8, 0x00, 0x00, 0x00, 0x10,		  /* 17 call */
		0x48, 0x8b, 0x6c, 0x24, 0x50,		  /* 1c mov 80(%rsp),%rbp: its own */
		0x48, 0x81, 0xc4, 0x80, 0x00, 0x00, 0x00, /* 21 add $128,%rsp */
		0xc9,					  /* 28 leave */
		0xc3,					  /* 29 ret */
	};
	struct code code = {.blob = {.kind = HOTSPOT_SAFEPOINT, .frame_words = 18}};
	const struct pkbpf_unwind_rule *rule;

	make(&code, bytes, sizeof(bytes));
	rule = at(&code, 0x01);
	assert_int_equal(rule->cfa, PKBPF_CFA_SP_INTERRUPTED);
	assert_int_equal(rule->cfa_offset, 8);
	assert_int_equal(rule->ra, PKBPF_RA_AT_REGISTER);
	assert_int_equal(PKBPF_RA_AT_NUMBER(rule->ra_offset), 15);
	assert_int_equal(rule->ra_offset & PKBPF_RA_AT_MAX_BYTES, 856);
	rule = at(&code, 0x17);
	assert_int_equal(rule->cfa, PKBPF_CFA_SP_INTERRUPTED);
	assert_int_equal(rule->cfa_offset, 144);
	assert_int_equal(rule->ra, PKBPF_RA_CFA);
	assert_int_equal(at(&code, 0x29)->cfa_offset, 8);
}

/* Behind LEAVE only the return address is there, though the frame pointer came from a copy. */
static void knows_the_end_of_run_time_stubs(void **state)
{
	static const uint8_t bytes[] = {
		0x55,			      /* 00 push %rbp */
		0x48, 0x8b, 0xec,	      /* 01 mov %rsp,%rbp */
		0x48, 0x83, 0xec, 0x40,	      /* 04 sub $64,%rsp */
		0xe8, 0x00, 0x00, 0x00, 0x10, /* 08 call */
		0x48, 0x8b, 0x6c, 0x24, 0x20, /* 0d mov 32(%rsp),%rbp */
		0x48, 0x83, 0xc4, 0x40,	      /* 12 add $64,%rsp */
		0xc9,			      /* 16 leave */
		0xc3,			      /* 17 ret */
	};
	struct code code = {.blob = {.kind = HOTSPOT_OTHER, .frame_words = 10}};

	make(&code, bytes, sizeof(bytes));
	assert_sp(&code, 0x00, 8);
	assert_int_equal(at(&code, 0x0d)->cfa_offset,
			 at(&code, 0x0d)->cfa == PKBPF_CFA_FP ? 16 : 80);
	assert_sp(&code, 0x17, 8);
	assert_int_equal(at(&code, 0x17)->fp, PKBPF_FP_SAME);
}

/* Code that nothing leads to has no guessed frame pointer: it may be that of a frame far up. */
static void guesses_no_frame_pointer_in_stubs(void **state)
{
	static const uint8_t bytes[] = {
		0xc3, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, /* no code */
		0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06,
	};
	const uint64_t stubs[] = {1, BASE + HEADER, BASE + HEADER, UINT64_MAX};
	struct code code = {.blob = {.kind = HOTSPOT_STUB_ROUTINES},
			    .hints = {.stubs = stubs, .stub_count = 4}};

	make(&code, bytes, sizeof(bytes));
	assert_sp(&code, 0, 8);
	for (size_t i = 0; i < code.taken.count; i++)
		assert_true(code.taken.rules[i].cfa == PKBPF_CFA_SP ||
			    code.taken.rules[i].cfa == PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(at(&code, 8)->cfa, PKBPF_CFA_UNSUPPORTED);
}

/* Whatever the bytes and the fields of a blob: rows ascend, and no rule is NONE. */
static void survives_any_blob(void **state)
{
	uint64_t random = 88172645463325252ULL;
	uint8_t bytes[600];

	for (int round = 0; round < 3000; round++) {
		static struct code code;
		struct hotspot_pc pcs[3];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[i] = random % 7 ? (uint8_t)random
					      : (uint8_t[]){0xe9, 0x55, 0x58, 0x50,
							    0xc9, 0xc3, 0xe8}[random / 7 % 7];
		}
		memset(&code, 0, sizeof(code));
		for (int i = 0; i < 3; i++)
			pcs[i] = (struct hotspot_pc){(uint32_t)(random >> (8 * i)) % 700, 0};
		code.blob = (struct hotspot_blob){
			.kind = (enum hotspot_kind)(random % HOTSPOT_KIND_COUNT),
			.frame_words = (uint32_t)(random >> 20) % 40,
			.entry = BASE + random % 900,
			.verified_entry = BASE + (random >> 9) % 900,
			.deopt_handler = random & 4 ? BASE + random % 700 : 0,
			.pcs = pcs,
			.pc_count = 3,
		};
		make(&code, bytes, 1 + random % sizeof(bytes));
		for (size_t i = 0; i < code.taken.count; i++)
			assert_int_not_equal(code.taken.rules[i].cfa, PKBPF_CFA_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_a_compiled_method),
		cmocka_unit_test(counts_calls_that_contradict_the_frame_size),
		cmocka_unit_test(puts_back_what_a_jump_was_written_over),
		cmocka_unit_test(waits_for_a_method_without_a_frame_size),
		cmocka_unit_test(knows_both_ways_through_adapters_of_17),
		cmocka_unit_test(knows_both_ways_through_adapters_of_25),
		cmocka_unit_test(knows_how_interpreted_frames_are_made_and_left),
		cmocka_unit_test(takes_no_parts_from_outside),
		cmocka_unit_test(finds_the_return_address_of_a_poll_in_the_thread),
		cmocka_unit_test(knows_the_end_of_run_time_stubs),
		cmocka_unit_test(guesses_no_frame_pointer_in_stubs),
		cmocka_unit_test(survives_any_blob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
