/* SPDX-License-Identifier: BSD-2-Clause */
/* Parsers of option values. All return 0 or -EINVAL / -ERANGE and set a sentence that names `what`.
 */
#ifndef PKBPF_BASE_PARSE_VALUE_H
#define PKBPF_BASE_PARSE_VALUE_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Decimal, no sign, nothing else around it, within [min, max]. */
int parse_u64(const char *text, const char *what, uint64_t min, uint64_t max, uint64_t *ret_value,
	      struct error *error);
/* "10", "10s", "500ms", "20us", "5m", "1h", "1.5s": a bare number counts seconds. 0 is refused,
 * as is more than a century. */
int parse_duration_ns(const char *text, const char *what, uint64_t *ret_ns, struct error *error);
/* A time of day (unix_ns), or one after some start (after_ns). */
struct parsed_moment {
	bool is_absolute;
	uint64_t after_ns;
	int64_t unix_ns;
};
/* A duration as above, or "2026-11-27T13:45:00", local, in UTC with a Z behind it, or as %t writes
 * it: "20261127T134500Z". */
int parse_moment(const char *text, const char *what, struct parsed_moment *ret_moment,
		 struct error *error);
/* "64", "64K", "64MiB", "2G": powers of 1024, in either case. */
int parse_size_bytes(const char *text, const char *what, uint64_t *ret_bytes, struct error *error);

struct u32_list {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

/* "1,2,30": each within [1, max]; appends to list, repeats dropped; at most 4096. The caller frees
 * items. */
int parse_u32_list(const char *text, const char *what, uint32_t max, struct u32_list *list,
		   struct error *error);

#endif
