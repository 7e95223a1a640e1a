/* SPDX-License-Identifier: BSD-2-Clause */
/* The targets of a capture, as somebody asked for them. */
#ifndef PKBPF_LIVE_LIVE_TARGETS_H
#define PKBPF_LIVE_LIVE_TARGETS_H

#include <stddef.h>

#include <pkbpf/config.h>

#include "base/parse_value.h"

/* At most one of pids, tids, cgroup_path, container and command; none: the whole host. Strings are
 * borrowed. */
struct live_targets {
	struct u32_list pids, tids;
	const char *cgroup_path;  /* may be relative to the mount of cgroup v2 */
	const char *container;	  /* see container_match() */
	const char *comm;	  /* only processes of this name; NULL: all */
	enum pkbpf_follow follow; /* of pids and command */
	char *const *command;	  /* argv to run, ends in NULL; NULL: none */
};

struct session_options;
struct cgroup_paths;
/* Tells the session which processes to record; all pointers are borrowed by it. cgroups: those
 * found for the targets; *command_pid: of the command, 0 without one. */
void live_targets_choose(const struct live_targets *targets, const struct cgroup_paths *cgroups,
			 const uint32_t *command_pid, struct session_options *session);
/* "pid 812,813 and descendants", "whole host, comm postgres". Truncates to size. */
void live_targets_describe(const struct live_targets *targets, char *ret_text, size_t size);
void live_targets_done(struct live_targets *targets);

#endif
