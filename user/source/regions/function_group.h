/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of a function set: those of functions that come and go together. Thread rule: that of
 * the set. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_GROUP_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_GROUP_H

#include "base/array.h"
#include "source/regions/function_match.h"
#include "source/regions/function_price.h"
#include "source/regions/function_set.h"
#include "source/regions/region_sites.h"

enum function_state {
	FUNCTION_MEASURED,
	FUNCTION_COUNTED, /* its returns have no probes */
	FUNCTION_LET_GO,
};

struct function {
	char name[PKBPF_SPAN_NAME];
	enum function_state state;
	bool is_emulated;	    /* the entry */
	struct region_sites sites;  /* the entry first; without numbers */
	ARRAY_OF(uint32_t) numbers; /* of the sites that have probes, as far as they have */
	uint64_t cost_ns, entries;  /* since the last poll */
};

struct function_file {
	int fd;
	char *path;
};

/* Functions of a file whose probes come and go together. */
struct function_group {
	size_t file, first, count;		 /* functions */
	struct region_probes *entries, *returns; /* NULL: none */
	bool entries_change, returns_change;
};

struct function_set {
	struct function_set_options options;
	struct function_pattern *patterns;
	char **texts;	 /* that they point into */
	uint32_t *found; /* functions, by pattern */
	ARRAY_OF(struct function) functions;
	ARRAY_OF(struct function_file) files;
	ARRAY_OF(struct function_group) groups;
	ARRAY_OF(uint32_t) free_sites;
	struct pkbpf_span_site *sites;
	struct function_price price;
	uint64_t begun_ns, polled_ns;
};

/* Puts probes on the functions from this one on, which are those of the last file. -ENOMEM;
 * -ENOSPC: there are no more sites; what the kernel says. */
int function_groups_add(struct function_set *set, size_t first);
/* NULL: it has none. */
struct function_group *function_group_of(struct function_set *set, const struct function *function);
/* Takes probes off that the states of its functions do not have any more. Of others in the group
 * calls are missed meanwhile, which their rows say. */
void function_group_change(struct function_set *set, struct function_group *group,
			   struct pkbpf_span_row *rows, uint32_t row_count);
/* Takes all probes off. */
void function_groups_end(struct function_set *set);

#endif
