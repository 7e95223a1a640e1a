/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which allocations are sampled, and for how many bytes each stands. Sampled are the allocations
 * that contain a point of a Poisson process over the allocated bytes with one point per `interval`
 * bytes: one of `size` bytes is sampled with probability p = 1 - exp(-size / interval),
 * independently of all others, and stands for size / p bytes. Sums of these weights are unbiased
 * for any set of allocations that is chosen afterwards.
 *
 * Integers only: the library runs inside other programs' malloc, whose floating-point state is
 * theirs. Shared with pkbpf, which finds an interval from a weight.
 */
#ifndef PKBPF_PRELOAD_SAMPLING_H
#define PKBPF_PRELOAD_SAMPLING_H

#include <stdint.h>

/* Larger intervals and sizes would overflow. */
#define SAMPLING_MAX_INTERVAL (1ULL << 40)

/* The logarithm has this many fractional bits. */
#define SAMPLING_LOG_BITS 24
#define SAMPLING_LN2_32	  2977044472ULL /* ln 2 * 2^32 */

/* splitmix64 of Steele, Lea and Flood (2014). */
static inline uint64_t sampling_random(uint64_t *state)
{
	uint64_t word = *state += 0x9E3779B97F4A7C15ULL;

	word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ULL;
	word = (word ^ word >> 27) * 0x94D049BB133111EBULL;
	return word ^ word >> 31;
}

/* -log2(word / 2^64) in units of 2^-SAMPLING_LOG_BITS. Each squaring of the mantissa gives one more
 * bit. */
static inline uint64_t sampling_log2(uint64_t word)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(word | 1);
	uint64_t mantissa = (word | 1) << zeros >> 32; /* 1 <= mantissa / 2^31 < 2 */
	uint64_t fraction = 0;

	for (int i = 0; i < SAMPLING_LOG_BITS; i++) {
		mantissa = mantissa * mantissa >> 31;
		fraction <<= 1;
		if (mantissa >> 32) {
			mantissa >>= 1;
			fraction |= 1;
		}
	}
	return ((uint64_t)(zeros + 1) << SAMPLING_LOG_BITS) - fraction;
}

/* Bytes up to the next point: exponentially distributed with mean `interval`, at least 1. */
static inline uint64_t sampling_distance(uint64_t *state, uint64_t interval)
{
	/* at most 65 * ln 2 in units of 2^-24: 30 bits */
	uint64_t log = sampling_log2(sampling_random(state)) * (SAMPLING_LN2_32 >> 8) >> 24;

	/* `interval` has up to 40 bits: split, so that nothing overflows. */
	return (interval >> 24) * log + ((interval & 0xffffff) * log >> 24) + 1;
}

#define SAMPLING_ONE (1ULL << 32)

static inline uint64_t sampling_times(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 32);
}

/* x / (1 - exp(-x)) in units of 2^-32, of x in the same units and up to 1. Its series in Bernoulli
 * numbers; the first term left out is below 4e-8. */
static inline uint64_t sampling_series(uint64_t x)
{
	uint64_t square = sampling_times(x, x), fourth = sampling_times(square, square);

	return SAMPLING_ONE + x / 2 + square / 12 - fourth / 720 +
	       sampling_times(fourth, square) / 30240 - sampling_times(fourth, fourth) / 1209600;
}

/* Bytes for which a sampled allocation stands: size / (1 - exp(-size / interval)). size > 0. */
static inline uint64_t sampling_weight(uint64_t size, uint64_t interval)
{
	uint64_t ratio, scale;
	int halvings = 0;

	if (size >= interval * 22) /* the difference is below 3e-10 */
		return size;
	ratio = (uint64_t)(((unsigned __int128)size << 32) / interval);
	while (ratio > SAMPLING_ONE) {
		ratio >>= 1;
		halvings++;
	}
	scale = sampling_series(ratio);
	/* With e = exp(-x): 2x / (1 - e^2) = x / (1 - e) * 2 / (1 + e), and e = 1 - x / scale. */
	for (; halvings; halvings--) {
		uint64_t e = SAMPLING_ONE - (uint64_t)(((unsigned __int128)ratio << 32) / scale);

		scale = (uint64_t)(((unsigned __int128)scale << 33) / (SAMPLING_ONE + e));
		ratio <<= 1;
	}
	return sampling_times(interval, scale);
}

#endif
