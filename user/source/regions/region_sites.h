/* SPDX-License-Identifier: BSD-2-Clause */
/* The places of a file at which programs enter and leave regions. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_SITES_H
#define PKBPF_SOURCE_REGIONS_REGION_SITES_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

#include "base/array.h"
#include "elf/elf_file.h"
#include "source/regions/usdt_pairs.h"

enum region_role {
	REGION_ENTER,
	REGION_LEAVE,
	REGION_ITEMS,
	REGION_BEGIN,
	REGION_END,
	REGION_PYTHON,	 /* sys.audit() of an interpreter */
	REGION_SITE,	 /* as its description says */
	REGION_FUNCTION, /* the same, of a function */
	REGION_ROLES,
};

struct region_site {
	enum region_role role;
	uint64_t offset;		    /* in the file */
	uint64_t semaphore_offset;	    /* of the counter that the kernel raises; 0: none */
	struct pkbpf_span_site description; /* REGION_SITE */
	uint64_t cookie;		    /* number of the description */
	bool is_emulated; /* of a pair of functions: the kernel need not step over it */
	bool is_stepped;  /* of functions: it has to */
};

struct region_sites {
	ARRAY_OF(struct region_site) items;
	uint32_t refused;  /* probes of pairs that are on instructions which cannot be probed */
	uint32_t shadowed; /* whose semaphores the kernel may raise elsewhere (elf/usdt_site.h) */
	uint32_t refused_functions; /* of pairs: their first instructions cannot be probed */
};

/* The pairs of probes that are looked for. */
struct region_pairs {
	ARRAY_OF(struct usdt_pair) items;
};

/* Adds the sites of a file; path: as the kernel shows it. 0 also without sites. -ENOMEM; -EIO. */
int region_sites_find(const struct elf_file *file, const char *path,
		      const struct region_pairs *pairs, struct region_sites *sites);
void region_sites_done(struct region_sites *sites);

#endif
