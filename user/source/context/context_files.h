/* SPDX-License-Identifier: BSD-2-Clause */
/* Which mapped files have the variable of thread contexts. Each is asked about once. */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_FILES_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_FILES_H

#include "base/array.h"
#include "process/file/mapped_file.h"
#include "process/mapping_list.h"
#include "source/context/context_service.h"

struct context_file {
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint64_t file_offset; /* of the mapping that it was asked about */
	bool is_asked, has_variable;
	struct context_place place;
};

struct context_files {			     /* zero-initialized: empty */
	ARRAY_OF(struct context_file) items; /* by id: that of a file may become that of another */
};

void context_files_done(struct context_files *files);
/* The place of the variable in a mapping; NULL: its file has none, or is to be asked about when
 * *budget is above 0 again. */
const struct context_place *context_files_find(struct context_files *files,
					       struct mapped_file_table *table,
					       struct readers *readers,
					       const struct mapping *mapping, unsigned int *budget);

#endif
