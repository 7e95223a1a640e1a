// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_layout: what versions publish, as recorded from programs, and lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "v8/v8_layout.h"

struct value {
	const char *name;
	int32_t values[4]; /* of 10.2, 11.3, 12.4, 13.6; -1: not published */
};

static const struct value recorded[] = {
	{"TaggedSize", {8, 8, 8, 8}},
	{"TaggedSizeLog2", {3, 3, 3, 3}},
	{"HeapObjectTagMask", {3, 3, 3, 3}},
	{"CodeKindBaseline", {11, 11, 10, 10}},
	{"class_JSFunction__shared__SharedFunctionInfo", {24, 24, 32, 32}},
	{"class_JSFunction__code__Tagged_Code_", {-1, -1, 24, -1}},
	{"class_SharedFunctionInfo__flags__int", {48, 48, 48, 56}},
	{"class_SharedFunctionInfo__name_or_scope_info__Object", {16, 16, 16, 24}},
	{"class_SharedFunctionInfo__script_or_debug_info__HeapObject", {32, 32, -1, -1}},
	{"class_SharedFunctionInfo__script__Tagged_HeapObject_", {-1, -1, 32, 40}},
	{"class_Script__line_ends__Object", {56, 56, 56, 56}},
	{"class_BytecodeArray__data__uintptr_t", {56, 54, 64, 64}},
	{"class_Code__flags__uint32_t", {48, -1, 48, 52}},
	{"class_Code__instruction_size__int", {40, -1, 52, 56}},
	{"class_Code__instruction_start__uintptr_t", {128, -1, 40, 40}},
	{"class_Code__deoptimization_data__FixedArray", {-1, 16, -1, -1}},
	{"scopeinfo_idx_first_vars", {3, 3, 3, 5}},
	{"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", {257, 262, 274, 282}},
	{"type_ScopeInfo__SCOPE_INFO_TYPE", {256, 261, 272, 280}},
	{"type_Script__SCRIPT_TYPE", {170, 167, 167, 167}},
	{"type_ScriptOrModule__SCRIPT_OR_MODULE_TYPE", {1, 2, 3, 4}},
	{"type_Code__CODE_TYPE", {240, 245, 206, 187}},
	{"type_BytecodeArray__BYTECODE_ARRAY_TYPE", {195, 191, 205, 186}},
	{"DeoptimizationDataInliningPositionsIndex", {-1, 7, 7, 8}},
	{"DeoptimizationDataLiteralArrayIndex", {-1, 2, 2, 3}},
	{"DeoptimizationDataSharedFunctionInfoIndex", {-1, 6, 6, -1}},
	{"DeoptimizationDataWrappedSharedFunctionInfoIndex", {-1, -1, -1, 7}},
};

static const struct v8_layout *layout_of(size_t version)
{
	static const uint32_t versions[][2] = {{10, 2}, {11, 3}, {12, 4}, {13, 6}};

	return v8_layout_find(versions[version][0], versions[version][1]);
}

/* Of the first `count` values, without one of them. */
static bool agrees(size_t version, const char *without, size_t count)
{
	struct v8_agreement agreement = {0};

	for (size_t i = 0; i < count; i++)
		if (recorded[i].values[version] >= 0 &&
		    (!without || strncmp(recorded[i].name, without, strlen(without)) != 0))
			v8_layout_compare(layout_of(version), recorded[i].name,
					  recorded[i].values[version], &agreement);
	assert_false(agreement.differs);
	return v8_layout_agrees(&agreement);
}

static void test_recorded(void **state)
{
	(void)state;
	for (size_t version = 0; version < 4; version++) {
		assert_non_null(layout_of(version));
		assert_true(layout_of(version)->kernel.is_known);
		assert_true(agrees(version, NULL, ARRAY_SIZE(recorded)));
	}
}

/* With one value more, which is wrong. */
static bool agrees_with(size_t version, const char *wrong)
{
	struct v8_agreement agreement = {20, true, true, false};

	assert_true(v8_layout_agrees(&agreement));
	v8_layout_compare(layout_of(version), wrong, 4, &agreement);
	return v8_layout_agrees(&agreement);
}

static void test_others(void **state)
{
	static const char *const wrong[] = {
		"TaggedSize",
		"class_JSFunction__shared__Anything",
		"class_SharedFunctionInfo__script__Tagged_HeapObject_",
		"class_BytecodeArray__data__",
		"type_ScopeInfo__SCOPE_INFO_TYPE",
		"DeoptimizationDataLiteralArrayIndex",
	};

	(void)state;
	assert_null(v8_layout_find(9, 4));
	assert_null(v8_layout_find(13, 7));
	assert_null(v8_layout_find(0, 0));
	for (size_t version = 0; version < 4; version++)
		for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
			assert_false(agrees_with(version, wrong[i]));
}

/* Programs that publish little, with or without a version that is known. */
static void test_few(void **state)
{
	static const char *const types[] = {"type_Script__SCRIPT_TYPE",
					    "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"};
	struct v8_agreement agreement = {0};

	(void)state;
	for (size_t version = 0; version < 4; version++) {
		assert_false(agrees(version, NULL, 1));
		assert_false(agrees(version, "type_Script__", ARRAY_SIZE(recorded)));
		assert_false(agrees(version, "type_SharedFunctionInfo__", ARRAY_SIZE(recorded)));
	}
	assert_false(v8_layout_agrees(&agreement));
	v8_layout_compare(layout_of(1), types[0], 167, &agreement);
	v8_layout_compare(layout_of(1), types[1], 262, &agreement);
	assert_false(agreement.differs);
	assert_false(v8_layout_agrees(&agreement));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
