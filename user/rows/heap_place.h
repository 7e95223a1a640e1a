/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of allocation as readers see them. */
#ifndef PKBPF_ROWS_HEAP_PLACE_H
#define PKBPF_ROWS_HEAP_PLACE_H

#include <stddef.h>

#include "profile/function_table.h"
#include "profile/profile.h"

/* With fewer samples an estimate says nothing: it is not shown. */
#define HEAP_PLACE_LEAST_SAMPLES 3

/* The functions next to the allocator, leaf first, at most `most`; returns their number. C++
 * operators that only call the allocator are left out, and so is what runs main(). */
size_t heap_place_functions(const struct profile *profile, const struct function_table *functions,
			    const struct heap_place *place, const struct function **ret_functions,
			    size_t most);
/* "grows like a leak" */
const char *heap_trend_name(enum heap_trend trend);

#endif
