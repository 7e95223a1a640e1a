/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by mapped_file.c (identities), mapped_file_open.c (opening), mapped_file_contents.c
 * (detecting changes), mapped_file_keep.c (descriptors) and mapped_file_forget.c; private. */
#ifndef PKBPF_PROCESS_FILE_MAPPED_FILE_TABLE_H
#define PKBPF_PROCESS_FILE_MAPPED_FILE_TABLE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "process/file/mapped_file.h"

#define NO_FILE UINT32_MAX
/* What the kernel adds to the name of a deleted file. */
#define MAPPED_FILE_DELETED " (deleted)"
#define MAX_WITNESSES	    4 /* the first mapping seen and the last three */

struct witness {
	uint32_t pid;
	uint64_t start, end;
};

struct file_contents {
	uint64_t size, modified_ns, changed_ns; /* by the file system's clock */
	uint64_t fingerprint;
};

struct file {
	struct mapped_file public;
	uint32_t family;
	struct witness witnesses[MAX_WITNESSES];
	uint32_t witness_count, witness_next;
	int fd; /* -1: not open */
	enum { CONTENTS_UNKNOWN, CONTENTS_ELF, CONTENTS_GENERATED } program;
	int failed; /* -errno of the last attempt to open it; 0: none since the latest witness */
	uint64_t refused_ns;		   /* when its server last refused it; 0: never */
	uint32_t more_recent, less_recent; /* list of open files */
	struct file_contents contents;	   /* when first opened */
	bool contents_known, watched;	   /* watched: an ELF file */
	uint64_t first_ns;		   /* time of its earliest mapping; 0: unknown */
	uint64_t current_ns;		   /* not overwritten until then */
	uint64_t overwritten_ns;	   /* overwritten by another program at that time; 0: not */
	uint32_t older;			   /* the edition it has overwritten, file id or NO_FILE */
	uint64_t begin_ns;		   /* when its contents were written; 0: unknown */
};

/* Files that differ only in the generation of their inode, and editions of one that was
 * overwritten in place. */
struct family {
	uint32_t device_major, device_minor;
	uint64_t inode;
	char *path; /* NULL: free entry */
	size_t path_length;
	uint32_t newest; /* file id */
};

struct mapped_file_table {
	char *root;
	uint64_t seed;
	ARRAY_OF(struct file *) files; /* NULL: free id */
	ARRAY_OF(struct family) families;
	ARRAY_OF(uint32_t) free_files, free_families;
	struct hash_index family_index;
	struct hash_map generations; /* family << 32 | generation -> file id of the latest
				      * edition */
	size_t path_bytes;
	size_t open_count, open_limit; /* limit 0: not read yet */
	uint64_t opens, opened_bytes;  /* since the last check for deleted files */
	uint32_t most_recent, least_recent;
	struct file_servers *servers;
};

uint64_t mapped_file_family_hash(const struct mapped_file_table *table,
				 const struct family *family);
/* Closes the descriptor of an open file. */
void mapped_file_close(struct mapped_file_table *table, struct file *file);
/* Closes the least recently used descriptor to make room for one more. */
void mapped_file_make_room(struct mapped_file_table *table);
/* Takes ownership of the descriptor. */
void mapped_file_keep(struct mapped_file_table *table, struct file *file, int fd);
/* Marks an open file as recently used. */
void mapped_file_touch(struct mapped_file_table *table, struct file *file);
/* Moves the descriptor of an overwritten file, if there is one, to the new edition. */
void mapped_file_pass_on(struct mapped_file_table *table, struct file *older, struct file *newer);
/* True when its open descriptor, if any, still shows the mapped contents. Costs one fstat() as
 * long as the file does not change. */
bool mapped_file_is_current(struct file *file);

#endif
