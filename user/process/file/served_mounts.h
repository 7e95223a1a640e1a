/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file systems are served by somebody who may not answer: a program (FUSE) or another
 * machine. Told by mountinfo alone, which asks none of them. One owner thread.
 */
#ifndef PKBPF_PROCESS_FILE_SERVED_MOUNTS_H
#define PKBPF_PROCESS_FILE_SERVED_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct served_mounts;

/* root: as in mapped_file_table_new(). */
struct served_mounts *served_mounts_new(const char *root);
void served_mounts_free(struct served_mounts *mounts);

/* By its name as mountinfo shows it: "nfs4", "fuse.sshfs". */
bool served_mounts_is_served_type(const char *type);
/* Whether a device is such a file system, as we or process pid have it mounted. Also one that
 * nobody shows, such as one that was unmounted while in use: nobody knows. */
bool served_mounts_has_device(struct served_mounts *mounts, uint32_t pid, uint32_t device_major,
			      uint32_t device_minor);
/* Whether a path leads through one, in the root of process pid, or ours when pid is 0; *ret_device
 * is the first one's. */
bool served_mounts_on_path(struct served_mounts *mounts, uint32_t pid, const char *path,
			   uint64_t *ret_device);
/* "/mnt/data (fuse.sshfs)", for people, as we or process pid see it. */
void served_mounts_describe(struct served_mounts *mounts, uint32_t pid, uint64_t device,
			    char *ret_text, size_t size);

static inline uint64_t served_mounts_device(uint32_t device_major, uint32_t device_minor)
{
	return (uint64_t)device_major << 32 | device_minor;
}

#endif
