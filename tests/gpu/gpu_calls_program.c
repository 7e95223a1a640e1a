// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls the stand-ins of CUDA's libraries a known number of times, and prints what it did, by its
 * own clock. With RUNTIME it launches by the run-time, as nvcc compiles <<<>>>; without, by the
 * driver. usage: gpu_calls ROUNDS [GATE [GATE]], which waits until it can read a line, before the
 * calls, and before it ends
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_stand_in.h"
#ifdef HIP
#include "gpu_hip_names.h"
#endif

#define LAUNCHES 40
#ifdef RUNTIME
#define BELOW 10
#else
#define BELOW 0
#endif
#define BYTES (4UL << 20)

struct grid {
	unsigned int x, y, z;
};

static volatile int sink;
static long copy_ns, spin_ns, sleep_ns;

#ifdef HIP
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned int x, unsigned int y, unsigned int z,
			  unsigned int block_x, unsigned int block_y, unsigned int block_z,
			  unsigned int shared, void *stream, void **arguments, void **extra);

/* HIP has both kinds of launches in one library. */
static void launch_by_handle(void)
{
	void *handle;

	if (hipModuleGetFunction(&handle, NULL, "by_handle") == 0)
		sink += hipModuleLaunchKernel(handle, 3, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}
#endif
#ifdef RUNTIME
int cudaLaunchKernel(const void *kernel, struct grid grid, struct grid block, void **arguments,
		     size_t shared, void *stream);
int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaDeviceSynchronize(void);
int cudaStreamSynchronize(void *stream);
int cudaGraphLaunch(void *graph, void *stream);
int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream);
int cudaDeviceReset(void);
int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
			void *stream);
int cudaMemcpy3DAsync(const void *parameters, void *stream);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *a, void *b, void *c, void *d, int *e);

/* Stubs have the mangled names of their kernels. */
void scale(void) __asm__("_Z5scalePfi");
void add(void) __asm__("_ZN4math3addEPfS0_");

__attribute__((noinline)) void scale(void)
{
	struct grid grid = {4, 2, 1}, block = {32, 1, 1};
	static unsigned long launches;

	/* By turns to the default stream and to three others. */
	sink += cudaLaunchKernel((const void *)scale, grid, block, NULL, 0,
				 (void *)(launches++ % 4 * 4096));
}

__attribute__((noinline)) void add(void)
{
	struct grid grid = {10, 1, 1}, block = {32, 1, 1};

	sink += cudaLaunchKernel((const void *)add, grid, block, NULL, 0, NULL);
}

__attribute__((constructor)) static void register_kernels(void)
{
	__cudaRegisterFunction(NULL, (const char *)scale, NULL, "_Z5scalePfi", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterFunction(NULL, (const char *)add, NULL, "_ZN4math3addEPfS0_", -1, NULL, NULL,
			       NULL, NULL, NULL);
}

/* Copies where the return address of a launch that has ended still stands on the stack. */
__attribute__((noinline)) static void copy_below_a_launch(void *memory, char *host)
{
	volatile char room[2048];

	room[0] = 1;
	sink += cudaMemcpyAsync(memory, host, 100, 5, NULL) + room[0];
	scale();
}

#ifdef DIRECT
int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t bytes);

/* The same with the driver, which that launch could have called. */
__attribute__((noinline)) static void copy_by_driver_below_a_launch(char *host)
{
	volatile char room[2048];

	room[0] = 1;
	sink += cuMemcpyHtoD_v2(0, host, 100) + room[0];
}
#endif

/* As struct cudaMemcpy3DParms: 3 x 4 x 5 bytes from a device to the host, 64 from device to device.
 */
static void copy_in_other_ways(void *memory)
{
	unsigned long parameters[20] = {[16] = 3, [17] = 4, [18] = 5, [19] = 2};

	sink += cudaMemcpy3DAsync(parameters, NULL);
	sink += cudaMemcpyPeerAsync(memory, 0, memory, 1, 64, NULL);
}

static int allocate(void **address, size_t bytes)
{
	return cudaMalloc(address, bytes);
}

static int copy_to(void *to, const void *from, size_t bytes)
{
	return cudaMemcpy(to, from, bytes, 1);
}

static int copy_from(void *to, const void *from, size_t bytes)
{
	return cudaMemcpy(to, from, bytes, 2);
}
#define release(address) cudaFree(address)
#define wait_spinning()	 cudaDeviceSynchronize()
#define wait_sleeping()	 cudaStreamSynchronize(NULL)
#define copy_wrongly()	 cudaMemcpy(NULL, NULL, 1, 9)
#else
int cuLaunchKernel_ptsz(void *function, unsigned int x, unsigned int y, unsigned int z,
			unsigned int block_x, unsigned int block_y, unsigned int block_z,
			unsigned int shared, void *stream, void **arguments, void **extra);
