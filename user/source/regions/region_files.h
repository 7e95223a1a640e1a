/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files were looked at for regions, and which have probes. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_FILES_H
#define PKBPF_SOURCE_REGIONS_REGION_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "process/process_table.h"

struct seen_file {
	uint64_t inode;
	uint32_t device_major, device_minor;
	bool seen;
};

struct probed_file {
	uint64_t inode, size;
	struct timespec modified, changed;
};

struct region_files {
	ARRAY_OF(struct seen_file) seen; /* by id: that of a file may become that of another one */
	/* The same file may be there under several numbers of devices: as a layer of many
	 * containers, and by itself. A second set of probes would count all twice. */
	ARRAY_OF(struct probed_file) probed;
};

/* Notes that a file was looked at. false: it was before, or there is no memory. */
bool region_files_is_new(struct region_files *files, const struct mapped_file *file);
/* Notes that a file gets probes. false: it has them, or there is no memory. */
bool region_files_note_probed(struct region_files *files, int fd);
/* A file has no probes any more: it is new when it is mapped again. */
void region_files_forget(struct region_files *files, const struct stat *stat);
void region_files_done(struct region_files *files);

#endif
