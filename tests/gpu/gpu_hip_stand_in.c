// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stand-in for libamdhip64.so. As in the real one, exported functions pass their calls by a table
 * to functions in the namespace "hip": up to version 6 with a jump, then with a call, after which
 * they return (RETURNS).
 */
#include "gpu_stand_in.h"

#include <stdlib.h>

struct gpu_stand_in_counts gpu_stand_in_counts;

struct grid {
	unsigned int x, y, z;
};

#ifdef RETURNS
#define PASS(call) return (call) + gpu_stand_in_zero
#else
#define PASS(call) return call
#endif

/* The inner function has the mangled name, whose length comes before it; its body follows. */
#define API(name, length, parameters, arguments)                                                   \
	static int name##_inner parameters __asm__("_ZN3hip" #length #name "Ev");                  \
	static int(*volatile name##_entry) parameters = name##_inner;                              \
	int name parameters;                                                                       \
	int name parameters                                                                        \
	{                                                                                          \
		PASS(name##_entry arguments);                                                      \
	}                                                                                          \
	__attribute__((noinline, used)) static int name##_inner parameters

API(hipLaunchKernel, 15,
    (const void *kernel, struct grid grid, struct grid block, void **list, size_t shared,
     void *stream),
    (kernel, grid, block, list, shared, stream))
{
	(void)kernel, (void)block, (void)list, (void)shared, (void)stream;
	gpu_stand_in_counts.launches++;
	gpu_stand_in_counts.blocks += (unsigned long)grid.x * grid.y * grid.z;
	return gpu_stand_in_zero;
}

API(hipModuleLaunchKernel, 21,
    (void *function, unsigned int x, unsigned int y, unsigned int z, unsigned int block_x,
     unsigned int block_y, unsigned int block_z, unsigned int shared, void *stream, void **list,
     void **extra),
    (function, x, y, z, block_x, block_y, block_z, shared, stream, list, extra))
{
	(void)function, (void)x, (void)y, (void)z, (void)block_x, (void)block_y, (void)block_z;
	(void)shared, (void)stream, (void)list, (void)extra;
	gpu_stand_in_counts.launches++;
	return gpu_stand_in_zero;
}

API(hipModuleGetFunction, 20, (void **function, void *module, const char *name),
    (function, module, name))
{
	(void)module, (void)name;
	*function = malloc(16);
	return !*function;
}

API(hipMalloc, 9, (void **address, size_t bytes), (address, bytes))
{
	if (bytes > GPU_STAND_IN_MEMORY)
		return 2; /* out of memory */
	*address = malloc(16);
	gpu_stand_in_counts.allocated += bytes;
	return !*address;
}

/* One inner function calls another: a part of its own call. */
API(hipMallocFromPoolAsync, 22, (void **address, size_t bytes, void *pool, void *stream),
    (address, bytes, pool, stream))
{
	(void)pool, (void)stream;
	return hipMalloc_inner(address, bytes) + gpu_stand_in_zero;
}

API(hipFree, 7, (void *address), (address))
{
	free(address);
	return gpu_stand_in_zero;
}

API(hipDeviceReset, 14, (void), ())
{
	return gpu_stand_in_zero;
}

API(hipMemcpy, 9, (void *to, const void *from, size_t bytes, int kind), (to, from, bytes, kind))
{
	(void)to, (void)from;
	if (kind > 4)
		return 21; /* no such direction */
	gpu_stand_in_copy(bytes);
	return gpu_stand_in_zero;
}

API(hipMemcpyAsync, 14, (void *to, const void *from, size_t bytes, int kind, void *stream),
    (to, from, bytes, kind, stream))
{
	(void)to, (void)from, (void)bytes, (void)kind, (void)stream;
	return gpu_stand_in_zero;
}

API(hipMemcpyPeerAsync, 18,
    (void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream),
    (to, to_device, from, from_device, bytes, stream))
{
	(void)to, (void)to_device, (void)from, (void)from_device, (void)bytes, (void)stream;
	return gpu_stand_in_zero;
}

API(hipMemcpy3DAsync, 16, (const void *parameters, void *stream), (parameters, stream))
{
	(void)parameters, (void)stream;
	return gpu_stand_in_zero;
}

API(hipDeviceSynchronize, 20, (void), ())
{
	gpu_stand_in_spin();
	return gpu_stand_in_zero;
}

API(hipStreamSynchronize_spt, 24, (void *stream), (stream))
{
	(void)stream;
	gpu_stand_in_sleep();
	return gpu_stand_in_zero;
}

API(hipGraphLaunch, 14, (void *graph, void *stream), (graph, stream))
{
	(void)graph, (void)stream;
	return gpu_stand_in_zero;
}

void __hipRegisterFunction(void **handle, const char *host, char *device, const char *name,
			   int limit, void *a, void *b, void *c, void *d, int *e);
void __hipRegisterFunction(void **handle, const char *host, char *device, const char *name,
			   int limit, void *a, void *b, void *c, void *d, int *e)
{
	(void)handle, (void)host, (void)device, (void)name, (void)limit, (void)a, (void)b, (void)c;
	(void)d, (void)e;
	gpu_stand_in_zero = 0;
}
