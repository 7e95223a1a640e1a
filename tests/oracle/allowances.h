/* SPDX-License-Identifier: BSD-2-Clause */
/* How many differences are known, and why, in which files. */
#ifndef PKBPF_TESTS_ALLOWANCES_H
#define PKBPF_TESTS_ALLOWANCES_H

#include <stddef.h>

#define MAX_ALLOWANCES 64

struct allowance {
	char pattern[256]; /* of the file name */
	unsigned long max_count;
};

struct allowances {
	struct allowance items[MAX_ALLOWANCES];
	size_t count;
};

/* Lines of "PATTERN MAX-COUNT reason in words"; '#' begins a comment. Ends the program when there
 * is anything else. */
void allowances_read(struct allowances *allowances, const char *path);
/* Of the first pattern that fits; 0: none does. */
unsigned long allowances_find(const struct allowances *allowances, const char *path);

#endif
