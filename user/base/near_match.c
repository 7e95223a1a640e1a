// SPDX-License-Identifier: BSD-2-Clause
/* Optimal string alignment distance (Damerau-Levenshtein without repeated edits) over short
 * words. */
#include "base/near_match.h"

#include <string.h>

/* Longer words are no typing errors of option names. */
#define WORD_MAX 32

static unsigned int min2(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= b_length; j++)
		cost[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			unsigned int replace = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			cost[i][j] = min2(replace, min2(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = min2(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[a_length][b_length];
}

void near_match_offer(struct near_match *match, const char *typed, const char *candidate)
{
	size_t typed_length = strnlen(typed, WORD_MAX + 1);
	size_t length = strnlen(candidate, WORD_MAX + 1);
	unsigned int distance, allowed;

	if (typed_length > WORD_MAX || length > WORD_MAX || typed_length < 2)
		return;
	distance = edit_distance(typed, typed_length, candidate, length);
	allowed = (unsigned int)((length > typed_length ? length : typed_length) + 2) / 3;
	/* A cut word ("freq") is far in letters but plain in meaning. */
	if (typed_length >= 3 && strncmp(typed, candidate, typed_length) == 0)
		distance = 1;
	if (distance > allowed || (match->word && distance >= match->distance))
		return;
	match->word = candidate;
	match->distance = distance;
}
