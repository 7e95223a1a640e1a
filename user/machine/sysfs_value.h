/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of procfs and sysfs below a root folder: "" on the machine itself, a recorded tree in
 * tests. Firmware and drivers write what they like: nothing is believed that is not a number. */
#ifndef PKBPF_MACHINE_SYSFS_VALUE_H
#define PKBPF_MACHINE_SYSFS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_VALUE_SIZE 200
#define SYSFS_PATH_SIZE	 512

/* The first line without spaces around it; false: none, or it is empty. */
bool sysfs_line(const char *root, const char *path, char ret_line[SYSFS_VALUE_SIZE]);
/* The whole file, for the caller to free; NULL: none. */
char *sysfs_text(const char *root, const char *path);
/* A whole line that is a number. */
bool sysfs_number(const char *root, const char *path, double *ret_number);
bool sysfs_u64(const char *root, const char *path, uint64_t *ret_number);

/* Calls look for each entry of a folder, by name; stops when it returns false. At most
 * SYSFS_ENTRIES_MAX. */
#define SYSFS_ENTRIES_MAX 4096
void sysfs_each(const char *root, const char *path, bool (*look)(void *context, const char *name),
		void *context);

#endif
