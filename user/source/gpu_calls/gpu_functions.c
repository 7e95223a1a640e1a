// SPDX-License-Identifier: BSD-2-Clause
/* Names of functions, and what their arguments are. */
#include "source/gpu_calls/gpu_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Of functions in the C++ namespace "hip". */
#define INNER_PREFIX "_ZN3hip"

#define LAUNCH(name, shape)                                                                        \
	{                                                                                          \
		name, PKBPF_GPU_LAUNCH, PKBPF_GPU_##shape, 0                                       \
	}
/* Of a driver: kernels are handles, not code. */
#define DRIVER(name, shape)                                                                        \
	{                                                                                          \
		name, PKBPF_GPU_LAUNCH, PKBPF_GPU_##shape, 1                                       \
	}
#define GRAPH(name)                                                                                \
	{                                                                                          \
		name, PKBPF_GPU_GRAPH, PKBPF_GPU_PLAIN, 0                                          \
	}
#define COPY(name, shape)                                                                          \
	{                                                                                          \
		name, PKBPF_GPU_COPY, PKBPF_GPU_##shape, 0                                         \
	}
#define WAY(name, way)                                                                             \
	{                                                                                          \
		name, PKBPF_GPU_COPY, PKBPF_GPU_BYTES_3, PKBPF_GPU_##way                           \
	}
#define PEER(name)                                                                                 \
	{                                                                                          \
		name, PKBPF_GPU_COPY, PKBPF_GPU_BYTES_5, PKBPF_GPU_DEVICE_TO_DEVICE                \
	}
#define SET(name, shape)                                                                           \
	{                                                                                          \
		name, PKBPF_GPU_COPY, PKBPF_GPU_##shape, PKBPF_GPU_SET                             \
	}
#define ALLOC(name, shape)                                                                         \
	{                                                                                          \
		name, PKBPF_GPU_ALLOC, PKBPF_GPU_##shape, 0                                        \
	}
#define FREE(name)                                                                                 \
	{                                                                                          \
		name, PKBPF_GPU_FREE, PKBPF_GPU_ADDRESS_1, 0                                       \
	}
#define RELEASE(name)                                                                              \
	{                                                                                          \
		name, PKBPF_GPU_FREE, PKBPF_GPU_HANDLE_1, 0                                        \
	}
#define WAIT(name)                                                                                 \
	{                                                                                          \
		name, PKBPF_GPU_WAIT, PKBPF_GPU_PLAIN, 0                                           \
	}
#define RESET(name)                                                                                \
	{                                                                                          \
		name, PKBPF_GPU_FREE, PKBPF_GPU_RESET, 0                                           \
	}
#define NAMES(name, shape)                                                                         \
	{                                                                                          \
		name, PKBPF_GPU_NAME, PKBPF_GPU_##shape, 0                                         \
	}

