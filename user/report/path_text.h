/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of frames as text: "comm: caller > callee", clean for a terminal. */
#ifndef PKBPF_REPORT_PATH_TEXT_H
#define PKBPF_REPORT_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/function_table.h"

/* Longer names are shortened: templates would fill the page with one frame. */
#define PATH_NAME_COLUMNS 48

/* A frame of a path. */
struct path_step {
	char text[4 * PATH_NAME_COLUMNS + 8];
	size_t columns;
	bool is_comm;
};

/* comm: of a thread; not escaped. */
void path_step_comm(struct path_step *step, const char *comm);
/* enters_kernel: its caller is no kernel function. */
void path_step_function(struct path_step *step, const struct function *function,
			bool enters_kernel);
/* The path with " > " between frames, in at most `room` columns unless its last frame is wider:
 * then its beginning is left out. At least one step. The caller frees it; NULL: out of memory. */
char *path_text(const struct path_step *steps, size_t count, size_t room);

#endif
