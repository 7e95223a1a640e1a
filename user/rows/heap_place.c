// SPDX-License-Identifier: BSD-2-Clause
/* Names places of allocation. */
#include "rows/heap_place.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "rows/plumbing.h"

/* libstdc++'s and libc++'s, which call malloc. */
static bool is_allocator(const struct function *function)
{
	static const char *const names[] = {"operator new", "__gnu_cxx::new_allocator<",
					    "std::allocator<", "std::allocator_traits<",
					    "std::__new_allocator<"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(function->name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

size_t heap_place_functions(const struct profile *profile, const struct function_table *functions,
			    const struct heap_place *place, const struct function **ret_functions,
			    size_t most)
{
	size_t frame_count, count = 0;
	const uint32_t *frames = profile_stack(profile, place->stack, &frame_count);
	bool has_python = false;

	for (size_t i = 0; i < frame_count; i++) {
		size_t inlined;
		const uint32_t *of_frame = function_table_frame(functions, frames[i], &inlined);

		for (size_t j = 0; j < inlined; j++) {
			const struct function *function =
				function_table_get(functions, of_frame[j]);

			/* Functions of the interpreter alone are no place in a program. */
			if (count == most && !has_python && function->mark == FUNCTION_PYTHON) {
				ret_functions[most - 1] = function;
				return count;
			}
			if (count == most || (count ? plumbing_sort(function) == FRAME_BEGINS
						    : is_allocator(function)))
				continue;
			has_python |= function->mark == FUNCTION_PYTHON;
			ret_functions[count++] = function;
		}
	}
	return count;
}

const char *heap_trend_name(enum heap_trend trend)
{
	static const char *const names[HEAP_TRENDS] = {
		[HEAP_TREND_UNKNOWN] = "too short to tell",
		[HEAP_TREND_NONE] = "steady",
		[HEAP_TREND_FILLS] = "fills up",
		[HEAP_TREND_GROWS] = "grows like a leak",
	};

	return (unsigned int)trend < HEAP_TRENDS ? names[trend] : names[0];
}
