// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/orc_tables and the rules of include/pkbpf/orc.h: formats by kernel, and what a
 * word of a rule keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pkbpf/orc.h>

#include "base/array.h"
#include "capture/kernel/orc_tables.h"

static void knows_formats_by_release(void **state)
{
	assert_int_equal(orc_tables_format("5.10.0-28-amd64"), PKBPF_ORC_UNKNOWN);
	assert_int_equal(orc_tables_format("5.15.0"), PKBPF_ORC_UNKNOWN);
	assert_int_equal(orc_tables_format("6.1.0-18-amd64"), PKBPF_ORC_BEFORE_6_3);
	assert_int_equal(orc_tables_format("6.3.1"), PKBPF_ORC_BEFORE_6_4);
	assert_int_equal(orc_tables_format("6.4-rc1"), PKBPF_ORC_SINCE_6_4);
	assert_int_equal(orc_tables_format("7.0.0"), PKBPF_ORC_SINCE_6_4);
	assert_int_equal(orc_tables_format("Linux"), PKBPF_ORC_UNKNOWN);
	assert_false(orc_tables_found_at_once("6.1.0-18-amd64"));
	assert_true(orc_tables_found_at_once("6.2.0"));
	assert_true(orc_tables_found_at_once("10.0"));
	assert_false(orc_tables_found_at_once(""));
}

static uint64_t entry_of(int16_t sp_offset, int16_t bp_offset, uint16_t flags)
{
	return (uint16_t)sp_offset | (uint64_t)(uint16_t)bp_offset << 16 | (uint64_t)flags << 32;
}

/* A return to the caller at sp + 16 with bp saved, an interrupt, the end, and nothing, as each
 * format writes them. */
static void reads_flags_of_all_formats(void **state)
{
	static const struct {
		uint32_t format, call, regs, end, nothing;
	} formats[] = {
		{PKBPF_ORC_BEFORE_6_3, 0x015, 0x105, 0x400, 0x000},
		{PKBPF_ORC_BEFORE_6_4, 0x015, 0x505, 0x800, 0x000},
		{PKBPF_ORC_SINCE_6_4, 0x215, 0xb05, 0x100, 0x000},
		{PKBPF_ORC_RENUMBERED, 0x283, 0xb03, 0x100, 0x000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		assert_int_equal(pkbpf_orc_flags(formats[i].call, formats[i].format), 0x215);
		assert_int_equal(pkbpf_orc_flags(formats[i].regs, formats[i].format), 0xb05);
		assert_int_equal(pkbpf_orc_flags(formats[i].end, formats[i].format) >> 8,
				 PKBPF_ORC_END_OF_STACK);
		assert_int_equal(
			pkbpf_orc_rule(entry_of(8, 0, formats[i].nothing), formats[i].format), 0);
	}
	/* Stacks that are aligned or switched. */
	assert_int_equal(pkbpf_orc_flags(0x284, PKBPF_ORC_RENUMBERED), 0x214);
	assert_int_equal(pkbpf_orc_flags(0x24a, PKBPF_ORC_RENUMBERED), 0x248);
	assert_int_equal(pkbpf_orc_flags(0x289, PKBPF_ORC_RENUMBERED), 0x219);
	assert_int_equal(pkbpf_orc_flags(0x206, PKBPF_ORC_RENUMBERED) & 15, 15);
	/* The kernel's padding above the flags is none of them. */
	assert_int_equal(pkbpf_orc_flags(0xf215, PKBPF_ORC_SINCE_6_4), 0x215);
}

static void keeps_offsets_of_both_signs(void **state)
{
	static const int16_t offsets[] = {0, 8, -8, 16, -16, 1024, -1024, 32760, -32768};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(offsets); j++) {
			uint64_t rule = pkbpf_orc_rule(entry_of(offsets[i], offsets[j], 0x215),
						       PKBPF_ORC_SINCE_6_4) |
					pkbpf_orc_tag(pkbpf_orc_place(0xfffffff));

			assert_int_equal(pkbpf_orc_sp_offset(rule), offsets[i]);
			assert_int_equal(pkbpf_orc_bp_offset(rule), offsets[j]);
			assert_int_equal(pkbpf_orc_rule_flags(rule), 0x215);
		}
	}
	assert_int_equal(pkbpf_orc_rule(entry_of(12, 0, 0x215), PKBPF_ORC_SINCE_6_4), 0);
	assert_int_equal(pkbpf_orc_rule(entry_of(16, -4, 0x215), PKBPF_ORC_SINCE_6_4), 0);
}

/* Index and tag together tell any two places apart. */
static void tells_places_apart(void **state)
{
	static const uint32_t odd_inverse = 0x0e8b2f51; /* of the multiplier, modulo 2^32 */

	for (uint32_t offset = 0; offset < 1U << 25; offset += 4093) {
		uint32_t place = pkbpf_orc_place(offset);
		uint32_t again = pkbpf_orc_index(place) << (32 - PKBPF_ORC_INDEX_BITS) |
				 (uint32_t)(pkbpf_orc_tag(place) >> PKBPF_ORC_RULE_BITS);

		assert_in_range(pkbpf_orc_index(place), 0, (1 << PKBPF_ORC_INDEX_BITS) - 1);
		assert_int_equal(pkbpf_orc_tag(place) & ~PKBPF_ORC_TAG_MASK, 0);
		assert_int_equal(again * odd_inverse, offset);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_formats_by_release),
		cmocka_unit_test(reads_flags_of_all_formats),
		cmocka_unit_test(keeps_offsets_of_both_signs),
		cmocka_unit_test(tells_places_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
