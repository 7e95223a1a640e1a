/* SPDX-License-Identifier: BSD-2-Clause */
/* The places in a file where a function gets its probes. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_SITES_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_SITES_H

#include "elf/elf_file.h"
#include "instruction/function_exits.h"
#include "source/regions/function_match.h"
#include "source/regions/region_sites.h"

/* The longest functions known, interpreters and generated parsers, have about 200 KB. */
#define MAX_FUNCTION_BYTES (1U << 20)

/* A function of a file; all borrowed. */
struct function_code {
	const struct elf_file *file;
	const struct matched_functions *matches; /* for the cold parts */
	const struct matched_function *matched;
	const char *name; /* that its region has */
	uint64_t offset;  /* of its first instruction in the file */
	uint32_t pair;	  /* what its sites have in common */
};

/* Appends the entry, and behind it the exits that are known (none: probes->exit_count is 0).
 * -ENOMEM; -EBADMSG: an address is in no part of the file. */
int function_sites_find(const struct function_code *code, const struct function_probes *probes,
			struct region_sites *sites);

#endif
