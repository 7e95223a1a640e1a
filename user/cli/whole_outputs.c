// SPDX-License-Identifier: BSD-2-Clause
/* Output files that are written at once, of verbs with formats of their own: -o and -f. */
#include "cli/whole_outputs.h"

#include <errno.h>
#include <string.h>

#include "base/file_io.h"
#include "base/near_match.h"
#include "base/text_append.h"

int whole_outputs_set_format(struct whole_outputs *outputs, file_formats *formats, const char *name,
			     struct error *error)
{
	const struct file_format *format = file_format_by_name(formats, name);
	struct near_match near = {0};
	char list[128] = "";

	if (format) {
		outputs->pending = format;
		return 0;
	}
	for (size_t i = 0; (format = formats(i)); i++) {
		near_match_offer(&near, name, format->name);
		text_append(list, sizeof(list), "%s%s", i ? ", " : "", format->name);
	}
	if (near.word)
		return error_set(error, EINVAL, "invalid value '%s' for --format; did you mean %s?",
				 name, near.word);
	return error_set(error, EINVAL, "invalid value '%s' for --format: expected %s", name, list);
}

int whole_outputs_add(struct whole_outputs *outputs, file_formats *formats, const char *path,
		      struct error *error)
{
	const struct file_format *format = outputs->pending;
	bool is_named = format;

	if (outputs->count == WHOLE_OUTPUTS_MAX)
		return error_set(error, EINVAL, "more than %d times --output", WHOLE_OUTPUTS_MAX);
	if (!format)
		format = file_format_by_suffix(formats, path);
	if (!format && strcmp(path, "-") == 0)
		format = formats(0);
	outputs->items[outputs->count++] = (struct whole_output){path, format, is_named};
	outputs->pending = NULL;
	return 0;
}

int whole_outputs_finish(struct whole_outputs *outputs, file_formats *formats, struct error *error)
{
	struct whole_output *last = outputs->count ? &outputs->items[outputs->count - 1] : NULL;

	if (outputs->pending && last && last->is_named)
		return error_set(error, EINVAL, "--format %s belongs to no --output: %s has one",
				 outputs->pending->name, last->path);
	if (outputs->pending && last) {
		last->format = outputs->pending;
		outputs->pending = NULL;
	}
	for (size_t i = 0; i < outputs->count; i++)
		if (!outputs->items[i].format)
			return error_set(error, EINVAL,
					 "cannot tell the format of %s by its suffix; use --format",
					 outputs->items[i].path);
	return outputs->count ? 0 : whole_outputs_add(outputs, formats, "-", error);
}

int whole_output_write(const char *path, const struct invoking_user *user,
		       int (*write)(const void *context, FILE *out), const void *context,
		       struct error *error)
{
	struct output_file *file = output_file_open(path, error);
	int err;

	if (!file)
		return -EIO;
	err = write(context, output_file_stream(file));
	/* What the stream met is told by the commit. */
	if (err < 0 && !ferror(output_file_stream(file)))
		error_set(error, -err, "cannot write %s: %s", path, strerror(-err));
	else
		err = output_file_commit(file, user->behind_sudo ? user->uid : (uid_t)-1,
					 user->behind_sudo ? user->gid : (gid_t)-1, error);
	output_file_free(file);
	return err == -EPIPE && strcmp(path, "-") == 0 ? 0 : err;
}
