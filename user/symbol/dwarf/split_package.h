/* SPDX-License-Identifier: BSD-2-Clause */
/* DWARF packages (.dwp): the split units of a whole program in one file (DWARF 5, 7.3.5, and its
 * GNU predecessor, version 2). */
#ifndef PKBPF_SYMBOL_DWARF_SPLIT_PACKAGE_H
#define PKBPF_SYMBOL_DWARF_SPLIT_PACKAGE_H

#include "symbol/dwarf/dwarf_image.h"

struct split_package {
	int fd;
	struct elf_file file;
	uint8_t *index; /* .debug_cu_index, owned */
	size_t index_size;
	uint32_t version, columns, units, slots;
};

/* Takes fd over, also when it fails. -ENOEXEC: no package. */
int split_package_open(struct split_package *package, int fd);
void split_package_done(struct split_package *package);
/* Where the unit is, with the bytes of it alone; its strings are in the whole file's. -ENOENT: not
 * in the package; -EBADMSG. */
int split_package_find(const struct split_package *package, uint64_t id,
		       struct dwarf_source ret_sources[DWARF_SECTION_COUNT]);

#endif
