/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that processes have mapped, each identity (device, inode, generation, path) once. A file is
 * opened only when somebody needs its contents, through whichever process still shows it. One that
 * is overwritten in place is another file from then on, with another id. One owner thread.
 *
 * Bounds: MAPPED_FILES_MAX identities, MAPPED_FILES_MAX_PATH_BYTES of their paths; what is beyond
 * is refused. MAPPED_FILES_MAX_OPEN descriptors, and among them about
 * MAPPED_FILES_MAX_DELETED_BYTES of files that nobody can open any more and that would not be on
 * the disk without us: what was used least recently is closed.
 */
#ifndef PKBPF_PROCESS_FILE_MAPPED_FILE_H
#define PKBPF_PROCESS_FILE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"

#define MAPPED_FILES_MAX	       (1U << 18)
#define MAPPED_FILES_MAX_PATH_BYTES    (64U << 20)
#define MAPPED_FILES_MAX_OPEN	       4096 /* or half of RLIMIT_NOFILE */
#define MAPPED_FILES_MAX_DELETED_BYTES (256U << 20)

enum mapped_file_type {
	MAPPED_FILE_REGULAR, /* has an inode */
	MAPPED_FILE_VDSO,    /* image in the memory of any process that maps it */
};

struct mapped_file {
	uint32_t id; /* dense, from 0; that of a forgotten file is given to another */
	enum mapped_file_type type;
	uint32_t device_major, device_minor;
	uint32_t inode_generation; /* 0: not known; learned when a later record has it */
	uint64_t inode;
	const char *path; /* as the kernel showed it, without " (deleted)"; owned by the table */
	bool deleted;	  /* the kernel said so */
	/* The mapping through which the file can be opened while that process lives; the newest one
	 * seen. */
	uint32_t witness_pid;
	uint64_t witness_start, witness_end;
	/* After mapped_file_open(): found by path with the right inode number on another device
	 * number, as on btrfs and overlayfs. Most likely the file, but check a build id where there
	 * is one. */
	bool identity_unsure;
};

struct file_servers;
struct mapped_file_table;

/* root: "" for the live system; tests give a folder that holds proc/. */
struct mapped_file_table *mapped_file_table_new(const char *root);
void mapped_file_table_free(struct mapped_file_table *table);
/* Those that are asked for files of theirs; lives as long as the table. */
struct file_servers *mapped_file_table_servers(struct mapped_file_table *table);
/* All ids are below this; some may be free. */
size_t mapped_file_table_count(const struct mapped_file_table *table);
/* How many are not. */
size_t mapped_file_table_live_count(const struct mapped_file_table *table);
/* Whether three quarters of what the bounds above allow are in use: a good time to forget some. */
bool mapped_file_table_is_nearly_full(const struct mapped_file_table *table);
/* NULL: no file has this id. Borrowed; lives and stays in place until it is forgotten. */
struct mapped_file *mapped_file_table_get(struct mapped_file_table *table, uint32_t id);
/* Forgets all but those that are used, by id, and a few that lead to them; the ids of others are
 * given again. -ENOMEM: nothing is forgotten. */
int mapped_file_table_forget(struct mapped_file_table *table, const bool *is_used);

/*
 * The file behind a mapping, added when new, and the mapping noted as its witness. *ret_file is
 * NULL for mappings without a file: anonymous and shared memory (//anon, /dev/zero, SysV shm,
 * hugetlb), "[heap]" and the like; memfds are files. Generation 0 (procfs does not show it) fits
 * every generation of the same device, inode and path. An ELF file that is open here and that was
 * overwritten before mapping->time_ns is a new one; mappings of the time before still lead to the
 * old one. -ENOMEM; -ENOSPC beyond the bounds above.
 */
int mapped_file_table_add(struct mapped_file_table *table, const struct mapping_view *mapping,
			  struct mapped_file **ret_file);

/*
 * A read-only descriptor of the file's contents, opened now or kept from an earlier call; owned by
 * the table. Tried in turn: /proc/PID/map_files/START-END (its inode or its path must fit: the pid
 * may have been reused), /proc/PID/root + path, path in our own mount namespace (device and inode
 * must fit, or the inode alone and then identity_unsure is set). Only regular files; symbolic links
 * resolve inside PID's root; nothing blocks: of a file system that somebody else serves it is a
 * copy, of which nobody sees what overwrites the file from then on. -ENOENT: gone or replaced;
 * -ESTALE: overwritten, what was mapped cannot be read any more; -EACCES; -ETIMEDOUT: its server
 * does not answer now; -ENODATA for MAPPED_FILE_VDSO (read it with mapped_file_read_vdso). Other
 * failures than that of a server are remembered until another mapping of the file is seen. Of the
 * descriptors kept the least recently used are closed, so one is valid until the next call of this
 * function.
 */
int mapped_file_open(struct mapped_file_table *table, struct mapped_file *file);
/*
 * Whether code in this file was made by a run-time, perhaps at work (a JIT that maps a file twice,
 * to write and to execute): it is no ELF file. Asked of the contents once, while a process still
 * maps it; false when they cannot be read, or nobody has done so and it does not lie where files
 * are made in passing.
 */
bool mapped_file_is_generated(struct mapped_file_table *table, struct mapped_file *file);
/* Copies the vdso image out of the witness process (or our own when it is the same size); the
 * caller frees it. */
int mapped_file_read_vdso(struct mapped_file_table *table, struct mapped_file *file,
			  void **ret_image, size_t *ret_size);

#endif
