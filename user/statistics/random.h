/* SPDX-License-Identifier: BSD-2-Clause */
/* Pseudo-random numbers that are the same on all machines: SplitMix64 (Steele, Lea and Flood 2014).
 */
#ifndef PKBPF_STATISTICS_RANDOM_H
#define PKBPF_STATISTICS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* *state: the seed at first. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Puts items in random order (Fisher and Yates). */
static inline void random_shuffle(uint64_t *state, uint32_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)(random_next(state) % i);
		uint32_t item = items[j];

		items[j] = items[i - 1];
		items[i - 1] = item;
	}
}

#endif
