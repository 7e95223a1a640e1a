/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the programs that see regions on the sites of a file, for all processes that run it: the
 * programs themselves tell targets from others.
 */
#ifndef PKBPF_SOURCE_REGIONS_REGION_PROBES_H
#define PKBPF_SOURCE_REGIONS_REGION_PROBES_H

#include <stdbool.h>

#include "base/error.h"
#include "source/regions/region_sites.h"

struct kernel_types;
struct pkbpf_bpf;
struct region_probes;

/* Before the programs are loaded: chooses how they will be attached. -ENOMEM. */
int region_probes_new(struct pkbpf_bpf *skeleton, const struct kernel_types *types,
		      struct region_probes **ret_probes);
/* Another set of probes with the same programs, which are loaded by now. -ENOMEM. */
int region_probes_copy(const struct region_probes *probes, struct region_probes **ret_probes);
/* fd: of the file. Errors: what the kernel says, with the sentence. */
int region_probes_add(struct region_probes *probes, int fd, const struct region_sites *sites,
		      struct error *error);
/* Takes all of them off; nothing is seen any more. */
void region_probes_remove(struct region_probes *probes);
void region_probes_free(struct region_probes *probes);

#endif
