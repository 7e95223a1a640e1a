// SPDX-License-Identifier: BSD-2-Clause
/* Prints the stacks of numbered lines, each once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "profile/function_table.h"
#include "report/text_sections.h"

DEFINE_CLEANUP(struct function_table *, function_table_free)

/* Columns after which further lines of a stack are left out of its label. */
#define LABEL_COLUMNS 60
#define NONE	      SIZE_MAX

/* next[]: of each line the next one with the same stack, or NONE; follows[]: is such a next
 * one. */
static int link_stacks(const uint32_t *stacks, size_t count, size_t *next, bool *follows)
{
	struct hash_map latest = {0};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		uint64_t *before;

		next[i] = NONE;
		before = hash_map_get(&latest, stacks[i], i, &follows[i]);
		if (!before) {
			err = -ENOMEM;
			break;
		}
		follows[i] = !follows[i];
		if (follows[i])
			next[*before] = i;
		*before = i;
	}
	hash_map_done(&latest);
	return err;
}

/* " #1-3, 7: " */
static void stack_label(char label[128], const size_t *next, size_t first)
{
	size_t at = first, length = (size_t)sprintf(label, " #");

	while (at != NONE && length < LABEL_COLUMNS) {
		size_t last = at;

		while (next[last] == last + 1)
			last++;
		length += (size_t)sprintf(label + length, "%s%zu", at == first ? "" : ", ", at + 1);
		if (last > at)
			length += (size_t)sprintf(label + length, "-%zu", last + 1);
		at = next[last];
	}
	strcpy(label + length, at == NONE ? ": " : ", ...: ");
}

int text_ranked_stacks(const struct text_report *report, const uint32_t *stacks, size_t count,
		       size_t kernel_max)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(report->profile, &options);
	_cleanup_free_ size_t *next = calloc(count, sizeof(*next));
	_cleanup_free_ bool *follows = calloc(count, sizeof(*follows));
	char label[128];

	if (!functions || !next || !follows || link_stacks(stacks, count, next, follows))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (follows[i])
			continue;
		stack_label(label, next, i);
		text_leaf_frames(report, functions, stacks[i], kernel_max, label);
	}
	return 0;
}
