/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of /proc/PID/mountinfo, as proc(5) describes it. */
#ifndef PKBPF_PROCESS_FILE_MOUNTINFO_H
#define PKBPF_PROCESS_FILE_MOUNTINFO_H

#include <stdint.h>

struct mountinfo_entry { /* texts point into the parsed line */
	uint32_t device_major, device_minor;
	const char *point; /* mount point, below the root of the process */
	const char *type;  /* "ext4", "fuse.sshfs" */
};

/* Parses a NUL-terminated line without its newline, and modifies it: octal escapes are undone.
 * Returns 0 or -EBADMSG. */
int mountinfo_parse_line(char *line, struct mountinfo_entry *ret_entry);

#endif
