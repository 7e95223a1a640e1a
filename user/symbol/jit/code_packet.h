/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process without rights is asked about a perf map or a jitdump, and its answer, as bytes.
 */
#ifndef PKBPF_SYMBOL_JIT_CODE_PACKET_H
#define PKBPF_SYMBOL_JIT_CODE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sampled addresses of a question; more of them share ranges. */
#define CODE_MAX_RANGES 512

/* Addresses from first to last, which is one of them. */
struct code_range {
	uint64_t first, last;
};

/* As the arguments of code_reader_read(). Ranges follow, in order, that none overlaps another. */
struct code_question {
	uint64_t offset, end, max_bytes;
	uint32_t records; /* that may be looked at for names of code that moved */
	uint32_t range_count;
	uint8_t skipping, is_last, is_jitdump, times_known;
	uint32_t reserved;
};

/* Entries follow that overlap one of the ranges, in order of their offsets. */
struct code_answer {
	uint64_t offset;  /* of the cursor, which has moved */
	uint32_t records; /* that are left */
	uint8_t skipping, has_more;
	uint16_t reserved;
};

/* Its name follows, demangled. */
struct code_answer_entry {
	uint64_t offset, start, time_ns;
	uint32_t size, name_size; /* 0: it has one, which was not looked for any longer */
};

#endif
