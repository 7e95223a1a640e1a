/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts a library that is part of this program into a file that other programs can load.
 *
 * The folder is ours, and no other user may write to it: a user that could change the file would
 * run code in each program. It is kept: what a command leaves behind may load it later.
 */
#ifndef PKBPF_SOURCE_ALLOC_LIBRARY_UNPACK_H
#define PKBPF_SOURCE_ALLOC_LIBRARY_UNPACK_H

#include <stddef.h>
#include <stdint.h>

struct library_bytes {
	const char *name; /* of the file */
	const uint8_t *bytes;
	size_t size;
};

/* Folders that are tried, NULL at the end; the last part of each is made. */
extern const char *const library_folders[];

/* Writes "FOLDER/HASH/NAME", of the first folder that can be used, to path[size]. -ENOENT: none;
 * what the last one said otherwise. */
int library_unpack(const struct library_bytes *library, const char *const *folders, char *path,
		   size_t size);

#endif
