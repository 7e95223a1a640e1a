// SPDX-License-Identifier: BSD-2-Clause
/* Tests for pkbpf/v8.h: the words of JavaScript frames, and that no others look like them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pkbpf/hotspot.h>
#include <pkbpf/python.h>
#include <pkbpf/v8.h>

static void test_pairs(void **state)
{
	static const uint32_t offsets[] = {0, 1, 16383, 16384, 4194302, PKBPF_V8_NO_OFFSET};
	const uint64_t shared = 0x7ffffffffff8ULL;

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		uint64_t identity = pkbpf_v8_identity(PKBPF_V8_MAX_SCRIPT, 0xffffff),
			 first = pkbpf_v8_first_word(shared, offsets[i]),
			 second = pkbpf_v8_second_word(identity, offsets[i]);

		assert_true(pkbpf_is_v8_pair(first, second));
		assert_false(pkbpf_is_v8_pair(second, first));
		assert_false(pkbpf_is_v8_pair(first, first));
		assert_int_equal(pkbpf_v8_shared(first), shared);
		assert_int_equal(pkbpf_v8_identity_of(second), identity);
		assert_int_equal(pkbpf_v8_offset(first, second), offsets[i]);
		assert_false(pkbpf_is_python(first));
		assert_false(pkbpf_is_python(second));
		assert_false(pkbpf_is_hotspot(first));
		assert_false(pkbpf_is_hotspot(second));
	}
}

static void test_identities(void **state)
{
	(void)state;
	assert_int_equal(pkbpf_v8_identity(3, 5), 3ULL << 24 | 5);
	assert_int_equal(pkbpf_v8_identity(PKBPF_V8_MAX_SCRIPT + 1, 5), 0);
	assert_int_equal(pkbpf_v8_identity(3, 1U << 24), 0);
	assert_int_equal(pkbpf_v8_identity(3, UINT32_MAX), 0);
}

static void test_others(void **state)
{
	const uint64_t words[] = {
		0x7f0000001000ULL,
		0xffffffff81000000ULL,
		pkbpf_python_word(0x7f0000001230ULL, PKBPF_PYTHON_NO_INSTRUCTION),
		pkbpf_python_anchor_word(0x7ffffffff000ULL) | PKBPF_PYTHON_OTHER_CHAIN,
		PKBPF_PYTHON_CUT_WORD | 0xff,
		pkbpf_hotspot_word(0x7f0000001230ULL, 0xffff),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_false(pkbpf_is_v8(words[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_identities),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
