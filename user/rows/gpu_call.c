// SPDX-License-Identifier: BSD-2-Clause
#include "rows/gpu_call.h"

#include <string.h>

#include "base/array.h"

#define INNER_PREFIX "hip::"

enum call_kind { SPINS, COPIES, LAUNCHES };

/* Copies without "Async" return when they are done, but for small ones, which are short. */
static const struct {
	const char *name;
	const char *module; /* the begin of its name; "": any, for what programs link statically */
	enum call_kind kind;
} calls[] = {
	{"cudaDeviceSynchronize", "", SPINS},
	{"cudaStreamSynchronize", "", SPINS},
	{"cudaEventSynchronize", "", SPINS},
	{"cudaThreadSynchronize", "", SPINS},
	{"cudaMemcpy", "", COPIES},
	{"cudaLaunchKernel", "", LAUNCHES},
	{"cudaLaunchKernelExC", "", LAUNCHES},
	{"cudaLaunchCooperativeKernel", "", LAUNCHES},
	{"cudaGraphLaunch", "", LAUNCHES},
	{"cuCtxSynchronize", "libcuda.so", SPINS},
	{"cuStreamSynchronize", "libcuda.so", SPINS},
	{"cuEventSynchronize", "libcuda.so", SPINS},
	{"cuMemcpyDtoH", "libcuda.so", COPIES},
	{"cuLaunchKernel", "libcuda.so", LAUNCHES},
	{"cuLaunchKernelEx", "libcuda.so", LAUNCHES},
	{"cuLaunchCooperativeKernel", "libcuda.so", LAUNCHES},
	{"cuGraphLaunch", "libcuda.so", LAUNCHES},
	{"hipDeviceSynchronize", "libamdhip64.so", SPINS},
	{"hipCtxSynchronize", "libamdhip64.so", SPINS},
	{"hipStreamSynchronize", "libamdhip64.so", SPINS},
	{"hipEventSynchronize", "libamdhip64.so", SPINS},
	{"hipMemcpy", "libamdhip64.so", COPIES},
	{"hipLaunchKernel", "libamdhip64.so", LAUNCHES},
	{"hipLaunchKernelExC", "libamdhip64.so", LAUNCHES},
	{"hipLaunchCooperativeKernel", "libamdhip64.so", LAUNCHES},
	{"hipExtLaunchKernel", "libamdhip64.so", LAUNCHES},
	{"hipModuleLaunchKernel", "libamdhip64.so", LAUNCHES},
	{"hipModuleLaunchCooperativeKernel", "libamdhip64.so", LAUNCHES},
	{"hipExtModuleLaunchKernel", "libamdhip64.so", LAUNCHES},
	{"hipHccModuleLaunchKernel", "libamdhip64.so", LAUNCHES},
	{"hipGraphLaunch", "libamdhip64.so", LAUNCHES},
};

/* Variants of one function: of a later version, or with a stream of each thread; of inner ones with
 * their parameters. */
static bool is_variant(const char *rest)
{
	size_t length = strcspn(rest, "(");

	static const char *const suffixes[] = {"", "_v2", "_ptsz", "_ptds", "_v2_ptds", "_spt"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strlen(suffixes[i]) == length && strncmp(rest, suffixes[i], length) == 0)
			return true;
	return false;
}

/* Exported functions of HIP may end in a jump to an inner one, which is on the stack then. */
static const char *without_namespace(const char *name)
{
	return strncmp(name, INNER_PREFIX, sizeof(INNER_PREFIX) - 1) == 0
		       ? name + sizeof(INNER_PREFIX) - 1
		       : name;
}

static bool is_call(const struct function *function, unsigned int kinds)
{
	const char *name = without_namespace(function->name);

	/* Nearly all functions are others. */
	if (name[0] != 'c' && name[0] != 'h')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		size_t length = strlen(calls[i].name);

		if (kinds & 1U << calls[i].kind && strncmp(name, calls[i].name, length) == 0 &&
		    is_variant(name + length) &&
		    strncmp(function->module, calls[i].module, strlen(calls[i].module)) == 0)
			return true;
	}
	return false;
}

bool gpu_call_waits(const struct function *function)
{
	return is_call(function, 1U << SPINS | 1U << COPIES);
}

bool gpu_call_spins(const struct function *function)
{
	return is_call(function, 1U << SPINS);
}

bool gpu_call_launches(const struct function *function)
{
	return is_call(function, 1U << LAUNCHES);
}
