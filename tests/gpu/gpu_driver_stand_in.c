// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stand-in for libcuda.so.1. Launches return at once, copies take their bytes at a known rate,
 * synchronisation spins. It counts its calls.
 */
#include "gpu_stand_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu_stand_in_counts gpu_stand_in_counts;

static int no_kernel(const char *name)
{
	return strncmp(name, "missing", 7) == 0;
}

int cuLaunchKernel(void *function, unsigned int x, unsigned int y, unsigned int z,
		   unsigned int block_x, unsigned int block_y, unsigned int block_z,
		   unsigned int shared, void *stream, void **arguments, void **extra)
{
	(void)function, (void)block_x, (void)block_y, (void)block_z, (void)shared, (void)stream;
	(void)arguments, (void)extra;
	gpu_stand_in_counts.launches++;
	gpu_stand_in_counts.blocks += (unsigned long)x * y * z;
	return 0;
}

int cuLaunchKernel_ptsz(void *function, unsigned int x, unsigned int y, unsigned int z,
			unsigned int block_x, unsigned int block_y, unsigned int block_z,
			unsigned int shared, void *stream, void **arguments, void **extra)
{
	return cuLaunchKernel(function, x, y, z, block_x, block_y, block_z, shared, stream,
			      arguments, extra) +
	       gpu_stand_in_zero;
}

int cuInit(unsigned int flags)
{
	return flags != 0;
}

int cuDeviceGetCount(int *count)
{
	*count = 1;
	return 0;
}

int cuDeviceGet(int *device, int number)
{
	*device = number;
	return 0;
}

int cuCtxCreate_v2(void **context, unsigned int flags, int device)
{
	(void)flags, (void)device;
	*context = &gpu_stand_in_counts;
	return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
	(void)image;
	*module = &gpu_stand_in_counts;
	return 0;
}

int cuMemAlloc_v2(unsigned long *address, size_t bytes)
{
	if (bytes > GPU_STAND_IN_MEMORY)
		return 2; /* out of memory */
	*address = (unsigned long)malloc(16);
	gpu_stand_in_counts.allocated += bytes;
	return !*address;
}

int cuMemFree_v2(unsigned long address)
{
	free((void *)address);
	gpu_stand_in_counts.frees++;
	return gpu_stand_in_zero;
}

int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t bytes)
{
	(void)to, (void)from;
	gpu_stand_in_copy(bytes);
	return gpu_stand_in_zero;
}

int cuMemcpyDtoH_v2(void *to, unsigned long from, size_t bytes)
{
	(void)to, (void)from;
	gpu_stand_in_copy(bytes);
	return gpu_stand_in_zero;
}

int cuCtxSynchronize(void)
{
	gpu_stand_in_spin();
	return gpu_stand_in_zero;
}

int cuStreamSynchronize(void *stream)
{
	(void)stream;
	gpu_stand_in_sleep();
	return gpu_stand_in_zero;
}

/* The same of a library, which gives out handles of another kind. */
int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	(void)library;
	if (no_kernel(name))
		return 500;
	*kernel = malloc(16);
	return !*kernel;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)module;
	if (no_kernel(name))
		return 500; /* not found */
	*function = malloc(16);
	return !*function;
}
