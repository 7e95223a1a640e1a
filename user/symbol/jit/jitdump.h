/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of a jitdump, jit-PID.dump, as tools/perf/Documentation/jitdump-specification.txt has
 * them. Of this machine's byte order only. */
#ifndef PKBPF_SYMBOL_JIT_JITDUMP_H
#define PKBPF_SYMBOL_JIT_JITDUMP_H

#include "symbol/jit/code_entry.h"

#define JITDUMP_HEADER_BYTES 40
/* Of a record, so much tells what is needed of it; more only where its name is longer. */
#define JITDUMP_MIN_RECORD_BYTES 16
#define JITDUMP_MAX_NEEDED_BYTES (64 + CODE_MAX_NAME_BYTES)

struct jitdump_header {
	uint32_t size;	  /* of the header: where the records begin */
	bool times_known; /* CLOCK_MONOTONIC; not some counter of the CPU */
};

/* false: not a jitdump. */
bool jitdump_parse_header(const void *data, size_t size, struct jitdump_header *ret_header);

enum jitdump_record {
	JITDUMP_BAD,	/* nothing behind it can be read */
	JITDUMP_PASSED, /* not about code, or not to be believed */
	JITDUMP_CODE,	/* *ret_entry has its name, which points into data */
	JITDUMP_MOVED,	/* *ret_entry has the index of the entry whose name it keeps */
};

/* data: its first bytes, JITDUMP_MAX_NEEDED_BYTES or as many as there are; *ret_total: its
 * length. */
enum jitdump_record jitdump_parse_record(const void *data, size_t size, bool times_known,
					 uint32_t *ret_total, struct code_entry *ret_entry);

#endif
