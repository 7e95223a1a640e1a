/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries of the maps of targets, for processes and threads that run already. */
#ifndef PKBPF_CAPTURE_SESSION_TARGET_ENTRY_H
#define PKBPF_CAPTURE_SESSION_TARGET_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/config.h>

/* procfs: "/proc". An unknown start is 0. */
struct pkbpf_target target_entry_of(const char *procfs, uint32_t tid,
				    enum pkbpf_target_reason reason);
/* Whether the number has gone to another task since the entry was made: the one that it names ended
 * before a program could see that. Entries of programs are never stale. */
bool target_entry_is_stale(const char *procfs, uint32_t tid, const struct pkbpf_target *entry);

#endif
