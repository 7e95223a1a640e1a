/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a Chrome trace being written, for the files that write its parts; private. */
#ifndef PKBPF_EXPORT_TIMELINE_CHROME_PRIVATE_H
#define PKBPF_EXPORT_TIMELINE_CHROME_PRIVATE_H

#include <stdio.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "export/timeline/timeline_slice.h"
#include "export/timeline/track_names.h"

/* Thread numbers of tracks that are no threads; larger than any of the kernel's. */
#define TRACK_FIRST (1U << 23)
/* Those of samples of a thread: this and its tid. */
#define TRACK_SAMPLES (1U << 24)

struct open_frame {
	uint32_t function;
	double begin_ns;
};

struct chrome {
	FILE *out;
	bool lines, begun;
	uint64_t first_ns;
	uint64_t requests;	  /* ids of async events */
	struct track_names names; /* of all with this pid */
	struct hash_map sampled;  /* pid << 32 | tid: until when its last sample stands */
	/* processes whose counters are not 0, of this slice and the one before */
	ARRAY_OF(uint32_t) counted, counted_before;
	ARRAY_OF(struct open_frame) frames;
};

/* Begins an event up to its name's value; the caller closes it. */
void chrome_begin_event(struct chrome *chrome, char phase, uint32_t pid, uint32_t tid,
			double time_ns);
/* Names a process (tid 0) or thread, at the end of the file. -ENOMEM. */
int chrome_name_track(struct chrome *chrome, uint32_t pid, uint32_t tid, const char *name);
/* Goes to another stack at a time: closes frames that are not in it, and opens its own. */
int chrome_go_to_stack(struct chrome *chrome, const struct timeline_slice *slice, uint32_t tid,
		       const struct timeline_stack *stack, double now_ns);
/* Closes frames beyond depth. */
void chrome_close_frames(struct chrome *chrome, const struct timeline_slice *slice, uint32_t pid,
			 uint32_t tid, size_t depth, double now_ns);
/* "stack":[…]: its functions, leaf first. */
void chrome_write_stack(struct chrome *chrome, const struct timeline_slice *slice, uint32_t stack);
/* Single events of a slice: CPU samples and waits. -ENOMEM. */
int chrome_write_moments(struct chrome *chrome, struct timeline_slice *slice);

#endif
