/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of one JVM over time: what lies in its heaps, and what lay there a moment ago, for
 * samples that come late. One owner thread. */
#ifndef PKBPF_SYMBOL_JIT_HOTSPOT_CODE_H
#define PKBPF_SYMBOL_JIT_HOTSPOT_CODE_H

#include "base/array.h"
#include "hotspot/hotspot_process.h"

/* Code that is gone is kept so long, and so much of it. */
#define HOTSPOT_CODE_KEPT_NS  10000000000ULL
#define HOTSPOT_CODE_MAX_PAST 8192

struct hotspot_past {
	struct hotspot_blob *blob; /* a copy */
	uint64_t born_ns, gone_ns;
};

struct hotspot_code {
	struct hotspot_process *process; /* owned */
	uint64_t looked_ns;		 /* what was there then is known */
	uint64_t looking_ns;
	ARRAY_OF(struct hotspot_past) past; /* as they went */
	uint64_t dropped;		    /* not kept: too many; taken by the user */
};

void hotspot_code_done(struct hotspot_code *code);
/* As hotspot_process_look(). */
int hotspot_code_look(struct hotspot_code *code, uint64_t now_ns);
/* What lay at an address at a time; NULL: nothing that is known. Where one piece replaced another
 * between two looks, the new one. Until the next look. */
const struct hotspot_blob *hotspot_code_at(const struct hotspot_code *code, uint64_t address,
					   uint64_t time_ns);

#endif
