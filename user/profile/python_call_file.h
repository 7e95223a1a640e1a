/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the counts of Python calls that a process has left (pkbpf/python_calls.h). What is in them
 * is the process's: hostile. */
#ifndef PKBPF_PROFILE_PYTHON_CALL_FILE_H
#define PKBPF_PROFILE_PYTHON_CALL_FILE_H

#include <stddef.h>

#include <pkbpf/python_calls.h>

#include "profile/profile.h"

/* The parts of a file that have been read; each may be shorter than the head says. */
struct python_call_parts {
	struct pkbpf_python_head head;
	const struct pkbpf_python_function *functions;
	const struct pkbpf_python_edge *edges;
	const struct pkbpf_python_line *lines;
	const char *strings;
	size_t function_count, edge_count, line_count, string_bytes;
	/* profile_names_bytes() beyond which no name is added, and its calls are lost; 0: none. */
	size_t names_most;
};

/* Rows of each area that the head names, within their limits; as counts of parts. -EBADMSG: it is
 * no head. */
int python_call_parts_begin(struct python_call_parts *parts);
/* Adds the counts to the profile; those that cannot be are counted as lost. -ENOMEM. */
int python_call_parts_add(const struct python_call_parts *parts, struct profile *profile);
/* Adds to a row that is only a count. -ENOMEM. */
int python_call_note(struct profile *profile, enum python_call_what what, uint64_t count);

#endif
