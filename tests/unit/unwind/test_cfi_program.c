// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/cfi_program: programs byte by byte, and the rows that come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "unwind/cfi/cfi_program.h"

#define BASE	UINT64_C(0x400000)
#define START	0x100
#define SIZE	0x80
#define PROGRAM UINT64_C(0x500000)

/* Rows as text, so that a test reads like readelf's output. */
struct text {
	char text[4096];
	size_t length;
};

static void describe_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	static const char *const cfa[] = {
		"none",	   "sp",      "fp",   "reg",	     "*sp",   "*fp",
		"plt",	   "signal",  "end",  "unsupported", "other", "pending",
		"indexed", "no room", "jump", "jump saved",  "*reg"};
	static const char *const fp[] = {"", " fp=cfa", " fp=fp", " fp=?"};
	static const char *const ra[] = {"", " ra=reg", " ra=link"};
	struct text *text = context;

	text->length += (size_t)snprintf(
		text->text + text->length, sizeof(text->text) - text->length, "%s%x %s%+d",
		text->length ? "; " : "", offset - START, cfa[rule->cfa], rule->cfa_offset);
	if (rule->aux)
		text->length +=
			(size_t)snprintf(text->text + text->length,
					 sizeof(text->text) - text->length, " aux %u", rule->aux);
	text->length += (size_t)snprintf(text->text + text->length,
					 sizeof(text->text) - text->length, "%s", fp[rule->fp]);
	if (rule->fp_offset)
		text->length +=
			(size_t)snprintf(text->text + text->length,
					 sizeof(text->text) - text->length, "%+d", rule->fp_offset);
	text->length += (size_t)snprintf(text->text + text->length,
					 sizeof(text->text) - text->length, "%s", ra[rule->ra]);
	if (rule->ra_offset != (rule->ra == PKBPF_RA_CFA ? -8 : 0) &&
	    (rule->cfa < PKBPF_CFA_SIGNAL || rule->cfa >= PKBPF_CFA_JUMP))
		text->length += (size_t)snprintf(text->text + text->length,
						 sizeof(text->text) - text->length, " ra%+d",
						 rule->ra_offset);
}

static void run(const struct cfi_machine *machine, const struct cfi_context *context,
		const char *program, size_t size, struct text *text)
{
	memset(text, 0, sizeof(*text));
	cfi_program_run(machine, context,
			&(struct cfi_program){
				.bytes = (const uint8_t *)program,
				.size = size,
				.address = PROGRAM,
				.base = BASE,
				.start = START,
				.length = SIZE,
			},
			describe_row, text);
}

static struct cfi_context usual_context(void)
{
	struct cfi_context context = {.code_align = 1, .data_align = -8};

	/* CFA = rsp + 8, return address at cfa-8 */
	assert_true(cfi_program_run_initial(&cfi_x86_64, &context,
					    (const uint8_t *)"\x0c\x07\x08\x90\x01", 5));
	return context;
}

struct expectation {
	const char *what;
	const char *program;
	size_t size;
	const char *rows;
};

#define P(literal) literal, sizeof(literal) - 1

