/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a DRM driver says of one client, in /proc/PID/fdinfo/N.
 *
 * Source: Documentation/gpu/drm-usage-stats.rst of the kernel.
 */
#ifndef PKBPF_GPU_DRM_FDINFO_H
#define PKBPF_GPU_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRM_ENGINES_MAX 16
#define DRM_REGIONS_MAX 8
#define DRM_NAME_SIZE	24
#define DRM_DEVICE_SIZE 32

/* A kind of engine: "gfx", "render", "compute". */
struct drm_engine {
	char name[DRM_NAME_SIZE];
	bool has_time, has_cycles;
	uint64_t busy_ns;	       /* has_time: since the client was made */
	uint64_t cycles, total_cycles; /* has_cycles: the client's, and all that passed */
	uint32_t capacity;	       /* engines of this kind; at least 1 */
};

struct drm_region {
	char name[DRM_NAME_SIZE]; /* "vram", "system0" */
	bool has_resident;
	uint64_t resident, total; /* bytes */
};

struct drm_fdinfo {
	char driver[DRM_NAME_SIZE], device[DRM_DEVICE_SIZE]; /* device: of PCI; "": another */
	bool has_client;
	uint64_t client; /* the same for all descriptors that share it */
	struct drm_engine engines[DRM_ENGINES_MAX];
	size_t engine_count;
	struct drm_region regions[DRM_REGIONS_MAX];
	size_t region_count;
};

/* false: not of a DRM client. Lines that are none of these, or broken, are passed over; so are
 * engines and regions beyond the room for them. */
bool drm_fdinfo_read(const char *text, struct drm_fdinfo *ret_info);
/* Resident bytes in the device's own memory; of a device without any, in all regions. false: the
 * driver does not count them. */
bool drm_fdinfo_memory(const struct drm_fdinfo *info, uint64_t *ret_bytes);

#endif
