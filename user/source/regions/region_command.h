/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a command that is about to start: probes that are on a file before it is mapped miss
 * nothing. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_COMMAND_H
#define PKBPF_SOURCE_REGIONS_REGION_COMMAND_H

/* fd and path: borrowed until it returns. */
typedef void region_command_fn(void *context, int fd, const char *path);

/* Calls take for the program, as the shell would find it, for its interpreter if it is a script,
 * and for the libraries that they are linked with, as far as the usual places have them. */
void region_command_files(const char *command, region_command_fn *take, void *context);

#endif
