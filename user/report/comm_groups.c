// SPDX-License-Identifier: BSD-2-Clause
#include "report/comm_groups.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Digits become a star, at the end and where they are no part of a word: C1 and C2 are two. */
static void make_pattern(char pattern[PKBPF_COMM_SIZE + 1], const char *name)
{
	size_t length = 0;

	while (*name && length < PKBPF_COMM_SIZE) {
		size_t digits = strspn(name, "0123456789");
		bool in_word =
			length && isalpha((unsigned char)pattern[length - 1]) && name[digits];

		if (digits && !in_word) {
			pattern[length++] = '*';
			name += digits;
			continue;
		}
		/* Of a word, digits as they are. */
		for (digits = digits ? digits : 1; digits && length < PKBPF_COMM_SIZE; digits--)
			pattern[length++] = *name++;
	}
	pattern[length] = '\0';
}

static int by_comm(const void *left, const void *right)
{
	const struct comm_group *a = left, *b = right;

	return (a->comm > b->comm) - (a->comm < b->comm);
}

static int by_pattern(const void *left, const void *right)
{
	const struct comm_group *a = left, *b = right;
	int order = strcmp(a->pattern, b->pattern);

	return order ? order : by_comm(left, right);
}

static size_t drop_repeated(struct comm_group *items, size_t count)
{
	size_t kept = 0;

	qsort(items, count, sizeof(*items), by_comm);
	for (size_t i = 0; i < count; i++)
		if (!kept || items[kept - 1].comm != items[i].comm)
			items[kept++] = items[i];
	return kept;
}

int comm_groups_init(struct comm_groups *groups, const struct profile *profile)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	struct comm_group *items = calloc(count + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i].comm = rows[i].comm;
	count = drop_repeated(items, count);
	for (size_t i = 0; i < count; i++)
		make_pattern(items[i].pattern, profile_string(profile, items[i].comm));
	qsort(items, count, sizeof(*items), by_pattern);
	for (size_t i = 0, first = 0; i < count; i++) {
		if (strcmp(items[i].pattern, items[first].pattern) != 0)
			first = i;
		items[i].first = items[first].comm;
		items[i].has_several = i > first;
		items[first].has_several |= i > first;
	}
	qsort(items, count, sizeof(*items), by_comm);
	*groups = (struct comm_groups){.items = items, .count = count};
	return 0;
}

void comm_groups_done(struct comm_groups *groups)
{
	free(groups->items);
	*groups = (struct comm_groups){0};
}

static const struct comm_group *group_of(const struct comm_groups *groups, uint32_t comm)
{
	struct comm_group wanted = {.comm = comm};

	return groups->count
		       ? bsearch(&wanted, groups->items, groups->count, sizeof(wanted), by_comm)
		       : NULL;
}

uint32_t comm_groups_first(const struct comm_groups *groups, uint32_t comm)
{
	const struct comm_group *group = group_of(groups, comm);

	return group ? group->first : comm;
}

const char *comm_groups_text(const struct comm_groups *groups, const struct profile *profile,
			     uint32_t comm)
{
	const struct comm_group *group = group_of(groups, comm);

	return group && group->has_several ? group->pattern : profile_string(profile, comm);
}
