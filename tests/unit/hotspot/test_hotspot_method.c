// SPDX-License-Identifier: BSD-2-Clause
/* Tests for hotspot/hotspot_method: names, files and lines, on paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_jvm.h"
#include "hotspot/hotspot_method.h"

/* Bytecode 0 is line 10, 3 is 12, 20 is 9, 25 is 9000; the third and the fourth need the long
 * form. */
static size_t put_lines(uint8_t *bytes, uint8_t minimum)
{
	size_t at = 0;

	bytes[at++] = 0xff;
	at += fake_unsigned5(bytes + at, 0, minimum);
	at += fake_unsigned5(bytes + at, 20, minimum);
	bytes[at++] = 3 << 3 | 2;
	bytes[at++] = 0xff;
	at += fake_unsigned5(bytes + at, 34, minimum);
	at += fake_unsigned5(bytes + at, 5, minimum); /* -3 */
	bytes[at++] = 0xff;
	at += fake_unsigned5(bytes + at, 10, minimum);
	at += fake_unsigned5(bytes + at, 2 * 8991, minimum);
	bytes[at++] = 0;
	return at;
}

static void check_method(int version)
{
	struct fake_jvm *fake = fake_jvm_new(version);
	struct hotspot_memory memory = fake_memory(fake);
	struct hotspot_method method;
	uint8_t lines[32];
	size_t size = put_lines(lines, fake->layout.unsigned5_minimum);
	uint64_t pool = fake_class(fake, "com/shop/Cart$Item", "Cart.java"),
		 address = fake_java(fake, pool, 7, "add", lines, size);
	static const int32_t expected[][2] = {{-1, 10}, {0, 10}, {2, 10},    {3, 12},
					      {19, 12}, {20, 9}, {25, 9000}, {39, 9000}};

	assert_int_equal(hotspot_method_read(&memory, &fake->layout, address, &method), 0);
	assert_string_equal(method.name, "com.shop.Cart$Item.add");
	assert_string_equal(method.file, "Cart.java");
	assert_int_equal(method.bytecode_bytes, 40);
	assert_false(method.is_glue);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(
			hotspot_method_line(&memory, &fake->layout, &method, expected[i][0]),
			expected[i][1]);
	free(fake);
}

static void test_method_17(void **state)
{
	(void)state;
	check_method(17);
}

static void test_method_25(void **state)
{
	(void)state;
	check_method(25);
}

static void test_without_lines(void **state)
{
	struct fake_jvm *fake = fake_jvm_new(17);
	struct hotspot_memory memory = fake_memory(fake);
	struct hotspot_method method;
	uint64_t address = fake_java(fake, fake_class(fake, "A", NULL), 7, "b", "", 0);

	(void)state;
	assert_int_equal(hotspot_method_read(&memory, &fake->layout, address, &method), 0);
	assert_string_equal(method.name, "A.b");
	assert_string_equal(method.file, "");
	assert_int_equal(method.lines, 0);
	assert_int_equal(hotspot_method_line(&memory, &fake->layout, &method, 3), 0);
	free(fake);
}

/* Hidden classes carry an address that no two runs share; what only leads to them is glue. */
static void test_hidden_classes(void **state)
{
	static const struct {
		const char *class, *name;
		bool is_glue;
	} rows[] = {
		{"Shop$$Lambda$14+0x0000000800c03000", "Shop$$Lambda$14.run", true},
		{"java/lang/invoke/LambdaForm$MH+0x00007f1c", "java.lang.invoke.LambdaForm$MH.run",
		 true},
		{"java/lang/invoke/Invokers$Holder", "java.lang.invoke.Invokers$Holder.run", true},
		{"java/lang/invoke/MethodHandle", "java.lang.invoke.MethodHandle.run", false},
		{"Shop$Made+0x00007f1c00", "Shop$Made.run", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_jvm *fake = fake_jvm_new(25);
		struct hotspot_memory memory = fake_memory(fake);
		struct hotspot_method method;
		uint64_t pool = fake_class(fake, rows[i].class, NULL);

		assert_int_equal(hotspot_method_read(&memory, &fake->layout,
						     fake_java(fake, pool, 7, "run", "", 0),
						     &method),
				 0);
		assert_string_equal(method.name, rows[i].name);
		assert_int_equal(method.is_glue, rows[i].is_glue);
		free(fake);
	}
}

static void test_lies(void **state)
{
	struct fake_jvm *fake = fake_jvm_new(17);
	struct hotspot_memory memory = fake_memory(fake);
	struct hotspot_method method;
	uint64_t pool, address, symbol;
	char text[4000];

	(void)state;
	assert_int_equal(hotspot_method_read(&memory, &fake->layout, 12, &method), -EBADMSG);
	assert_int_equal(hotspot_method_read(&memory, &fake->layout, 16, &method), -EFAULT);
	/* an index that no pool has */
	pool = fake_class(fake, "A", NULL);
	address = fake_java(fake, pool, 7, "b", "", 0);
	fake_put(fake, pool + fake->layout.pool_struct_size + 8 * 7, 0, 8);
	assert_int_equal(hotspot_method_read(&memory, &fake->layout, address, &method), -EBADMSG);
	/* a class with a very long name */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	symbol = fake_symbol(fake, text);
	address = fake_java(fake, pool, 8, text, "", 0);
	memcpy(&pool, fake->bytes + (pool - FAKE_BIAS) + fake->layout.at.pool_holder.offset, 8);
	fake_set(fake, pool, fake->layout.at.klass_name, symbol);
	assert_int_equal(hotspot_method_read(&memory, &fake->layout, address, &method), 0);
	assert_int_equal(strlen(method.name), HOTSPOT_MAX_NAME_BYTES - 1 + 1 + 255);
	free(fake);
}

/* It ends where the memory does, or after 64 KiB. */
static void test_endless_lines(void **state)
{
	struct fake_jvm *fake = fake_jvm_new(17);
	struct hotspot_memory memory = fake_memory(fake);
	struct hotspot_method method = {.lines = FAKE_HEAP};

	(void)state;
	memset(fake->bytes + (FAKE_HEAP - FAKE_BIAS), 1, FAKE_BYTES - (FAKE_HEAP - FAKE_BIAS));
	fake->reads = 0;
	assert_int_equal(hotspot_method_line(&memory, &fake->layout, &method, 5), 0);
	assert_true(fake->reads <= HOTSPOT_MAX_LINE_BYTES / 256 + 1);
	free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_method_17),     cmocka_unit_test(test_method_25),
		cmocka_unit_test(test_without_lines), cmocka_unit_test(test_hidden_classes),
		cmocka_unit_test(test_lies),	      cmocka_unit_test(test_endless_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
