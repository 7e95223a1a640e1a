/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of tracks. A process that executes another program has the name of the last one, as in ps;
 * files are written in order of time, so names are known at the end. */
#ifndef PKBPF_EXPORT_TIMELINE_TRACK_NAMES_H
#define PKBPF_EXPORT_TIMELINE_TRACK_NAMES_H

#include <stdint.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "process/process_table.h"

struct track_name {
	uint32_t pid, tid; /* tid 0: of the process */
	uint64_t born_ns;  /* as in struct process; 0: all that had this pid */
	uint64_t image_ns; /* since when the process runs this program */
	char text[64];
};

struct track_names { /* zero-initialised is empty */
	struct hash_map index;
	ARRAY_OF(struct track_name) items;
};

void track_names_done(struct track_names *names);
/* Adds or replaces a name; the name of an earlier program is ignored. -ENOMEM. */
int track_names_put(struct track_names *names, const struct track_name *name);
/* Brings names of processes up to date; those without a name get none. */
void track_names_update(struct track_names *names, struct process_table *processes);
/* NULL: none. */
const char *track_names_get(const struct track_names *names, uint32_t pid, uint32_t tid,
			    uint64_t born_ns);

#endif
