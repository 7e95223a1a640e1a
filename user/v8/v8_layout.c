// SPDX-License-Identifier: BSD-2-Clause
/* The table of versions: V8's headers src/objects, compared with running programs. */
#include "v8/v8_layout.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* Of the values that are compared, Node publishes more than 20. */
#define LEAST_MATCHES 8

static const struct v8_layout layouts[] = {
	{
		/* Node 18 */
		.major = 10,
		.minor = 2,
		.kernel =
			{
				.is_known = 1,
				.function_shared = 24,
				.shared_script = 32,
				.shared_literal = 52,
				.shared_name = 16,
				.script_id = 64,
				.first_bytecode = 56,
				.scope_first = 3,
				.scope_module = PKBPF_V8_NO_SCOPE,
				.shared_type = 257,
				.scope_type = 256,
				.script_type = 170,
			},
		.code_type = 240,
		.bytecode_type = 195,
		.bytecode_positions = 32,
		.inline_start = 128,
		.code_size = 40,
		.code_flags = 48,
		.code_positions = 24,
		.code_deopt = 16,
		.baseline_kind = 11,
		.deopt_literals = 2,
		.deopt_shared = 6,
		.deopt_positions = 7,
		.position_flags = 1,
	},
	{
		/* Node 20 */
		.major = 11,
		.minor = 3,
		.kernel =
			{
				.is_known = 1,
				.function_shared = 24,
				.shared_script = 32,
				.shared_literal = 52,
				.shared_name = 16,
				.script_id = 64,
				.first_bytecode = 54,
				.scope_first = 3,
				.scope_module = PKBPF_V8_NO_SCOPE,
				.shared_type = 262,
				.scope_type = 261,
				.script_type = 167,
			},
		.code_type = 245,
		.bytecode_type = 191,
		.bytecode_positions = 32,
		.code_start = 40,
		.code_size = 56,
		.code_flags = 48,
		.code_positions = 24,
		.code_deopt = 16,
		.header = 16,
		.baseline_kind = 11,
		.deopt_literals = 2,
		.deopt_shared = 6,
		.deopt_positions = 7,
		.position_flags = 1,
	},
	{
		/* Node 22 */
		.major = 12,
		.minor = 4,
		.kernel =
			{
				.is_known = 1,
				.function_shared = 32,
				.shared_script = 32,
				.shared_literal = 52,
				.shared_name = 16,
				.has_unique = 1,
				.script_id = 64,
				.first_bytecode = 64,
				.scope_first = 3,
				.scope_module = PKBPF_V8_NO_SCOPE,
				.shared_type = 274,
				.scope_type = 272,
				.script_type = 167,
			},
		.code_type = 206,
		.bytecode_type = 205,
		.bytecode_positions = 24,
		.code_start = 40,
		.code_size = 52,
		.code_flags = 48,
		.code_positions = 16,
		.code_deopt = 8,
		.header = 32,
		.baseline_kind = 10,
		.deopt_literals = 2,
		.deopt_shared = 6,
		.deopt_positions = 7,
		.position_flags = 1,
	},
	{
		/* Node 24 */
		.major = 13,
		.minor = 6,
		.kernel =
			{
				.is_known = 1,
				.function_shared = 32,
				.shared_script = 40,
				.shared_literal = 60,
				.shared_name = 24,
				.has_unique = 1,
				.script_id = 64,
				.first_bytecode = 64,
				.scope_first = 5,
				.scope_is_raw = 1,
				.scope_module = 5,
				.shared_type = 282,
				.scope_type = 280,
				.script_type = 167,
			},
		.code_type = 187,
		.bytecode_type = 186,
		.bytecode_positions = 24,
		.code_start = 40,
		.code_size = 56,
		.code_flags = 52,
		.code_positions = 16,
		.code_deopt = 8,
		.header = 32,
		.baseline_kind = 10,
		.deopt_literals = 3,
		.deopt_shared = 7,
		.deopt_positions = 8,
		.wraps_shared = true,
		.position_flags = 1,
	},
};

const struct v8_layout *v8_layout_find(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].major == major && layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

/* Names with an underscore at their end go on with the C++ type of the field, which changes between
 * versions. */
struct published {
	const char *name;
	int32_t value;
};

static bool is_name(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return wanted[length - 1] == '_' ? !strncmp(name, wanted, length) : !strcmp(name, wanted);
}

void v8_layout_compare(const struct v8_layout *layout, const char *name, int32_t value,
		       struct v8_agreement *agreement)
{
	const struct published published[] = {
		{"TaggedSize", 8},
		{"HeapObjectTag", 1},
		{"CodeKindBaseline", layout->baseline_kind},
		{"class_JSFunction__shared__", layout->kernel.function_shared},
		{"class_SharedFunctionInfo__function_data__", 8},
		{"class_SharedFunctionInfo__name_or_scope_info__", layout->kernel.shared_name},
		{"class_SharedFunctionInfo__script_", layout->kernel.shared_script},
		{"class_SharedFunctionInfo__flags__", layout->kernel.shared_literal - 4},
		{"class_Script__source__", 8},
		{"class_Script__name__", 16},
		{"class_Script__line_ends__", 56},
		{"class_Map__instance_type__", 12},
		{"class_String__length__", 12},
		{"class_BytecodeArray__data__", layout->kernel.first_bytecode},
		{"class_Code__instruction_size__", layout->code_size},
		{"class_Code__flags__", layout->code_flags},
		{"class_Code__instruction_start__",
		 layout->code_start ? layout->code_start : layout->inline_start},
		{"class_Code__deoptimization_data__", layout->code_deopt},
		{"class_Code__source_position_table__", layout->code_positions},
		{"scopeinfo_idx_first_vars", layout->kernel.scope_first},
		{"scopeinfo_idx_ncontextlocals", 2},
		{"type_SharedFunctionInfo__", layout->kernel.shared_type},
		{"type_ScopeInfo__", layout->kernel.scope_type},
		{"type_Script__", layout->kernel.script_type},
		{"type_Code__", layout->code_type},
		{"type_BytecodeArray__", layout->bytecode_type},
		{"DeoptimizationDataLiteralArrayIndex", layout->deopt_literals},
		{"DeoptimizationDataInliningPositionsIndex", layout->deopt_positions},
		{"DeoptimizationDataSharedFunctionInfoIndex", layout->deopt_shared},
		{"DeoptimizationDataWrappedSharedFunctionInfoIndex", layout->deopt_shared},
	};

	for (size_t i = 0; i < ARRAY_SIZE(published); i++) {
		if (!is_name(name, published[i].name))
			continue;
		if (published[i].value == value)
			agreement->matches++;
		else
			agreement->differs = true;
		agreement->has_script |= is_name(name, "type_Script__");
		agreement->has_shared |= is_name(name, "type_SharedFunctionInfo__");
	}
}

bool v8_layout_agrees(const struct v8_agreement *agreement)
{
	return !agreement->differs && agreement->has_script && agreement->has_shared &&
	       agreement->matches >= LEAST_MATCHES;
}
