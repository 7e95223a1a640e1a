// SPDX-License-Identifier: BSD-2-Clause
/* Tests for hotspot/hotspot_scopes: chains of inlined methods, and chains that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_jvm.h"
#include "hotspot/hotspot_scopes.h"
#include "hotspot/hotspot_unsigned5.h"

#define CODE 0x10000ULL

static const uint64_t metadata[] = {0xa0, 0xb0, 0xc0};

static size_t put_scope(uint8_t *bytes, size_t at, uint32_t sender, uint32_t method, int32_t bci,
			uint8_t minimum)
{
	at += fake_unsigned5(bytes + at, sender, minimum);
	at += fake_unsigned5(bytes + at, method, minimum);
	return at + fake_unsigned5(bytes + at, (uint32_t)(bci + 1), minimum);
}

static struct hotspot_blob blob_of(const struct hotspot_pc *pcs, size_t count,
				   const uint8_t *scopes, size_t size)
{
	return (struct hotspot_blob){
		.code_begin = CODE,
		.code_end = CODE + 0x1000,
		.method = 0xf0,
		.deopt_handler = CODE + 0x900,
		.pcs = pcs,
		.pc_count = count,
		.scopes = scopes,
		.scopes_size = size,
		.metadata = metadata,
		.metadata_count = ARRAY_SIZE(metadata),
	};
}

static void check_chain(uint8_t minimum)
{
	uint8_t bytes[64] = {0};
	size_t outer = 1, inner, end;
	struct hotspot_pc pcs[3];
	struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];
	struct hotspot_blob blob;

	inner = put_scope(bytes, outer, 0, 1, 300, minimum);
	end = put_scope(bytes, inner, (uint32_t)outer, 3, 7, minimum);
	pcs[0] = (struct hotspot_pc){0x20, (int32_t)outer};
	pcs[1] = (struct hotspot_pc){0x40, (int32_t)inner};
	pcs[2] = (struct hotspot_pc){0x60, 0};
	blob = blob_of(pcs, 3, bytes, end);
	/* a caller: its return address is that of the second PcDesc */
	assert_int_equal(hotspot_scopes_at(&blob, minimum, CODE + 0x3f, scopes), 2);
	assert_int_equal(scopes[0].method, 0xc0);
	assert_int_equal(scopes[0].bci, 7);
	assert_int_equal(scopes[1].method, 0xa0);
	assert_int_equal(scopes[1].bci, 300);
	/* a leaf before the first; without scopes; behind the last; before the code */
	assert_int_equal(hotspot_scopes_at(&blob, minimum, CODE, scopes), 1);
	assert_int_equal(scopes[0].method, 0xa0);
	assert_int_equal(hotspot_scopes_at(&blob, minimum, CODE + 0x41, scopes), 1);
	assert_int_equal(scopes[0].method, 0xf0);
	assert_int_equal(scopes[0].bci, -1);
	assert_int_equal(hotspot_scopes_at(&blob, minimum, CODE + 0x61, scopes), 1);
	assert_int_equal(scopes[0].method, 0xf0);
	assert_int_equal(hotspot_scopes_at(&blob, minimum, CODE - 5, scopes), 1);
}

static void test_chain_before_20(void **state)
{
	(void)state;
	check_chain(0);
}

static void test_chain_since_20(void **state)
{
	(void)state;
	check_chain(1);
}

/* The frame returns to the handler, so what it was in is not known. */
static void test_deoptimized(void **state)
{
	uint8_t bytes[16] = {0};
	size_t end = put_scope(bytes, 1, 0, 1, 3, 1);
	const struct hotspot_pc pc = {0x900, 1};
	struct hotspot_blob blob = blob_of(&pc, 1, bytes, end);
	struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];

	(void)state;
	assert_int_equal(hotspot_scopes_at(&blob, 1, CODE + 0x8ff, scopes), 1);
	assert_int_equal(scopes[0].method, 0xf0);
	assert_int_equal(hotspot_scopes_at(&blob, 1, CODE + 0x8fe, scopes), 1);
	assert_int_equal(scopes[0].method, 0xa0);
}

static void test_lies(void **state)
{
	static const struct {
		uint32_t sender, method;
		uint64_t expected;
	} rows[] = {
		{1, 1, 0xa0},	/* a scope that was inlined into itself */
		{500, 1, 0xa0}, /* into one behind it */
		{0, 0, 0xf0},	/* no method */
		{0, 4, 0xf0},	/* none that there is */
		{0, 0x7fffffff, 0xf0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[32] = {0};
		size_t end = put_scope(bytes, 1, rows[i].sender, rows[i].method, 0, 1);
		const struct hotspot_pc pc = {0x10, 1};
		struct hotspot_blob blob = blob_of(&pc, 1, bytes, end);
		struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];

		assert_int_equal(hotspot_scopes_at(&blob, 1, CODE, scopes), 1);
		assert_int_equal(scopes[0].method, rows[i].expected);
		/* cut off */
		blob.scopes_size = end - 1;
		assert_int_equal(hotspot_scopes_at(&blob, 1, CODE, scopes), 1);
		assert_int_equal(scopes[0].method, 0xf0);
	}
}

static void test_deep_chain(void **state)
{
	static uint8_t bytes[2048];
	size_t at = 1, last = 0;
	struct hotspot_pc pc = {0x10, 0};
	struct hotspot_blob blob;
	struct hotspot_scope scopes[HOTSPOT_MAX_INLINED];

	(void)state;
	for (int i = 0; i < 200; i++) {
		size_t begin = at;

		at = put_scope(bytes, at, (uint32_t)last, 2, i, 1);
		last = begin;
	}
	pc.scope = (int32_t)last;
	blob = blob_of(&pc, 1, bytes, at);
	assert_int_equal(hotspot_scopes_at(&blob, 1, CODE, scopes), HOTSPOT_MAX_INLINED);
	assert_int_equal(scopes[0].bci, 199);
	assert_int_equal(scopes[HOTSPOT_MAX_INLINED - 1].bci, 200 - HOTSPOT_MAX_INLINED);
}

static void test_numbers(void **state)
{
	static const uint32_t values[] = {0, 1, 190, 191, 192, 5000, 70000, 1U << 30, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (uint8_t minimum = 0; minimum < 2; minimum++) {
			struct hotspot_unsigned5 number = {0};
			uint8_t bytes[5];
			size_t count = fake_unsigned5(bytes, values[i], minimum);

			for (size_t j = 0; j < count; j++)
				assert_int_equal(hotspot_unsigned5_add(&number, bytes[j], minimum),
						 j == count - 1);
			assert_int_equal(number.value, values[i]);
		}
	}
	assert_int_equal(hotspot_unsigned5_signed(0), 0);
	assert_int_equal(hotspot_unsigned5_signed(1), -1);
	assert_int_equal(hotspot_unsigned5_signed(2), 1);
	assert_int_equal(hotspot_unsigned5_signed(UINT32_MAX), INT32_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_before_20), cmocka_unit_test(test_chain_since_20),
		cmocka_unit_test(test_deoptimized),	cmocka_unit_test(test_lies),
		cmocka_unit_test(test_deep_chain),	cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
