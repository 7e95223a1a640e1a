/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are part of the program: what belongs beside it, for machines that have the program
 * alone (tools/cmake/PkbpfPackedFiles.cmake). */
#ifndef PKBPF_CLI_PACKED_FILES_H
#define PKBPF_CLI_PACKED_FILES_H

struct packed_file {
	const char *name; /* NULL: the end */
	const char *begin, *end;
};

/* Programs that link this room without being pkbpf have none, and the address is NULL. */
extern const struct packed_file packed_files[] __attribute__((weak));

#endif
