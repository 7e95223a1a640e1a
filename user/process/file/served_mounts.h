/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds file systems that are served by a program (FUSE) or another machine, and may not answer.
 * Uses only mountinfo, which contacts none of them. One owner thread. */
#ifndef PKBPF_PROCESS_FILE_SERVED_MOUNTS_H
#define PKBPF_PROCESS_FILE_SERVED_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct served_mounts;

/* root: as in mapped_file_table_new(). */
struct served_mounts *served_mounts_new(const char *root);
void served_mounts_free(struct served_mounts *mounts);

/* type as in mountinfo: "nfs4", "fuse.sshfs". */
bool served_mounts_is_served_type(const char *type);
/* True when the device is such a file system, in our mounts or those of process pid. Also true
 * for a device in neither list, such as one unmounted while in use: unknown. */
bool served_mounts_has_device(struct served_mounts *mounts, uint32_t pid, uint32_t device_major,
			      uint32_t device_minor);
/* True when a path leads through such a file system, in the root of process pid, or ours when
 * pid is 0. *ret_device is the first one's. */
bool served_mounts_on_path(struct served_mounts *mounts, uint32_t pid, const char *path,
			   uint64_t *ret_device);
/* "/mnt/data (fuse.sshfs)", for messages; as mounted by us or process pid. */
void served_mounts_describe(struct served_mounts *mounts, uint32_t pid, uint64_t device,
			    char *ret_text, size_t size);

static inline uint64_t served_mounts_device(uint32_t device_major, uint32_t device_minor)
{
	return (uint64_t)device_major << 32 | device_minor;
}

#endif
