/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of CUDA and HIP that are watched, and where a file has them. */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_FUNCTIONS_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_FUNCTIONS_H

#include <pkbpf/gpu_call.h>

#include "elf/elf_file.h"
#include "source/regions/region_sites.h"

struct gpu_function {
	const char *name; /* without the suffix of its variant */
	enum pkbpf_gpu_group group;
	enum pkbpf_gpu_shape shape;
	uint32_t way; /* of a copy: enum pkbpf_gpu_way; of a launch: PKBPF_GPU_OF_DRIVER or 0 */
};

/* What stands for the function of kernels whose launch is not among the calls. */
#define GPU_IN_GRAPH "[in a graph]"
#define GPU_UNSEEN   "[launch not seen]"

/* NULL: beyond the last one. */
const struct gpu_function *gpu_function_at(size_t number);
/* Which of them calls the other. */
enum pkbpf_gpu_layer gpu_function_layer(const struct gpu_function *function);
/* The function of this name or of one of its variants: _v2, _ptsz and the like. NULL: it is none
 * of them. */
const struct gpu_function *gpu_function_find(const char *name);

/* By the name in the table. NULL: there is none. */
const struct gpu_function *gpu_function_named(const char *name);
/* Is the default stream of the variant with this name one of the calling thread? */
bool gpu_function_is_per_thread(const char *name);

/* Is this mangled symbol the inner function to which the exported one of HIP's library passes its
 * call? ret_name: that of the exported one. */
bool gpu_function_is_inner(const char *symbol, char *ret_name, size_t size);

#define GPU_UNMEASURED_NAMES 200

struct gpu_function_sites {
	struct region_sites sites; /* PKBPF_SITE_CALL, _COUNT or _RETURN */
	uint32_t count;		   /* functions with probes */
	uint32_t unmeasured;	   /* of them: their ends cannot be seen */
	uint32_t refused;	   /* functions that cannot be probed, beside count */
	char unmeasured_names[GPU_UNMEASURED_NAMES], refused_names[GPU_UNMEASURED_NAMES];
};

/* Finds the functions that a file defines. 0 also when it has none; -ENOMEM. is_runtime_alone: see
 * gpu_library_is_runtime(). */
int gpu_function_sites_find(const struct elf_file *file, bool is_runtime_alone,
			    struct gpu_function_sites *ret_sites);
void gpu_function_sites_done(struct gpu_function_sites *sites);

#endif
