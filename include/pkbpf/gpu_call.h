/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the CUDA and HIP libraries: layouts shared by the programs at their probes and by the
 * source that reads the sums.
 */
#ifndef PKBPF_GPU_CALL_H
#define PKBPF_GPU_CALL_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/config.h>
#include <pkbpf/event.h>
#include <pkbpf/span.h>

/* Of functions; PKBPF_GPU_GROUPS is in config.h. */
enum pkbpf_gpu_group {
	PKBPF_GPU_LAUNCH = 1,
	PKBPF_GPU_GRAPH = 2,
	PKBPF_GPU_COPY = 3,
	PKBPF_GPU_ALLOC = 4,
	PKBPF_GPU_FREE = 5,
	PKBPF_GPU_WAIT = 6,
	PKBPF_GPU_NAME = 7, /* names a kernel; not counted */
};

/* Where a function has what is wanted among its arguments, numbered from 1. */
enum pkbpf_gpu_shape {
	PKBPF_GPU_PLAIN,
	PKBPF_GPU_KERNEL_DIM3,	   /* launch(host function, dim3 grid, ...) */
	PKBPF_GPU_KERNEL_2,	   /* launch(config, host function): grid first in the config */
	PKBPF_GPU_HANDLE_XYZ,	   /* launch(handle, x, y, z, ...) */
	PKBPF_GPU_HANDLE_2,	   /* launch(config, handle) */
	PKBPF_GPU_BYTES_3_KIND_4,  /* copy(to, from, bytes, kind) */
	PKBPF_GPU_BYTES_3,	   /* copy(to, from, bytes) */
	PKBPF_GPU_BYTES_3_KIND_5,  /* copy(symbol, from, bytes, offset, kind) */
	PKBPF_GPU_AREA_5_6_KIND_7, /* copy(to, pitch, from, pitch, width, height, kind) */
	PKBPF_GPU_WORDS_3,	   /* set(to, value, words of 4 bytes) */
	PKBPF_GPU_OUT_1_BYTES_2,   /* allocate(&address, bytes) */
	PKBPF_GPU_OUT_1_AREA_3_4,  /* allocate(&address, &pitch, width, height) */
	PKBPF_GPU_ADDRESS_1,	   /* free(address) */
	PKBPF_GPU_REGISTER,	   /* register(handle, host function, ..., name) */
	PKBPF_GPU_OUT_1_NAME_3,	   /* find(&handle, module, name) */
	PKBPF_GPU_BYTES_5,	   /* copy(to, device, from, device, bytes) */
	PKBPF_GPU_PARAMS_3D,	   /* copy(cudaMemcpy3DParms *) */
	PKBPF_GPU_PARAMS_PEER_3D,  /* copy(cudaMemcpy3DPeerParms *) */
	PKBPF_GPU_DRIVER_2D,	   /* copy(CUDA_MEMCPY2D *) */
	PKBPF_GPU_DRIVER_3D,	   /* copy(CUDA_MEMCPY3D *) */
	PKBPF_GPU_HANDLE_THREADS,  /* launch(handle, threads x, y, z, of a block x, y, z, ...) */
	PKBPF_GPU_OUT_1_HANDLE_2,  /* allocate(&handle, bytes) */
	PKBPF_GPU_HANDLE_1,	   /* free(handle) */
	PKBPF_GPU_RESET,	   /* frees all that the process has */
	PKBPF_GPU_SHAPES,
};

/* The direction of a copy: values of the API's own enumeration, and those that it has not. */
enum pkbpf_gpu_way {
	PKBPF_GPU_HOST_TO_HOST,
	PKBPF_GPU_HOST_TO_DEVICE,
	PKBPF_GPU_DEVICE_TO_HOST,
	PKBPF_GPU_DEVICE_TO_DEVICE,
	PKBPF_GPU_ANY_WAY, /* the library finds out */
	PKBPF_GPU_SET,	   /* memory is filled */
	PKBPF_GPU_WAYS,
};

/* A run-time calls the driver; neither calls itself by functions that programs call, but for a
 * launch. */
