// SPDX-License-Identifier: BSD-2-Clause
/* Tests for hotspot/hotspot_layout: recorded tables of two versions, and forged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_jvm.h"

static int read_layout(struct fake_jvm *fake)
{
	struct hotspot_memory memory = fake_memory(fake);

	return hotspot_layout_read(&memory, &fake->image, FAKE_BIAS, &fake->layout);
}

static void test_version_17(void **state)
{
	struct fake_jvm *fake = fake_tables(17, NULL);
	const struct hotspot_fields *at = &fake->layout.at;

	(void)state;
	assert_int_equal(read_layout(fake), 0);
	assert_int_equal(fake->layout.java, 17);
	assert_string_equal(fake->layout.version, "17.0.15");
	assert_string_equal(fake->layout.missing, "");
	assert_int_equal(fake->layout.unsigned5_minimum, 0);
	assert_int_equal(fake->layout.heaps, 0x100);
	assert_int_equal(at->nmethod_method.offset, 112);
	assert_int_equal(at->nmethod_method.width, 8);
	assert_int_equal(at->nmethod_state.width, 1);
	assert_true(at->nmethod_state.is_signed);
	assert_int_equal(at->blob_code_begin.offset, 32);
	assert_int_equal(at->nmethod_immutable.width, 0);
	assert_int_equal(fake->layout.block_header_size, 16);
	assert_int_equal(fake->layout.const_has_lines, 1);
	assert_int_equal(fake->layout.frame_bytecode, -64);
	/* neither a counter nor a return address is an entry point */
	assert_int_equal(fake->layout.stub_count, 1);
	assert_int_equal(fake->layout.stubs[0], 0x130);
	assert_int_equal(fake->layout.call_stub_return, 0x118);
	free(fake);
}

static void test_version_25(void **state)
{
	struct fake_jvm *fake = fake_tables(25, NULL);
	const struct hotspot_fields *at = &fake->layout.at;

	(void)state;
	assert_int_equal(read_layout(fake), 0);
	assert_int_equal(fake->layout.java, 25);
	assert_string_equal(fake->layout.version, "25.0.3");
	assert_int_equal(fake->layout.unsigned5_minimum, 1);
	assert_int_equal(at->blob_frame_complete.width, 2);
	assert_true(at->blob_frame_complete.is_signed);
	assert_int_equal(at->nmethod_verified_offset.width, 2);
	assert_int_equal(at->nmethod_immutable.offset, 96);
	assert_int_equal(at->blob_code_begin.width, 0);
	assert_int_equal(at->const_flags.width, 4);
	assert_int_equal(fake->layout.block_header_size, 8);
	free(fake);
}

/* Nothing is guessed: what is not described makes the version unknown. */
static void test_missing_fields(void **state)
{
	static const struct {
		int version;
		const char *without, *missing;
	} rows[] = {
		{17, "CompiledMethod::_method", "nmethod::_method"},
		{17, "CodeCache::_heaps", "CodeCache::_heaps"},
		{17, "CodeBlob::_code_begin", "CodeBlob::_code_begin"},
		{17, "nmethod::_dependencies_offset", "nmethod::_dependencies_offset"},
		{25, "nmethod::_immutable_data_size", "nmethod::_immutable_data_size"},
		{25, "CodeBlob::_relocation_size", "CodeBlob::_mutable_data_size"},
		{25, "Symbol::_length", "Symbol::_length"},
		{25, "Abstract_VM_Version::_s_vm_release", "Abstract_VM_Version::_s_vm_release"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_jvm *fake = fake_tables(rows[i].version, rows[i].without);

		assert_int_equal(read_layout(fake), -ENOTSUP);
		assert_string_equal(fake->layout.missing, rows[i].missing);
		free(fake);
	}
}

static void test_forged_tables(void **state)
{
	static const struct {
		enum hotspot_word word;
		uint64_t value;
	} rows[] = {
		{HOTSPOT_STRUCTS, 0},
		{HOTSPOT_STRUCTS_STRIDE, 0},
		{HOTSPOT_STRUCTS_STRIDE, UINT64_MAX},
		{HOTSPOT_STRUCT_OFFSET, UINT64_MAX - 3},
		{HOTSPOT_STRUCT_TYPE, 50},
		{HOTSPOT_TYPE_NAME, UINT64_MAX},
		{HOTSPOT_TYPE_SIZE, 20},
		{HOTSPOT_INT_VALUE, 13},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_jvm *fake = fake_tables(17, NULL);

		fake_word(fake, rows[i].word, rows[i].value);
		assert_int_equal(read_layout(fake), -EBADMSG);
		free(fake);
	}
}

/* A table without an end: as many entries as there may be are read, no more. */
static void test_endless_table(void **state)
{
	struct fake_jvm *fake = fake_tables(17, NULL);
	uint64_t table = fake_allocate(fake, 64);

	(void)state;
	fake_word(fake, HOTSPOT_INTS, table);
	fake_word(fake, HOTSPOT_INTS_STRIDE, 16);
	for (size_t i = 0; fake->used + 16 < FAKE_BYTES; i++)
		fake_put(fake, fake_allocate(fake, 16), table, 8);
	fake_put(fake, table, table, 8);
	assert_true(read_layout(fake) < 0);
	assert_true(fake->reads < 3 * HOTSPOT_MAX_ENTRIES);
	free(fake);
}

static void test_fields(void **state)
{
	static const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff, 1, 2, 3, 4};

	(void)state;
	assert_int_equal(hotspot_field_get(bytes, 8, (struct hotspot_field){0, 4, true}),
			 (uint64_t)-2);
	assert_int_equal(hotspot_field_get(bytes, 8, (struct hotspot_field){0, 4, false}),
			 0xfffffffeU);
	assert_int_equal(hotspot_field_get(bytes, 8, (struct hotspot_field){6, 2, false}), 0x0403);
	assert_int_equal(hotspot_field_get(bytes, 8, (struct hotspot_field){7, 2, false}), 0);
	assert_int_equal(hotspot_field_get(bytes, 1, (struct hotspot_field){0, 8, false}), 0);
	assert_int_equal(hotspot_field_get(bytes, 8, (struct hotspot_field){0}), 0);
}

static void test_strings(void **state)
{
	struct fake_jvm *fake = fake_tables(17, NULL);
	struct hotspot_memory memory = fake_memory(fake);
	char text[8];

	(void)state;
	assert_int_equal(
		hotspot_read_string(&memory, fake_string(fake, "abcdefghij"), text, sizeof(text)),
		0);
	assert_string_equal(text, "abcdefg");
	/* it ends with the last byte that is mapped */
	fake_put_bytes(fake, FAKE_BIAS + FAKE_BYTES - 3, "xy", 3);
	assert_int_equal(
		hotspot_read_string(&memory, FAKE_BIAS + FAKE_BYTES - 3, text, sizeof(text)), 0);
	assert_string_equal(text, "xy");
	assert_int_equal(hotspot_read_string(&memory, 8, text, sizeof(text)), -EFAULT);
	free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_17),     cmocka_unit_test(test_version_25),
		cmocka_unit_test(test_missing_fields), cmocka_unit_test(test_forged_tables),
		cmocka_unit_test(test_endless_table),  cmocka_unit_test(test_fields),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
