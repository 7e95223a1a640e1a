/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the lines of /proc/PID/maps. */
#ifndef PKBPF_PROCESS_PROCFS_MAPS_H
#define PKBPF_PROCESS_PROCFS_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct procfs_mapping {
	uint64_t start, end, file_offset, inode;
	uint32_t device_major, device_minor;
	uint32_t protection; /* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 */
	char path[4096];     /* octal escapes (\012) undone; "" when anonymous */
};

/* Parses one line of `length` bytes without its newline. 0, or -EBADMSG. */
int procfs_maps_parse_line(const char *line, size_t length, struct procfs_mapping *ret_mapping);

typedef void (*procfs_maps_callback)(void *context, const struct procfs_mapping *mapping);

/* Reads PROC_FD/PID/maps and reports every mapping. Text that a program has moved to huge pages
 * is anonymous to the kernel; it is reported as a mapping of its file. Returns the number of
 * lines that could not be parsed, or -ENOENT/-ESRCH (no such process), -EACCES. proc_fd:
 * descriptor of the proc directory. */
int procfs_maps_read(int proc_fd, uint32_t pid, procfs_maps_callback callback, void *context);

#endif
