/* SPDX-License-Identifier: BSD-2-Clause */
/* What mapped_file.c (identities), mapped_file_open.c (opening), mapped_file_contents.c (whether it
 * is still the same) and mapped_file_keep.c (descriptors) and mapped_file_forget.c share; nobody
 * else includes this. */
#ifndef PKBPF_PROCESS_FILE_MAPPED_FILE_TABLE_H
#define PKBPF_PROCESS_FILE_MAPPED_FILE_TABLE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "process/file/mapped_file.h"

#define NO_FILE	      UINT32_MAX
#define MAX_WITNESSES 4 /* the first mapping seen and the last three */

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
	int failed; /* -errno of the last attempt to open it; 0: none since the last new witness */
	uint64_t refused_ns; /* when its server last refused to give it to us; 0: never */
	uint32_t more_recent, less_recent; /* among the open ones */
	struct file_contents contents;	   /* when it was first opened */
	bool contents_known, watched;	   /* watched: an ELF file */
	uint64_t first_ns;		   /* of its earliest mapping; 0: not known */
	uint64_t current_ns;		   /* until then nobody had overwritten it */
	uint64_t overwritten_ns;	   /* since then another program is in its place; 0: not */
	uint32_t older;			   /* what it has overwritten, file id or NO_FILE */
	uint64_t begin_ns;		   /* of its contents; 0: not known */
};

/* Files that differ in nothing but the generation of their inode, and editions of one that was
 * overwritten in place. */
struct family {
	uint32_t device_major, device_minor;
	uint64_t inode;
	char *path; /* NULL: this place is free */
	size_t path_length;
	uint32_t newest; /* file id */
};

struct mapped_file_table {
	char *root;
	uint64_t seed;
	ARRAY_OF(struct file *) files; /* NULL: this id is free */
	ARRAY_OF(struct family) families;
	ARRAY_OF(uint32_t) free_files, free_families;
	struct hash_index family_index;
	struct hash_map generations; /* family << 32 | generation -> file id of the last edition */
	size_t path_bytes;
	size_t open_count, open_limit; /* limit 0: not asked for yet */
	uint64_t opens, opened_bytes;  /* since deleted files were looked for */
	uint32_t most_recent, least_recent;
	struct file_servers *servers;
};

uint64_t mapped_file_family_hash(const struct mapped_file_table *table,
				 const struct family *family);
/* Closes its descriptor, which is open. */
void mapped_file_close(struct mapped_file_table *table, struct file *file);
/* Closes what was used least recently, so that one more may be opened. */
void mapped_file_make_room(struct mapped_file_table *table);
/* Takes the descriptor. */
void mapped_file_keep(struct mapped_file_table *table, struct file *file, int fd);
/* Notes that the file, which is open, was used. */
void mapped_file_touch(struct mapped_file_table *table, struct file *file);
/* Gives the descriptor of what was overwritten, if there is one, to what has overwritten it. */
void mapped_file_pass_on(struct mapped_file_table *table, struct file *older, struct file *newer);
/* Whether its descriptor, if it is open, still shows what was mapped. Costs one fstat() as long as
 * nobody changes it. */
bool mapped_file_is_current(struct file *file);

#endif