int cuMemAlloc_v2(unsigned long *address, size_t bytes);
int cuMemFree_v2(unsigned long address);
int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, unsigned long from, size_t bytes);
int cuCtxSynchronize(void);
int cuStreamSynchronize(void *stream);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);

static void *scale_handle, *add_handle;

__attribute__((noinline)) static void scale(void)
{
	sink += cuLaunchKernel_ptsz(scale_handle, 4, 2, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

__attribute__((noinline)) static void add(void)
{
	sink += cuLaunchKernel_ptsz(add_handle, 10, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static int allocate(void **address, size_t bytes)
{
	unsigned long got = 0;
	int err = cuMemAlloc_v2(&got, bytes);

	*address = (void *)got;
	return err;
}

static int copy_to(void *to, const void *from, size_t bytes)
{
	return cuMemcpyHtoD_v2((unsigned long)to, from, bytes);
}

static int copy_from(void *to, const void *from, size_t bytes)
{
	return cuMemcpyDtoH_v2(to, (unsigned long)from, bytes);
}
#define release(address) cuMemFree_v2((unsigned long)(address))
#define wait_spinning()	 cuCtxSynchronize()
#define wait_sleeping()	 cuStreamSynchronize(NULL)
#define copy_wrongly()	 0
#endif

__attribute__((noinline)) static void train_step(void *memory, char *host)
{
	long at[4];

	at[0] = gpu_stand_in_now();
	sink += copy_to(memory, host, BYTES);
	at[1] = gpu_stand_in_now();
	for (int i = 0; i < LAUNCHES; i++)
		scale();
	add();
	at[2] = gpu_stand_in_now();
	sink += wait_spinning();
	at[3] = gpu_stand_in_now();
	copy_ns += at[1] - at[0];
	spin_ns += at[3] - at[2];
	at[0] = gpu_stand_in_now();
	sink += wait_sleeping();
	sleep_ns += gpu_stand_in_now() - at[0];
	sink += copy_wrongly();
}

__attribute__((noinline)) static void *keep_memory(size_t bytes)
{
	void *memory = NULL;

	sink += allocate(&memory, bytes);
	return memory;
}

/* For how long the thread has waited for a CPU: between its clock and the probes, too. */
static long queue_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	long ns = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %ld", &ns) != 1)
		ns = 0;
	fclose(file);
	return ns;
}

static void wait_for_line(int wanted)
{
	char line[16];

	if (!wanted)
		return;
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	char *host = malloc(BYTES);
	void *memory, *other;
#ifdef RUNTIME
	void *pooled;
#endif

	wait_for_line(argc > 2);
#ifndef RUNTIME
	if (cuModuleGetFunction(&scale_handle, NULL, "_Z5scalePfi") ||
	    cuLibraryGetKernel(&add_handle, NULL, "_ZN4math3addEPfS0_"))
		return 1;
#endif
	memory = keep_memory(BYTES);
	other = keep_memory(3 * BYTES);
	sink += allocate(&(void *){NULL}, GPU_STAND_IN_MEMORY + 1);
	memset(host, 1, BYTES);
	for (int i = 0; i < rounds; i++)
		train_step(memory, host);
	sink += copy_from(host, memory, BYTES / 2);
#ifdef RUNTIME
	sink += cudaGraphLaunch(NULL, NULL);
	for (int i = 0; i < BELOW; i++) {
		scale();
		copy_below_a_launch(memory, host);
#ifdef DIRECT
		copy_by_driver_below_a_launch(host);
#endif
	}
	copy_in_other_ways(memory);
	sink += cudaMallocFromPoolAsync(&pooled, BYTES, NULL, NULL);
#endif
	sink += release(other);
#ifdef HIP
	launch_by_handle();
#endif
#ifdef RUNTIME
	/* The device has nothing then. */
	sink += cudaDeviceReset();
#endif
	memory = keep_memory(BYTES / 4);
	wait_for_line(argc > 3);
	printf("{\"scale\": %d, \"add\": %d, \"copy_ns\": %ld, \"spin_ns\": %ld, \"sleep_ns\": "
	       "%ld, \"queue_ns\": %ld}\n",
	       rounds * LAUNCHES + 2 * BELOW, rounds, copy_ns, spin_ns, sleep_ns, queue_ns());
	return 0;
}
