/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the separate debug file of a stripped file. */
#ifndef PKBPF_SYMBOL_ELF_DEBUG_FILE_H
#define PKBPF_SYMBOL_ELF_DEBUG_FILE_H

#include "elf/build_id.h"

/* A checksum over more than this takes longer than anybody wants to wait for a name. */
#define DEBUG_FILE_MAX_CHECKSUM_BYTES (1ULL << 30)

struct file_servers;

/* In whose root folder a path is looked up. */
enum debug_file_root {
	DEBUG_FILE_OURS = 0,
	DEBUG_FILE_OF_PROCESS = 1,
	DEBUG_FILE_OF_PROCESS_OR_OURS = 2, /* ours when the process is gone */
};

struct debug_file_search {
	struct file_servers *servers; /* as for target_file_open() */
	const char *root;	      /* as in symbolizer_options */
	const char *debug_dir;	      /* "/usr/lib/debug" */
	uint32_t pid; /* a process that maps the file: its root folder is searched too; 0 none */
	const char *path; /* of the stripped file, inside that root */
	/* Opens paths for one that may not: a descriptor, or a negative errno. NULL: they are
	 * opened as target_file_open() does. */
	int (*open)(void *context, enum debug_file_root root, const char *path);
	void *context;
};

/*
 * A descriptor of the debug file; the caller closes it. Tried in turn, inside the process's root
 * and then in ours: DEBUG_DIR/.build-id/xx/yyy.debug, then the file named by .gnu_debuglink beside
 * the file, in .debug beside it, and in DEBUG_DIR/its folder. Accepted only with the same build id,
 * or, where there is none, with the checksum of the link. -ENOENT: none.
 */
int debug_file_open(const struct debug_file_search *search, const struct elf_file *file);
/* By build id alone. */
int debug_file_open_build_id(const struct debug_file_search *search, const struct build_id *id);
/* The file at path, which must have this build id. */
int debug_file_open_path(const struct debug_file_search *search, const char *path,
			 const struct build_id *id);
/* The file at a path that the target has chosen, as the target sees it; a target that is gone saw
 * what we see, as far as anybody knows. Negative errno; -EINVAL: no regular file. */
int debug_file_open_target(const struct debug_file_search *search, const char *path);
/* What search->open does for others, in a process that may. */
int debug_file_open_in(const struct debug_file_search *search, enum debug_file_root root,
		       const char *path);
/* Whether the file has this build id. */
bool debug_file_has_build_id(int fd, const struct build_id *id);

#endif