enum pkbpf_gpu_layer {
	PKBPF_GPU_RUNTIME,
	PKBPF_GPU_DRIVER,
};

/* Ways of launches. */
enum {
	PKBPF_GPU_OF_DRIVER = 1, /* the kernel is a handle */
	/* The default stream is one of the calling thread. */
	PKBPF_GPU_OF_THREAD = 2,
};

/* What the site of a probe says about its function, in struct pkbpf_span_site.pair. */
#define PKBPF_GPU_SITE(call, group, shape, way, layer)                                             \
	((__u32)(call) | (__u32)(group) << 12 | (__u32)(shape) << 16 | (__u32)(way) << 24 |        \
	 (__u32)(layer) << 31)
#define PKBPF_GPU_CALL_OF(pair)	 ((pair)&0xfff)
#define PKBPF_GPU_GROUP_OF(pair) ((pair) >> 12 & 0xf)
#define PKBPF_GPU_SHAPE_OF(pair) ((pair) >> 16 & 0xff)
#define PKBPF_GPU_WAY_OF(pair)	 ((pair) >> 24 & 0x7f)
#define PKBPF_GPU_LAYER_OF(pair) ((pair) >> 31)

/* Memory that an allocation returned. */
struct pkbpf_gpu_block {
	__u64 bytes;
	__u64 stack_id;
	__u64 time_ns;
	__u32 pair;
	__u32 weight; /* of the stack; 0: it was not read */
};

/* The outermost call of a thread that has not ended. */
struct pkbpf_gpu_thread {
	__u64 stack_pointer, return_address; /* where that is, and it; 0: none */
	__u64 start_ns;
	__u64 first; /* argument: where the result will be, or what is freed */
	__u64 name;  /* argument */
	__u64 bytes;
	__u64 detail;
	__u64 stack_id;
	__u32 pair;
	__u32 weight; /* of its stack; 0: not read */
	__u32 state;
	__u32 has_freed;
	/* Where the code of its function begins, and its size; 0: not known. */
	__u64 code;
	__u64 code_bytes;
	__u64 stream; /* of a launch */
	/* A report has named the launch by its number. */
	__u32 is_numbered;
	__u32 counted_pair; /* of its rows: `pair` may be that of a launch inside of it */
	/* The same of its library, if that is a run-time and nothing else. */
	__u64 library;
	__u64 library_bytes;
	__u64 random;
	struct pkbpf_gpu_block freed; /* what it frees, until it has */
};

enum {
	PKBPF_GPU_OPEN = 1, /* its end will be seen */
	PKBPF_GPU_HELD = 2, /* its end is not seen; its return address is in its place */
	PKBPF_GPU_ONCE = 3, /* the same, of a launch: until the launch inside of it */
};

enum pkbpf_gpu_what {
	PKBPF_GPU_SUM,	 /* all calls */
	PKBPF_GPU_STACK, /* those whose stack was read, by stack, each for `weight` calls */
	PKBPF_GPU_ERROR, /* those that failed; detail: the code */
	/* launches whose stack was read, by kernel and stream, each for `weight` of them */
	PKBPF_GPU_STREAM,
	PKBPF_GPU_WHATS,
};

/* detail of rows of what found no room. */
#define PKBPF_GPU_OTHERS 0xffffffffffffffffULL

struct pkbpf_gpu_row_key {
	__u64 stack_id; /* STREAM: the stream */
	__u64 detail;	/* the kernel of a launch; the way of a copy; a code */
	__u32 pid;
	__u32 epoch;
	__u32 pair;
	__u32 what; /* enum pkbpf_gpu_what */
};

struct pkbpf_gpu_row {
	__u64 count;
	__u64 unmeasured; /* of count: calls without a seen end; launches, which have none, apart */
	__u64 ns, max_ns; /* of the others */
	__u64 bytes;
	__u64 blocks; /* of threads that launches started */
	__u64 freed;  /* allocations of this row that were freed */
	__u64 freed_bytes;
	__u64 samples; /* STACK, STREAM: stacks that were read */
	/* Kernels of these launches that a library has reported, and their time on the device. */
	__u64 runs, run_ns, run_max_ns;
	char comm[PKBPF_COMM_SIZE];
};

