// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/cfi_expression: the forms that compilers and assemblers write, and everything
 * near them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "unwind/cfi/cfi_expression.h"

struct expectation {
	const char *what;
	const char *bytes;
	size_t size;
	bool starts_with_cfa;
	bool reduces;
	struct cfi_value value;
};

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct expectation expectations[] = {
	{"gcc's realigned stack: *(rbp-8)",
	 BYTES("\x76\x78\x06"),
	 false,
	 true,
	 {CFI_VALUE_DEREF, 6, -8, 0}},
	{"OpenSSL's saved stack pointer: *(rsp+536)+56",
	 BYTES("\x77\x98\x04\x06\x23\x38"),
	 false,
	 true,
	 {CFI_VALUE_DEREF, 7, 536, 56}},
	{"rsp+24 as an expression", BYTES("\x77\x18"), false, true, {CFI_VALUE_REGISTER, 7, 24, 0}},
	{"bregx", BYTES("\x92\x0c\x10"), false, true, {CFI_VALUE_REGISTER, 12, 16, 0}},
	{"constant on top", BYTES("\x77\x08\x38\x22"), false, true, {CFI_VALUE_REGISTER, 7, 16, 0}},
	{"constant below", BYTES("\x38\x77\x08\x22"), false, true, {CFI_VALUE_REGISTER, 7, 16, 0}},
	{"minus a constant", BYTES("\x77\x08\x38\x1c"), false, true, {CFI_VALUE_REGISTER, 7, 0, 0}},
	{"const1s", BYTES("\x77\x08\x09\xf8\x22"), false, true, {CFI_VALUE_REGISTER, 7, 0, 0}},
	{"const2u",
	 BYTES("\x77\x00\x0a\x00\x01\x22"),
	 false,
	 true,
	 {CFI_VALUE_REGISTER, 7, 256, 0}},
	{"const4s",
	 BYTES("\x77\x00\x0d\xff\xff\xff\xff\x22"),
	 false,
	 true,
	 {CFI_VALUE_REGISTER, 7, -1, 0}},
	{"saved at CFA-16", BYTES("\x09\xf0\x22"), true, true, {CFI_VALUE_CFA, 0, -16, 0}},
	{"call_frame_cfa", BYTES("\x9c\x23\x08"), false, true, {CFI_VALUE_CFA, 0, 8, 0}},
	{"saved at rbp+0", BYTES("\x76\x00"), true, true, {CFI_VALUE_REGISTER, 6, 0, 0}},
	{"PLT",
	 BYTES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	 false,
	 true,
	 {CFI_VALUE_PLT, 0, 11, 0}},
	{"PLT with branch tracking",
	 BYTES("\x77\x08\x80\x00\x3f\x1a\x39\x2a\x33\x24\x22"),
	 false,
	 true,
	 {CFI_VALUE_PLT, 0, 9, 0}},
	{"behind an array",
	 BYTES("\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08"),
	 false,
	 true,
	 {CFI_VALUE_INDEXED, 9, 8, 8}},
	{"behind an array by another register",
	 BYTES("\x76\x08\x79\x00\x38\x1e\x22\x06\x23\x08"),
	 false,
	 false,
	 {0}},
	{"behind an array of other entries",
	 BYTES("\x77\x08\x79\x00\x34\x1e\x22\x06\x23\x08"),
	 false,
	 false,
	 {0}},
	{"PLT by another register",
	 BYTES("\x76\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	 false,
	 false,
	 {0}},
	{"PLT with a threshold beyond an entry",
	 BYTES("\x77\x08\x80\x00\x3f\x1a\x40\x2a\x33\x24\x22"),
	 false,
	 false,
	 {0}},
	{"PLT as a register's rule",
	 BYTES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	 true,
	 false,
	 {0}},
	{"empty", BYTES(""), false, false, {0}},
	{"a bare constant", BYTES("\x38"), false, false, {0}},
	{"dereference of nothing", BYTES("\x06"), false, false, {0}},
	{"dereference of a dereference", BYTES("\x76\x00\x06\x06"), false, false, {0}},
	{"dereference of the CFA", BYTES("\x06"), true, false, {0}},
	{"two registers", BYTES("\x76\x00\x77\x00\x22"), false, false, {0}},
	{"multiplication", BYTES("\x79\x00\x38\x1e"), false, false, {0}},
	{"cut operand", BYTES("\x77\x80"), false, false, {0}},
	{"cut constant", BYTES("\x77\x00\x0c\x01\x02"), false, false, {0}},
	{"nine values", BYTES("\x31\x31\x31\x31\x31\x31\x31\x31\x31"), false, false, {0}},
	{"offset beyond 64 bits",
	 BYTES("\x77\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x23\xff\xff\xff\xff\xff\xff\xff\xff"
	       "\x7f"),
	 false,
	 false,
	 {0}},
};

static void reduces_what_a_rule_can_hold_and_nothing_else(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct expectation *each = &expectations[i];
		struct cfi_value value = {0};
		bool reduces = cfi_expression_reduce((const uint8_t *)each->bytes, each->size,
						     each->starts_with_cfa, &value);

		if (reduces != each->reduces || value.kind != each->value.kind ||
		    value.reg != each->value.reg || value.offset != each->value.offset ||
		    value.addend != each->value.addend)
			fail_msg("%s: %d kind %d reg %u offset %ld addend %ld", each->what, reduces,
				 value.kind, value.reg, (long)value.offset, (long)value.addend);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduces_what_a_rule_can_hold_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
