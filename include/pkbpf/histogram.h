/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Log-linear histogram layout shared by BPF programs and user space: 16 buckets per power of two,
 * so that the middle of a bucket is within 1/32 (3.1 %) of every value in it. Values 0..15 are
 * exact.
 */
#ifndef PKBPF_HISTOGRAM_H
#define PKBPF_HISTOGRAM_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define PKBPF_HISTOGRAM_SUB_BITS 4
#define PKBPF_HISTOGRAM_SUB	 (1U << PKBPF_HISTOGRAM_SUB_BITS)
/* Values are ns, bytes or counts; 2^44 ns is 4.8 hours: larger ones land in the last bucket. */
#define PKBPF_HISTOGRAM_MAX_BITS 44
#define PKBPF_HISTOGRAM_BUCKETS                                                                    \
	((PKBPF_HISTOGRAM_MAX_BITS - PKBPF_HISTOGRAM_SUB_BITS + 1) * PKBPF_HISTOGRAM_SUB)

/* One bit of a logarithm: 1 << bits if value needs more than `bits` bits, else 0. */
static inline __attribute__((always_inline)) __u32 pkbpf_log2_bit(__u64 value, __u32 bits)
{
	__u64 negative = 0 - (value >> (1U << bits));

	/* Its top bit is set unless nothing was left. The compiler must not make a comparison of
	 * that. */
	asm("" : "+r"(negative));
	return (__u32)(negative >> 63) << bits;
}

/*
 * floor(log2(value)) without a loop, without __builtin_clzll, which BPF before v4 lacks, and
 * without a branch: the verifier would follow each way through five of them with another result.
 */
static inline __attribute__((always_inline)) __u32 pkbpf_log2(__u64 value)
{
	__u32 result = 0, bit;

	for (__u32 bits = 5; bits > 0; bits--) {
		bit = pkbpf_log2_bit(value, bits);
		value >>= bit;
		result |= bit;
	}
	return result | (__u32)(value >> 1);
}

static inline __attribute__((always_inline)) __u32 pkbpf_histogram_index(__u64 value)
{
	__u32 log, index;

	if (value < PKBPF_HISTOGRAM_SUB)
		return (__u32)value;
	log = pkbpf_log2(value);
	index = (log - PKBPF_HISTOGRAM_SUB_BITS + 1) * PKBPF_HISTOGRAM_SUB +
		(__u32)((value >> (log - PKBPF_HISTOGRAM_SUB_BITS)) & (PKBPF_HISTOGRAM_SUB - 1));
	return index < PKBPF_HISTOGRAM_BUCKETS ? index : PKBPF_HISTOGRAM_BUCKETS - 1;
}

#endif
