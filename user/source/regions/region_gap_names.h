/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of regions, and for how long each had no probes. One owner thread. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_GAP_NAMES_H
#define PKBPF_SOURCE_REGIONS_REGION_GAP_NAMES_H

#include <stdint.h>

#include <pkbpf/span.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "event/encoder.h"

/* A program that makes up names has no more of its own, and leaves those of others their room. */
#define REGION_GAP_NAMES_OF_FILE 256
#define REGION_GAP_NAMES_MAX	 (256 * REGION_GAP_NAMES_OF_FILE)

struct region_gap_name {
	char name[PKBPF_SPAN_NAME] __attribute__((aligned(8)));
	uint64_t missed_ns;
};

struct region_gap_names { /* zero-initialized: empty */
	ARRAY_OF(struct region_gap_name) items;
	struct hash_map places; /* hash of the name -> index */
};

/* Notes a name, of which PKBPF_SPAN_NAME - 1 bytes count; of several times the longest is kept,
 * since gaps of two files may overlap. -ENOSPC; -ENOMEM. */
int region_gap_names_note(struct region_gap_names *names, const char *name, uint64_t missed_ns);
/* Notes the names of another list with this time. */
int region_gap_names_join(struct region_gap_names *names, const struct region_gap_names *others,
			  uint64_t missed_ns);
/* Appends a record for each name. -ENOMEM. */
int region_gap_names_send(const struct region_gap_names *names, uint64_t now_ns,
			  struct event_buffer *buffer);
void region_gap_names_done(struct region_gap_names *names);

#endif