static const struct expectation x86_64_expectations[] = {
	{"nothing", P(""), "0 sp+8"},
	{"push rbp; mov; …; leave; ret",
	 P("\x41\x0e\x10\x86\x02\x43\x0d\x06\x50\x0c\x07\x08\x00\x00"),
	 "0 sp+8; 1 sp+16 fp=cfa-16; 4 fp+16 fp=cfa-16; 14 sp+8 fp=cfa-16"},
	{"several changes at one place make one row", P("\x41\x0e\x10\x0e\x18\x0e\x20"),
	 "0 sp+8; 1 sp+32"},
	{"advance by nothing", P("\x40\x0e\x10"), "0 sp+16"},
	{"registers nobody asks for", P("\x41\x80\x02\x41\x8b\x03"), "0 sp+8"},
	{"one, two, four byte advances",
	 P("\x02\x10\x0e\x10\x03\x10\x00\x0e\x18\x04\x10\x00\x00\x00\x0e\x20"),
	 "0 sp+8; 10 sp+16; 20 sp+24; 30 sp+32"},
	{"set_loc forward", P("\x01\x20\x01\x40\x00\x00\x00\x00\x00\x0e\x10"), "0 sp+8; 20 sp+16"},
	{"set_loc back", P("\x01\x20\x00\x40\x00\x00\x00\x00\x00\x0e\x10"), "0 unsupported+0"},
	{"an advance beyond the function", P("\x02\x80\x0e\x10"), "0 sp+8"},
	{"remember and restore", P("\x41\x0e\x10\x0a\x41\x0e\x08\x41\x0b"),
	 "0 sp+8; 1 sp+16; 2 sp+8; 3 sp+16"},
	{"eight remembered states",
	 P("\x0a\x0e\x10\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x41\x0b"),
	 "0 sp+16; 1 sp+8"},
	{"a ninth remembered state", P("\x0e\x10\x41\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
	 "0 sp+16; 1 unsupported+0"},
	{"restore without remember", P("\x44\x0b"), "0 sp+8; 4 unsupported+0"},
	{"restored register", P("\x86\x02\x41\xc6"), "0 sp+8 fp=cfa-16; 1 sp+8"},
	{"restore_extended", P("\x05\x06\x02\x41\x06\x06"), "0 sp+8 fp=cfa-16; 1 sp+8"},
	{"signed offsets", P("\x11\x06\x03\x41\x12\x07\x7e\x41\x13\x7c"),
	 "0 sp+8 fp=cfa-24; 1 sp+16 fp=cfa-24; 2 sp+32 fp=cfa-24"},
	{"GNU negative offset", P("\x2f\x06\x02"), "0 sp+8 fp=cfa+16"},
	{"undefined frame pointer", P("\x07\x06"), "0 sp+8 fp=?"},
	{"same frame pointer", P("\x07\x06\x41\x08\x06"), "0 sp+8 fp=?; 1 sp+8"},
	{"the outermost frame", P("\x07\x10"), "0 end+0"},
	{"return address in a register", P("\x09\x10\x05"), "0 sp+8 ra=reg ra+5"},
	{"CFA and return address in one register", P("\x0c\x05\x00\x09\x10\x05"),
	 "0 reg+0 aux 5 ra=reg ra+5"},
	{"CFA and return address in two registers", P("\x0c\x05\x00\x09\x10\x01"),
	 "0 reg+0 aux 5 ra=reg ra+1"},
	{"all in registers (longjmp)",
	 P("\x0c\x05\x00\x83\x00\x09\x06\x09\x09\x07\x08\x09\x10\x01"), "0 jump+0 aux 8+9 ra+1"},
	{"all in memory (setcontext)", P("\x0c\x01\x00\x11\x07\x6c\x11\x06\x71\x11\x10\x6b"),
	 "0 jump saved+160 aux 1+120 ra+168"},
	{"a saved stack pointer, with a CFA that is not", P("\x0c\x01\x08\x11\x07\x6c\x11\x10\x6b"),
	 "0 unsupported+0"},
	{"a stack pointer in a register and the frame pointer where the CFA says",
	 P("\x0c\x05\x00\x86\x02\x09\x07\x08\x09\x10\x01"), "0 unsupported+0"},
	{"a stack pointer in a register and the frame pointer where it says itself",
	 P("\x09\x07\x08\x09\x10\x01\x10\x06\x02\x77\x08"), "0 unsupported+0"},
	{"CFA from any register", P("\x0d\x0a"), "0 reg+8 aux 10"},
	{"CFA from a register that cannot hold one", P("\x0c\x40\x08"), "0 unsupported+0"},
	{"CFA from xmm1", P("\x0c\x12\x08"), "0 unsupported+0"},
	{"return address in xmm0", P("\x09\x10\x11"), "0 unsupported+0"},
	{"frame pointer in a register", P("\x09\x06\x03"), "0 unsupported+0"},
	{"stack pointer that is not the CFA", P("\x09\x07\x08"), "0 unsupported+0"},
	{"stack pointer that is the CFA", P("\x14\x07\x00"), "0 sp+8"},
	{"stack pointer above the CFA", P("\x14\x07\x01"), "0 unsupported+0"},
	{"PLT", P("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), "0 plt+11"},
	{"realigned stack", P("\x10\x06\x02\x76\x00\x0f\x03\x76\x78\x06"), "0 *fp-8 fp=fp"},
	{"stack pointer saved on the stack", P("\x0f\x06\x77\x98\x04\x06\x23\x38"),
	 "0 *sp+536 aux 7"},
	{"addend that is not a multiple of eight", P("\x0f\x06\x77\x98\x04\x06\x23\x3c"),
	 "0 unsupported+0"},
	{"register and offset as an expression", P("\x0f\x02\x77\x18"), "0 sp+24"},
	{"another expression", P("\x0f\x03\x79\x00\x19"), "0 unsupported+0"},
	{"register after an expression keeps the offset",
	 P("\x0e\x38\x41\x0f\x06\x77\x98\x04\x06\x23\x38\x41\x0d\x07"),
	 "0 sp+56; 1 *sp+536 aux 7; 2 sp+56"},
	{"frame pointer by the stack pointer", P("\x0e\x30\x10\x06\x02\x77\x10"),
	 "0 sp+48 fp=cfa-32"},
	{"frame pointer by the CFA", P("\x10\x06\x02\x09\xf0"), "0 unsupported+0"},
	{"frame pointer by the CFA and a constant", P("\x10\x06\x03\x09\xf0\x22"),
	 "0 sp+8 fp=cfa-16"},
	{"value expression of a callee-saved register", P("\x16\x03\x01\x30"), "0 sp+8"},
	{"value expression of the frame pointer", P("\x16\x06\x01\x30"), "0 unsupported+0"},
	{"argument size", P("\x2e\x20\x41\x0e\x10"), "0 sp+8; 1 sp+16"},
	{"unknown instruction", P("\x41\x0e\x10\x42\x3f"), "0 sp+8; 1 sp+16; 3 unsupported+0"},
	{"cut operand", P("\x41\x0e"), "0 sp+8; 1 unsupported+0"},
	{"cut expression", P("\x0f\x20\x77\x08"), "0 unsupported+0"},
	{"CFA offset beyond 31 bits", P("\x0e\x80\x80\x80\x80\x08"), "0 unsupported+0"},
	{"large CFA offset", P("\x0e\x90\xca\x13"), "0 sp+320784"},
	{"return address too far", P("\x05\x10\x80\x80\x01"), "0 unsupported+0"},
};

static void turns_x86_64_programs_into_rows(void **state)
{
	struct cfi_context context = usual_context();
	struct text text;

	for (size_t i = 0; i < ARRAY_SIZE(x86_64_expectations); i++) {
		const struct expectation *each = &x86_64_expectations[i];

		run(&cfi_x86_64, &context, each->program, each->size, &text);
		if (strcmp(text.text, each->rows) != 0)
			fail_msg("%s: \"%s\", expected \"%s\"", each->what, text.text, each->rows);
	}
}

static void keep_last(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct pkbpf_unwind_rule *last = context;

	*last = *rule;
}

static void run_last(const struct cfi_context *context, const char *program, size_t size,
		     struct pkbpf_unwind_rule *ret_rule)
{
	cfi_program_run(&cfi_x86_64, context,
			&(struct cfi_program){
				.bytes = (const uint8_t *)program,
				.size = size,
				.start = START,
				.length = SIZE,
			},
			keep_last, ret_rule);
}

static void says_where_kept_registers_are_saved(void **state)
{
	struct cfi_context context = usual_context();
	struct pkbpf_unwind_rule rule = {0};

	/* rbx at cfa-16; r12 by an expression that no rule holds; r13 by an expression of rbx, 8
	 * above the cfa that counts from it; r14 undefined; r15 farther away than a rule can say.
	 */
	run_last(&context,
		 P("\x0c\x03\x10\x83\x02\x10\x0c\x03\x76\x68\x22"
		   "\x10\x0d\x02\x73\x18\x07\x0e\x05\x0f\xff\xff\x03"),
		 &rule);
	assert_int_equal(rule.cfa, PKBPF_CFA_REGISTER);
	assert_int_equal(rule.saved[0], PKBPF_SAVED(PKBPF_SAVED_CFA, -16));
	assert_int_equal(rule.saved[1], PKBPF_SAVED_UNKNOWN);
	assert_int_equal(rule.saved[2], PKBPF_SAVED(PKBPF_SAVED_CFA, 8));
	assert_int_equal(rule.saved[3], PKBPF_SAVED_UNKNOWN);
	assert_int_equal(rule.saved[4], PKBPF_SAVED_UNKNOWN);
	/* From rbp, as where the stack is aligned anew. */
	run_last(&context, P("\x10\x0c\x02\x76\x68"), &rule);
	assert_int_equal(rule.saved[0], PKBPF_SAVED_NOT);
	assert_int_equal(rule.saved[1], PKBPF_SAVED(PKBPF_SAVED_FP, -24));
	assert_int_equal(PKBPF_SAVED_KIND(rule.saved[1]), PKBPF_SAVED_FP);
	assert_int_equal(PKBPF_SAVED_OFFSET(rule.saved[1]), -24);
}

static void reads_arm64_programs(void **state)
{
	struct cfi_context context = {.code_align = 4, .data_align = -8};
	struct text text;

	/* CFA = sp; stp x29,x30,[sp,-32]!; mov x29,sp; ldp; ret */
	assert_true(
		cfi_program_run_initial(&cfi_arm64, &context, (const uint8_t *)"\x0c\x1f\x00", 3));
	run(&cfi_arm64, &context,
	    "\x2d\x41\x0e\x20\x9d\x04\x9e\x03\x41\x0d\x1d\x44\xde\xdd\x0c\x1f\x00", 17, &text);
	assert_string_equal(text.text, "0 sp+0 ra=link; 4 sp+32 fp=cfa-32 ra-24; "
				       "8 fp+32 fp=cfa-32 ra-24; 18 sp+0 ra=link");
}

static void knows_where_go_saves_the_frame_pointer(void **state)
{
	struct cfi_context context = usual_context();
	struct text text;

	context.go_frame_pointer = true;
	run(&cfi_x86_64, &context, "\x41\x0e\x10\x44\x0e\x40\x50\x0e\x08", 9, &text);
	assert_string_equal(text.text, "0 sp+8; 1 sp+16 fp=cfa-16; 5 sp+64 fp=cfa-16; 15 sp+8");
}

static void refuses_initial_programs_that_move(void **state)
{
	struct cfi_context context = {.code_align = 1, .data_align = -8};

	assert_false(cfi_program_run_initial(&cfi_x86_64, &context, (const uint8_t *)"\x41", 1));
	assert_false(cfi_program_run_initial(&cfi_x86_64, &context, (const uint8_t *)"\x0b", 1));
	assert_false(
		cfi_program_run_initial(&cfi_x86_64, &context, (const uint8_t *)"\x0c\x07", 2));
	assert_true(cfi_program_run_initial(&cfi_x86_64, &context, (const uint8_t *)"\xc3\xc6", 2));
}

static void says_unsupported_without_a_return_address(void **state)
{
	struct cfi_context context = {.code_align = 1, .data_align = -8};
	struct text text;

	assert_true(
		cfi_program_run_initial(&cfi_x86_64, &context, (const uint8_t *)"\x0c\x07\x08", 3));
	run(&cfi_x86_64, &context, "", 0, &text);
	assert_string_equal(text.text, "0 unsupported+0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_x86_64_programs_into_rows),
		cmocka_unit_test(says_where_kept_registers_are_saved),
		cmocka_unit_test(reads_arm64_programs),
		cmocka_unit_test(knows_where_go_saves_the_frame_pointer),
		cmocka_unit_test(refuses_initial_programs_that_move),
		cmocka_unit_test(says_unsupported_without_a_return_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