/* Streams that are no handle. */
enum {
	PKBPF_GPU_STREAM_NONE = 0, /* the default one, as cudaStreamLegacy */
	PKBPF_GPU_STREAM_LEGACY = 1,
	PKBPF_GPU_STREAM_PER_THREAD = 2,
};

/* ---- reports of a library in the program ---- */

/* A probe of provider "parcagpu" (libparcagpucupti.so), and where its arguments are. */
struct pkbpf_gpu_report {
	__u32 what;
	/* PKBPF_GPU_SITE() of kernels of graphs, and of those whose launch was not seen. */
	__u32 graph_pair, unseen_pair;
	__u32 reserved;
	struct pkbpf_span_operand correlation, start, end, graph, name;
};

enum {
	PKBPF_GPU_NUMBERED = 1, /* cuda_correlation: in the thread that launches */
	PKBPF_GPU_EXECUTED = 2, /* kernel_executed: in any thread of the process, later */
};

/* A launch that a report has numbered, until its kernel was executed. */
struct pkbpf_gpu_launch_key {
	__u64 correlation;
	__u32 pid;
	__u32 reserved;
};

struct pkbpf_gpu_launch {
	__u64 stack_id;
	__u64 detail;
	__u32 pair;
	__u32 weight; /* of its stack; 0: not read */
};

/* What takes longer was misread. */
#define PKBPF_GPU_RUN_MOST_NS	3600000000000ULL
#define PKBPF_GPU_REPORTS	64
#define PKBPF_GPU_LAUNCHES_OPEN 16384

struct pkbpf_gpu_block_key {
	__u64 address; /* or handle */
	__u32 pid;
	__u32 is_handle;
};

/* Since when a process has none of the blocks that it had. */
struct pkbpf_gpu_reset {
	__u64 time_ns;
	__u64 has_ended;
};

#define PKBPF_GPU_KERNEL_NAME 160

struct pkbpf_gpu_kernel_key {
	__u64 address; /* or handle */
	__u32 pid;
	__u32 reserved;
};

struct pkbpf_gpu_kernel {
	char name[PKBPF_GPU_KERNEL_NAME];
	__u64 unread; /* where the name is, in memory that was not there to be read; 0: above */
};

#define PKBPF_GPU_SITES		 4096
#define PKBPF_GPU_ROWS		 16384
#define PKBPF_GPU_OTHER_ROWS	 1024
#define PKBPF_GPU_BLOCKS	 65536
#define PKBPF_GPU_THREADS	 8192
#define PKBPF_GPU_KERNELS	 32768
#define PKBPF_GPU_RESETS	 1024
#define PKBPF_GPU_FUNCTION_BYTES 40

/* ---- records ---- */

enum {
	PKBPF_EVENT_GPU_CALL = 120, /* struct pkbpf_event_gpu_call */
};

/* Calls since the record before. */
struct pkbpf_event_gpu_call {
	struct pkbpf_event_header header;
	__u64 stack_id;	 /* STACK; 0: none */
	__u64 stream;	 /* STREAM */
	__u64 kernel_id; /* number of a stack whose only frame is the kernel's host function */
	__u64 detail;
	__u32 pid;
	__u32 group; /* enum pkbpf_gpu_group */
	__u32 what;  /* enum pkbpf_gpu_what */
	__u32 reserved;
	__u64 count, unmeasured, ns, max_ns, bytes, blocks, freed, freed_bytes, samples;
	__u64 runs, run_ns, run_max_ns;
	char comm[PKBPF_COMM_SIZE];
	char function[PKBPF_GPU_FUNCTION_BYTES];
	char kernel[PKBPF_GPU_KERNEL_NAME]; /* as it was registered; "": not known */
};

_Static_assert(sizeof(struct pkbpf_event_gpu_call) == 16 + 32 + 16 + 96 + PKBPF_COMM_SIZE +
							      PKBPF_GPU_FUNCTION_BYTES +
							      PKBPF_GPU_KERNEL_NAME,
	       "wire size");

#endif
