/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks a running JVM (HotSpot 17 and newer) to write the perf map of its compiled code, as
 * "jcmd PID Compiler.perfmap" does, but without jcmd, which containers seldom have.
 *
 * Source: the attach protocol as HotSpot's AttachListener and its client in jdk.attach speak it.
 */
#ifndef PKBPF_LIVE_JVM_MAP_H
#define PKBPF_LIVE_JVM_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Whether the process has HotSpot's library mapped. */
bool jvm_map_is_jvm(uint32_t pid);
/* Returns when the map is written. The JVM gets a signal (SIGQUIT) if nobody has asked it for
 * anything before, and only if it handles that signal. What is done in its file systems is done as
 * its user. Negative errno with a text: not a JVM, its attach mechanism is off, no answer within
 * 5 s, the command is unknown (before 17). Any thread. */
int jvm_map_ask(uint32_t pid, struct error *error);

#endif
