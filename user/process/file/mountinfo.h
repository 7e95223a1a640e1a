/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of /proc/PID/mountinfo, as proc(5) describes it. */
#ifndef PKBPF_PROCESS_FILE_MOUNTINFO_H
#define PKBPF_PROCESS_FILE_MOUNTINFO_H

#include <stdint.h>

struct mountinfo_entry { /* texts point into the line that was parsed */
	uint32_t device_major, device_minor;
	const char *point; /* where it is mounted, below the root of the process */
	const char *type;  /* "ext4", "fuse.sshfs" */
};

/* A line without its newline, NUL-terminated; it is changed: what the kernel wrote as octal digits
 * becomes what it stands for. 0, -EBADMSG. */
int mountinfo_parse_line(char *line, struct mountinfo_entry *ret_entry);

#endif
