// SPDX-License-Identifier: BSD-2-Clause
#include "rows/gpu_call.h"

#include <string.h>

#include "base/array.h"

/* Copies without "Async" return when they are done, but for small ones, which are short. */
static const struct {
	const char *name;
	const char *module; /* the begin of its name; "": any, for what programs link statically */
} calls[] = {
	{"cudaDeviceSynchronize", ""},
	{"cudaStreamSynchronize", ""},
	{"cudaEventSynchronize", ""},
	{"cudaThreadSynchronize", ""},
	{"cudaMemcpy", ""},
	{"cuCtxSynchronize", "libcuda.so"},
	{"cuStreamSynchronize", "libcuda.so"},
	{"cuEventSynchronize", "libcuda.so"},
	{"cuMemcpyDtoH", "libcuda.so"},
	{"hipDeviceSynchronize", "libamdhip64.so"},
	{"hipStreamSynchronize", "libamdhip64.so"},
	{"hipEventSynchronize", "libamdhip64.so"},
	{"hipMemcpy", "libamdhip64.so"},
};

/* Variants of one function: of a later version, or with a stream of each thread. */
static bool is_variant(const char *rest)
{
	static const char *const suffixes[] = {"", "_v2", "_ptsz", "_ptds", "_v2_ptds", "_spt"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strcmp(rest, suffixes[i]) == 0)
			return true;
	return false;
}

bool gpu_call_waits(const struct function *function)
{
	/* Nearly all functions are others. */
	if (function->name[0] != 'c' && function->name[0] != 'h')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		size_t length = strlen(calls[i].name);

		if (strncmp(function->name, calls[i].name, length) == 0 &&
		    is_variant(function->name + length) &&
		    strncmp(function->module, calls[i].module, strlen(calls[i].module)) == 0)
			return true;
	}
	return false;
}
