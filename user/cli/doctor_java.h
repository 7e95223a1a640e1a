/* SPDX-License-Identifier: BSD-2-Clause */
/* `pkbpf doctor --pid PID`: how much code a HotSpot JVM has. */
#ifndef PKBPF_CLI_DOCTOR_JAVA_H
#define PKBPF_CLI_DOCTOR_JAVA_H

#include <stdbool.h>
#include <stdint.h>

struct file_servers;

/* Prints the version of the process's JVM, and how much code it has. maps: /proc/PID/maps. false:
 * its code has no names; the reason is printed if there is a JVM. */
bool doctor_java(uint32_t pid, struct file_servers *servers, const char *maps);
/* What to do when a JVM cannot be read; err: negative errno. For tests. */
const char *doctor_java_remedy(int err);

#endif
