/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of GPU libraries in the order of reports, and words for them. */
#ifndef PKBPF_ROWS_GPU_CALLS_H
#define PKBPF_ROWS_GPU_CALLS_H

#include <stdbool.h>

#include "profile/function_table.h"
#include "profile/profile.h"

/* Sums of a group of functions. */
struct gpu_group_sums {
	uint64_t count, unmeasured, ns, bytes, freed_bytes, errors;
	uint64_t runs, run_ns; /* of kernels on the device, that were reported */
};

struct gpu_calls {
	const struct gpu_call **sums; /* of all calls: most time first, then most bytes and calls */
	const struct gpu_call **stacks; /* likewise */
	const struct gpu_call **errors; /* most first */
	/* launches by stream: those of one kernel side by side */
	const struct gpu_call **streams;
	size_t sum_count, stack_count, error_count, stream_count;
	size_t other_count; /* of sums: they begin with what is no launch */
	struct gpu_group_sums groups[PKBPF_GPU_GROUPS];
	uint64_t samples; /* stacks that were read */
	uint64_t calls;	  /* all, and those that the stacks stand for */
	uint64_t stacks_stand_for;
};

/* -ENOMEM. The rows are borrowed from the profile. */
int gpu_calls_make(struct gpu_calls *calls, const struct profile *profile);
void gpu_calls_done(struct gpu_calls *calls);

/* To which streams launches went, of those whose stack was read. */
struct gpu_streams {
	uint64_t count;		 /* of streams */
	uint64_t samples;	 /* launches that were looked at */
	uint64_t launches;	 /* these stand for so many, */
	uint64_t default_stream; /* and of these, so many went to the default one, which waits for
				  * the others */
};

/* Of the kernel of a row of sums; NULL: of all launches. */
struct gpu_streams gpu_calls_streams(const struct gpu_calls *calls, const struct gpu_call *call);

#define GPU_CALL_TEXT_SIZE 256

/* "launch", "copy", ... */
const char *gpu_group_name(uint32_t group);
/* "host to device"; "": it has none */
const char *gpu_call_way(const struct gpu_call *call);
/* Of a launch: the kernel, as the program registered it or by the name of its host function, else
 * where it is: "[kernel at train+0x1234]"; "": no launch. Not escaped. */
const char *gpu_call_kernel(char text[GPU_CALL_TEXT_SIZE], const struct profile *profile,
			    const struct gpu_call *call);
/* Bytes of what was allocated and not freed, as far as both were seen. */
uint64_t gpu_call_live_bytes(const struct gpu_call *call);

#endif
