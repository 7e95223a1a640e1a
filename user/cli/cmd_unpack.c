// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf unpack`: writes what belongs beside the program: headers, the package of Python, the
 * manual, completions, examples. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_io.h"
#include "cli/command_table.h"
#include "cli/exit_status.h"
#include "cli/packed_files.h"

struct unpack_options {
	const char *folder;
};

static const struct packed_file *find(const char *name)
{
	const struct packed_file *file = packed_files;

	while (file && file->name && strcmp(file->name, name) != 0)
		file++;
	return file && file->name ? file : NULL;
}

static void list(void)
{
	for (const struct packed_file *file = packed_files; file && file->name; file++)
		printf("%s\n", file->name);
}

static int write_file(const struct packed_file *file, const char *folder, struct error *error)
{
	size_t size = (size_t)(file->end - file->begin);
	char path[PATH_MAX];
	struct output_file *output;
	int err;

	if (strcmp(folder, "-") == 0)
		snprintf(path, sizeof(path), "-");
	else if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, file->name) >= sizeof(path))
		return error_set(error, ENAMETOOLONG, "cannot write %s: the path is too long",
				 file->name);
	output = output_file_open(path, error);
	if (!output)
		return -EIO;
	fwrite(file->begin, 1, size, output_file_stream(output));
	err = output_file_commit(output, (uid_t)-1, (gid_t)-1, error);
	output_file_free(output);
	return err;
}

static int unpack_run(const struct cli_options *options, struct console *console)
{
	const struct unpack_options *own = options->own;
	const char *folder = own->folder ? own->folder : ".";
	struct error error;

	if (!options->files.count) {
		list();
		return EXIT_STATUS_DONE;
	}
	if (strcmp(folder, "-") != 0 && access(folder, W_OK | X_OK) < 0) {
		console_error(console, "cannot write into %s: %s; name another folder with --to",
			      folder, strerror(errno));
		return EXIT_STATUS_FAILED;
	}
	for (size_t i = 0; i < options->files.count; i++) {
		if (write_file(find(options->files.items[i]), folder, &error) < 0) {
			console_error(console, "%s", error.text);
			return EXIT_STATUS_FAILED;
		}
	}
	return EXIT_STATUS_DONE;
}

/* All names, before anything is written. */
static int unpack_check(struct cli_options *options, struct error *error)
{
	for (size_t i = 0; i < options->files.count; i++)
		if (!find(options->files.items[i]))
			return error_set(
				error, EINVAL,
				"no file '%.100s' is in this program: `pkbpf unpack` lists "
				"them",
				options->files.items[i]);
	return 0;
}

static const struct option_row own_options[] = {
	{0, "to", "FOLDER", "where they are written, - for stdout; default: here",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_TEXT,
	 OPTION_AT(struct unpack_options, folder)},
	{0},
};

const struct command_row command_unpack = {
	.name = "unpack",
	.synopsis = "unpack [--to FOLDER] [NAME]...",
	.summary = "Writes pkbpf.h, Python's package, manual, completions, examples; or lists them",
	.options = (const char *const[]){NULL},
	.own_options = own_options,
	.own_size = sizeof(struct unpack_options),
	.takes_files = true,
	.check = unpack_check,
	.run = unpack_run,
};