/* Numbers are not recorded: the order is free. */
static const struct gpu_function functions[] = {
	LAUNCH("cudaLaunchKernel", KERNEL_DIM3),
	LAUNCH("cudaLaunchCooperativeKernel", KERNEL_DIM3),
	LAUNCH("cudaLaunchKernelExC", KERNEL_2),
	DRIVER("cuLaunchKernel", HANDLE_XYZ),
	DRIVER("cuLaunchCooperativeKernel", HANDLE_XYZ),
	DRIVER("cuLaunchKernelEx", HANDLE_2),
	LAUNCH("hipLaunchKernel", KERNEL_DIM3),
	LAUNCH("hipExtLaunchKernel", KERNEL_DIM3),
	LAUNCH("hipLaunchCooperativeKernel", KERNEL_DIM3),
	LAUNCH("hipLaunchKernelExC", KERNEL_2),
	DRIVER("hipModuleLaunchKernel", HANDLE_XYZ),
	DRIVER("hipDrvLaunchKernelEx", HANDLE_2),
	DRIVER("hipModuleLaunchCooperativeKernel", HANDLE_XYZ),
	DRIVER("hipExtModuleLaunchKernel", HANDLE_THREADS),
	DRIVER("hipHccModuleLaunchKernel", HANDLE_THREADS),

	/* Rows of kernels that are reported without a launch; no symbol has such a name. */
	DRIVER(GPU_IN_GRAPH, PLAIN),
	DRIVER(GPU_UNSEEN, PLAIN),

	GRAPH("cudaGraphLaunch"),
	GRAPH("cudaGraphInstantiate"),
	GRAPH("cudaGraphInstantiateWithFlags"),
	GRAPH("cudaGraphInstantiateWithParams"),
	GRAPH("cuGraphLaunch"),
	GRAPH("cuGraphInstantiate"),
	GRAPH("cuGraphInstantiateWithFlags"),
	GRAPH("cuGraphInstantiateWithParams"),
	GRAPH("hipGraphLaunch"),
	GRAPH("hipGraphInstantiate"),
	GRAPH("hipGraphInstantiateWithFlags"),
	GRAPH("hipGraphInstantiateWithParams"),

	COPY("cudaMemcpy", BYTES_3_KIND_4),
	COPY("cudaMemcpyAsync", BYTES_3_KIND_4),
	COPY("cudaMemcpy2D", AREA_5_6_KIND_7),
	COPY("cudaMemcpy2DAsync", AREA_5_6_KIND_7),
	COPY("cudaMemcpyToSymbol", BYTES_3_KIND_5),
	COPY("cudaMemcpyToSymbolAsync", BYTES_3_KIND_5),
	COPY("cudaMemcpyFromSymbol", BYTES_3_KIND_5),
	COPY("cudaMemcpyFromSymbolAsync", BYTES_3_KIND_5),
	COPY("cudaMemcpy3D", PARAMS_3D),
	COPY("cudaMemcpy3DAsync", PARAMS_3D),
	COPY("cudaMemcpy3DPeer", PARAMS_PEER_3D),
	COPY("cudaMemcpy3DPeerAsync", PARAMS_PEER_3D),
	PEER("cudaMemcpyPeer"),
	PEER("cudaMemcpyPeerAsync"),
	COPY("cuMemcpy2D", DRIVER_2D),
	COPY("cuMemcpy2DAsync", DRIVER_2D),
	COPY("cuMemcpy2DUnaligned", DRIVER_2D),
	COPY("cuMemcpy3D", DRIVER_3D),
	COPY("cuMemcpy3DAsync", DRIVER_3D),
	PEER("cuMemcpyPeer"),
	PEER("cuMemcpyPeerAsync"),
	WAY("cuMemcpy", ANY_WAY),
	WAY("cuMemcpyAsync", ANY_WAY),
	WAY("cuMemcpyHtoD", HOST_TO_DEVICE),
	WAY("cuMemcpyHtoDAsync", HOST_TO_DEVICE),
	WAY("cuMemcpyDtoH", DEVICE_TO_HOST),
	WAY("cuMemcpyDtoHAsync", DEVICE_TO_HOST),
	WAY("cuMemcpyDtoD", DEVICE_TO_DEVICE),
	WAY("cuMemcpyDtoDAsync", DEVICE_TO_DEVICE),
	COPY("hipMemcpy", BYTES_3_KIND_4),
	COPY("hipMemcpyAsync", BYTES_3_KIND_4),
	COPY("hipMemcpyWithStream", BYTES_3_KIND_4),
	COPY("hipMemcpy2D", AREA_5_6_KIND_7),
	COPY("hipMemcpy2DAsync", AREA_5_6_KIND_7),
	COPY("hipMemcpy3D", PARAMS_3D),
	COPY("hipMemcpy3DAsync", PARAMS_3D),
	COPY("hipMemcpy3DPeer", PARAMS_PEER_3D),
	COPY("hipMemcpy3DPeerAsync", PARAMS_PEER_3D),
	COPY("hipMemcpyToSymbol", BYTES_3_KIND_5),
	COPY("hipMemcpyToSymbolAsync", BYTES_3_KIND_5),
	COPY("hipMemcpyFromSymbol", BYTES_3_KIND_5),
	COPY("hipMemcpyFromSymbolAsync", BYTES_3_KIND_5),
	PEER("hipMemcpyPeer"),
	PEER("hipMemcpyPeerAsync"),
	WAY("hipMemcpyHtoD", HOST_TO_DEVICE),
	WAY("hipMemcpyHtoDAsync", HOST_TO_DEVICE),
	WAY("hipMemcpyDtoH", DEVICE_TO_HOST),
	WAY("hipMemcpyDtoHAsync", DEVICE_TO_HOST),
	WAY("hipMemcpyDtoD", DEVICE_TO_DEVICE),
	WAY("hipMemcpyDtoDAsync", DEVICE_TO_DEVICE),
	SET("cudaMemset", BYTES_3),
	SET("cudaMemsetAsync", BYTES_3),
	SET("cuMemsetD8", BYTES_3),
	SET("cuMemsetD8Async", BYTES_3),
	SET("cuMemsetD32", WORDS_3),
	SET("cuMemsetD32Async", WORDS_3),
	SET("hipMemset", BYTES_3),
	SET("hipMemsetAsync", BYTES_3),
	SET("hipMemsetD8", BYTES_3),
	SET("hipMemsetD8Async", BYTES_3),
	SET("hipMemsetD32", WORDS_3),
	SET("hipMemsetD32Async", WORDS_3),

	ALLOC("cudaMalloc", OUT_1_BYTES_2),
	ALLOC("cudaMallocManaged", OUT_1_BYTES_2),
	ALLOC("cudaMallocAsync", OUT_1_BYTES_2),
	ALLOC("cudaMallocFromPoolAsync", OUT_1_BYTES_2),
	ALLOC("cudaMallocPitch", OUT_1_AREA_3_4),
	ALLOC("cudaMallocHost", OUT_1_BYTES_2),
	ALLOC("cudaHostAlloc", OUT_1_BYTES_2),
	ALLOC("cuMemAlloc", OUT_1_BYTES_2),
	ALLOC("cuMemAllocManaged", OUT_1_BYTES_2),
	ALLOC("cuMemAllocAsync", OUT_1_BYTES_2),
	ALLOC("cuMemAllocFromPoolAsync", OUT_1_BYTES_2),
	ALLOC("cuMemCreate", OUT_1_HANDLE_2),
	ALLOC("cuMemAllocPitch", OUT_1_AREA_3_4),
	ALLOC("cuMemAllocHost", OUT_1_BYTES_2),
	ALLOC("cuMemHostAlloc", OUT_1_BYTES_2),
	ALLOC("hipMalloc", OUT_1_BYTES_2),
	ALLOC("hipMallocManaged", OUT_1_BYTES_2),
	ALLOC("hipMallocAsync", OUT_1_BYTES_2),
	ALLOC("hipExtMallocWithFlags", OUT_1_BYTES_2),
	ALLOC("hipMallocFromPoolAsync", OUT_1_BYTES_2),
	ALLOC("hipMallocPitch", OUT_1_AREA_3_4),
	ALLOC("hipMemAllocPitch", OUT_1_AREA_3_4),
	ALLOC("hipMemCreate", OUT_1_HANDLE_2),
	ALLOC("hipHostMalloc", OUT_1_BYTES_2),
	ALLOC("hipHostAlloc", OUT_1_BYTES_2),
	ALLOC("hipMallocHost", OUT_1_BYTES_2),
	ALLOC("hipMemAllocHost", OUT_1_BYTES_2),
	FREE("cudaFree"),
	FREE("cudaFreeAsync"),
	FREE("cudaFreeHost"),
	FREE("cuMemFree"),
	FREE("cuMemFreeAsync"),
	FREE("cuMemFreeHost"),
	FREE("hipFree"),
	FREE("hipFreeAsync"),
	FREE("hipHostFree"),
	FREE("hipFreeHost"),
	RELEASE("cuMemRelease"),
	RELEASE("hipMemRelease"),
	RESET("cudaDeviceReset"),
	RESET("cudaThreadExit"),
	RESET("cuDevicePrimaryCtxReset"),
	RESET("hipDeviceReset"),
	RESET("hipDevicePrimaryCtxReset"),

	WAIT("cudaDeviceSynchronize"),
	WAIT("cudaThreadSynchronize"),
	WAIT("cudaStreamSynchronize"),
	WAIT("cudaEventSynchronize"),
	WAIT("cuCtxSynchronize"),
	WAIT("cuStreamSynchronize"),
	WAIT("cuEventSynchronize"),
	WAIT("hipDeviceSynchronize"),
	WAIT("hipCtxSynchronize"),
	WAIT("hipStreamSynchronize"),
	WAIT("hipEventSynchronize"),

	NAMES("__cudaRegisterFunction", REGISTER),
	NAMES("__hipRegisterFunction", REGISTER),
	NAMES("cuModuleGetFunction", OUT_1_NAME_3),
	NAMES("cuLibraryGetKernel", OUT_1_NAME_3),
	NAMES("hipModuleGetFunction", OUT_1_NAME_3),
	NAMES("hipLibraryGetKernel", OUT_1_NAME_3),
};
_Static_assert(sizeof(functions) / sizeof(functions[0]) < 0x1000, "12 bits of a site");

