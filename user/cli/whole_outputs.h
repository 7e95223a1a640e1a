/* SPDX-License-Identifier: BSD-2-Clause */
/* Output files that are written at once, of verbs with formats of their own: -o and -f. */
#ifndef PKBPF_CLI_WHOLE_OUTPUTS_H
#define PKBPF_CLI_WHOLE_OUTPUTS_H

#include <stdio.h>

#include "base/error.h"
#include "base/file_format.h"
#include "live/invoking_user.h"

#define WHOLE_OUTPUTS_MAX 16

struct whole_output {
	const char *path;		  /* "-": stdout */
	const struct file_format *format; /* before whole_outputs_finish() NULL: not known */
	bool is_named;			  /* by -f, not by its suffix */
};

/* Of fixed size: who frees the options of a verb knows nothing of them. */
struct whole_outputs {
	struct whole_output items[WHOLE_OUTPUTS_MAX];
	size_t count;
	const struct file_format *pending; /* of the next -o, or of the last one */
};

/* -f, -o, and what holds after the last of them: without an -o it is stdout, in the first format
 * unless -f named another. 0, or -EINVAL with a sentence. Texts are borrowed. */
int whole_outputs_set_format(struct whole_outputs *outputs, file_formats *formats, const char *name,
			     struct error *error);
int whole_outputs_add(struct whole_outputs *outputs, file_formats *formats, const char *path,
		      struct error *error);
int whole_outputs_finish(struct whole_outputs *outputs, file_formats *formats, struct error *error);

/* Writes and finishes a file, and gives it to the user behind sudo. Negative errno with a sentence;
 * a reader that closed our stdout is no failure. */
int whole_output_write(const char *path, const struct invoking_user *user,
		       int (*write)(const void *context, FILE *out), const void *context,
		       struct error *error);

#endif
