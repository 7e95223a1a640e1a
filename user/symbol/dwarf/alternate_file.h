/* SPDX-License-Identifier: BSD-2-Clause */
/* The file to which dwz has moved what several files share (.gnu_debugaltlink). */
#ifndef PKBPF_SYMBOL_DWARF_ALTERNATE_FILE_H
#define PKBPF_SYMBOL_DWARF_ALTERNATE_FILE_H

#include <limits.h>

#include "symbol/elf/debug_file.h"

struct alternate_link {
	struct build_id id;
	char path[PATH_MAX];
};

/* -ENOENT: the file has no such link; -EBADMSG: it is damaged. */
int alternate_link_read(const struct elf_file *file, struct alternate_link *ret_link);
/* A descriptor of the file with that build id: in one of the folders of debug files, or at the
 * path, as the target sees it. -ENOENT: not there. */
int alternate_file_open(const struct debug_file_search *search, const struct alternate_link *link);

#endif