const struct gpu_function *gpu_function_at(size_t number)
{
	return number < ARRAY_SIZE(functions) ? &functions[number] : NULL;
}

enum pkbpf_gpu_layer gpu_function_layer(const struct gpu_function *function)
{
	const char *name = function->name;

	/* "cuMalloc", not "cudaMalloc" */
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z'
		       ? PKBPF_GPU_DRIVER
		       : PKBPF_GPU_RUNTIME;
}

/* Of a later version, or with a stream of each thread. */
static bool is_variant(const char *rest)
{
	static const char *const suffixes[] = {"",	"_v2",	    "_v3",	"_ptsz",
					       "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz",
					       "_spt",	"_v11000",  "_v12000"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strcmp(rest, suffixes[i]) == 0)
			return true;
	return false;
}

const struct gpu_function *gpu_function_find(const char *name)
{
	/* Nearly all functions are others, of C++ most of all. */
	if (name[0] != 'c' && name[0] != 'h' && (name[0] != '_' || name[1] != '_'))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t length = strlen(functions[i].name);

		if (strncmp(name, functions[i].name, length) == 0 && is_variant(name + length))
			return &functions[i];
	}
	return NULL;
}

const struct gpu_function *gpu_function_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

bool gpu_function_is_per_thread(const char *name)
{
	static const char *const suffixes[] = {"_ptsz", "_ptds", "_spt"};
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t size = strlen(suffixes[i]);

		if (length > size && strcmp(name + length - size, suffixes[i]) == 0)
			return true;
	}
	return false;
}

bool gpu_function_is_inner(const char *symbol, char *ret_name, size_t size)
{
	size_t prefix = sizeof(INNER_PREFIX) - 1;
	unsigned long length;
	char *end;

	if (strncmp(symbol, INNER_PREFIX, prefix) != 0)
		return false;
	symbol += prefix;
	if (*symbol < '1' || *symbol > '9')
		return false;
	length = strtoul(symbol, &end, 10);
	if (!length || length >= size || strnlen(end, length + 1) <= length || end[length] != 'E')
		return false;
	memcpy(ret_name, end, length);
	ret_name[length] = '\0';
	return true;
}
