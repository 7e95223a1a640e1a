// SPDX-License-Identifier: BSD-2-Clause
/* A stand-in for libcudart.so.12: it calls the driver, as the real one does. */
#include <stddef.h>
#include <unistd.h>

static volatile int zero;

/* Of a library that watches launches: their kernel's name, at their end. */
void (*gpu_stand_in_launched)(const char *name, int is_graph);

#define REGISTERED 8
static struct {
	const void *host;
	const char *name;
} registered[REGISTERED];

static void note_launch(const void *kernel)
{
	for (int i = 0; gpu_stand_in_launched && i < REGISTERED; i++)
		if (registered[i].host == kernel && registered[i].name)
			gpu_stand_in_launched(registered[i].name, 0);
}

struct grid {
	unsigned int x, y, z;
};

int cuLaunchKernel(void *function, unsigned int x, unsigned int y, unsigned int z,
		   unsigned int block_x, unsigned int block_y, unsigned int block_z,
		   unsigned int shared, void *stream, void **arguments, void **extra);
int cuMemAlloc_v2(unsigned long *address, size_t bytes);
int cuMemFree_v2(unsigned long address);
int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, unsigned long from, size_t bytes);
int cuCtxSynchronize(void);
int cuStreamSynchronize(void *stream);
int cuModuleGetFunction(void **function, void *module, const char *name);

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *a, void *b, void *c, void *d, int *e);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *a, void *b, void *c, void *d, int *e)
{
	int i = 0;

	(void)handle, (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
	while (i < REGISTERED - 1 && registered[i].name)
		i++;
	registered[i].host = host;
	registered[i].name = name;
	zero = 0;
}

int cudaLaunchKernel(const void *kernel, struct grid grid, struct grid block, void **arguments,
		     size_t shared, void *stream)
{
	static int was_loaded;
	unsigned long memory;
	void *function;
	int err;

	/* The first launch loads the module: calls of the driver, and none of the program. */
	if (!was_loaded && !cuModuleGetFunction(&function, NULL, "inner") &&
	    !cuMemAlloc_v2(&memory, 4096) && !cuMemcpyHtoD_v2(memory, kernel, 4096))
		was_loaded = 1;
	err = cuLaunchKernel((void *)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
			     (unsigned int)shared, stream, arguments, NULL);
	note_launch(kernel);
	return err + zero;
}

int cudaMalloc(void **address, size_t bytes)
{
	unsigned long got = 0;
	int err = cuMemAlloc_v2(&got, bytes);

	*address = (void *)got;
	return err;
}

int cudaFree(void *address)
{
	return cuMemFree_v2((unsigned long)address) + zero;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	int err;

	if (kind > 4)
		return 21; /* no such direction */
	err = kind == 1 ? cuMemcpyHtoD_v2((unsigned long)to, from, bytes)
			: cuMemcpyDtoH_v2(to, (unsigned long)from, bytes);
	return err + zero;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	(void)to, (void)from, (void)bytes, (void)kind, (void)stream;
	return zero;
}

int cudaDeviceSynchronize(void)
{
	return cuCtxSynchronize() + zero;
}

int cudaStreamSynchronize(void *stream)
{
	return cuStreamSynchronize(stream) + zero;
}

int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream)
{
	(void)pool, (void)stream;
	return cudaMalloc(address, bytes) + zero;
}

int cudaDeviceReset(void)
{
	return zero;
}

int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
			void *stream)
{
	(void)to, (void)to_device, (void)from, (void)from_device, (void)bytes, (void)stream;
	return zero;
}

int cudaMemcpy3DAsync(const void *parameters, void *stream)
{
	(void)parameters, (void)stream;
	return zero;
}

/* Waits until something can be read from a descriptor. */
int cudaEventSynchronize(void *event)
{
	char byte;

	return read((int)(long)event, &byte, 1) + zero == 1 ? 0 : 1;
}

int cudaGraphLaunch(void *graph, void *stream)
{
	(void)graph, (void)stream;
	if (gpu_stand_in_launched)
		gpu_stand_in_launched("_Z4nodePf", 1);
	return zero;
}
