/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files from debuginfod servers, through libdebuginfod. It is loaded when it is first needed,
 * in a process of its own: it brings a dozen libraries (curl, TLS, Kerberos) that most runs do not
 * want in memory and many machines do not have, and only a process can be ended in time, whatever a
 * server does. That library honours DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH and the like. One owner
 * thread.
 */
#ifndef PKBPF_SYMBOL_ELF_DEBUGINFOD_H
#define PKBPF_SYMBOL_ELF_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/build_id.h"

struct symbol_notes;
struct debuginfod;

/* limit_ns: for all files together. NULL: out of memory. */
struct debuginfod *debuginfod_new(uint64_t limit_ns);
void debuginfod_free(struct debuginfod *debuginfod);
/* Whose rights look-ups have, and whose cache they use; uid 0: our own. home is borrowed, NULL: not
 * known. */
struct debuginfod_user {
	uid_t uid;
	gid_t gid;
	const char *home;
};
void debuginfod_run_as(struct debuginfod *debuginfod, const struct debuginfod_user *user);
/* Nothing is looked up before: servers are slow, and records do not wait. */
void debuginfod_allow(struct debuginfod *debuginfod);
bool debuginfod_is_allowed(const struct debuginfod *debuginfod);
/* A descriptor of the debug file, which the caller closes. -ENOENT: not looked up, or no server has
 * it; other errors are those of the library. After one that other files would meet as well, such as
 * the end of the time, no server is asked again. */
int debuginfod_open(struct debuginfod *debuginfod, const struct build_id *id);
/* Why debug files are missing; nothing when none is. */
void debuginfod_tell(const struct debuginfod *debuginfod, struct symbol_notes *notes);

#endif
