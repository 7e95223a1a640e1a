/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the GPUs while a capture runs, and adds up what they say of each interval. */
#ifndef PKBPF_LIVE_LIVE_GPU_H
#define PKBPF_LIVE_LIVE_GPU_H

#include "base/log.h"
#include "gpu/gpu_meter.h"
#include "profile/account/gpu_list.h"

enum live_gpu_mode {
	LIVE_GPU_AUTO, /* where there is a device */
	LIVE_GPU_ON,   /* says why where there is none */
	LIVE_GPU_OFF,
};

/* Of the interval that runs, or of one that is over. */
struct live_gpu_figures {
	struct gpu_list list;
	uint64_t ended;	   /* users that ended between two looks */
	uint64_t left_out; /* what had no room */
	uint64_t untimed;  /* users without times from their driver: the most at once */
};

struct live_gpu {
	const char *root;	 /* below it /proc is */
	struct gpu_meter *meter; /* NULL: not looked at */
	uint64_t look_ns;	 /* between two looks */
	uint64_t next_ns, looked_ns;
	struct gpu_look last; /* for counters of energy */
	struct live_gpu_figures figures;
};

/* Asks NVIDIA's library, where its driver is loaded, or always with LIVE_GPU_ON; NULL: it does not.
 * While the program has one thread, and the rights that it gives up later. */
struct nvml_keeper *live_gpu_ask_nvml(enum live_gpu_mode mode, uint64_t look_ns,
				      const struct log *log);
/* How often GPUs are looked at: each second, or four times where regions are recorded, which are
 * short. */
uint64_t live_gpu_look_ns(bool has_regions);
/* root and nvml are borrowed: "" on the machine itself; NULL: NVML is not asked. */
void live_gpu_begin(struct live_gpu *gpu, const char *root, struct nvml_keeper *nvml,
		    uint64_t look_ns, uint64_t now_ns);
/* Looks when it is time to, or as rarely as keeps it below a hundredth of a CPU. */
void live_gpu_look(struct live_gpu *gpu, uint64_t now_ns);
/* The figures of the interval that ends now, for the caller to free; the next one begins. */
struct live_gpu_figures live_gpu_cut(struct live_gpu *gpu, uint64_t now_ns);
void live_gpu_done(struct live_gpu *gpu);

#endif
