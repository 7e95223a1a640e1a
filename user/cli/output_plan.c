// SPDX-License-Identifier: BSD-2-Clause
/* Opens the files that were asked for, and turns a profile into their contents. */
#include "cli/output_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/timed_wait.h"
#include "rows/line_rows.h"

/* A dying program does not wait longer than this for a file that is being finished. */
#define ABANDON_WAIT_SECONDS 1

struct output {
	char *pattern; /* as it was given */
	char *path;    /* of the interval */
	const struct format_ops *format;
	enum pkbpf_profile_kind kind; /* of a format that holds one */
	struct output_file *file;
	void *slices;	/* state of a format that is written slice by slice; NULL: none yet */
	bool has_slice; /* a whole one is in the file */
	bool failed;	/* takes no more slices */
};

/* A file that was written, in the order of intervals. */
struct written {
	char *path;
	uint64_t interval;
	dev_t device;
	ino_t inode;
};

struct output_plan {
	ARRAY_OF(struct output) outputs;
	ARRAY_OF(struct written) written;
	const char *cut_format; /* whose output to stdout has the first kind only; NULL: none */
	uint64_t interval;
	uid_t owner; /* of what is kept when we abandon; -1: unchanged */
	gid_t group;
	/* held while a file is finished or freed, and for ever once abandoned */
	pthread_mutex_t lock;
};

/* ---- planning ---- */

static const char *name_in_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* However its folder is written, or a link to it. */
static bool is_same_file(const char *path, const char *other)
{
	_cleanup_free_ char *copy = strdup(path), *other_copy = strdup(other);
	struct stat folder, other_folder, file, other_file;

	if (strcmp(path, other) == 0 || strcmp(path, "-") == 0 || strcmp(other, "-") == 0)
		return strcmp(path, other) == 0;
	/* Devices, such as /dev/null, have room for any number. */
	if (stat(path, &file) == 0 && stat(other, &other_file) == 0)
		return S_ISREG(file.st_mode) && file.st_dev == other_file.st_dev &&
		       file.st_ino == other_file.st_ino;
	return copy && other_copy && strcmp(name_in_folder(path), name_in_folder(other)) == 0 &&
	       stat(dirname(copy), &folder) == 0 && stat(dirname(other_copy), &other_folder) == 0 &&
	       folder.st_dev == other_folder.st_dev && folder.st_ino == other_folder.st_ino;
}

static int add_output(struct output_plan *plan, const struct format_ops *format,
		      enum pkbpf_profile_kind kind, char *path, struct error *error)
{
	struct output *output;

	if (!path)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	array_foreach(&plan->outputs, each) {
		if (is_same_file(each->pattern, path)) {
			int err = error_set(error, EINVAL, "%s is given twice as --output",
					    strcmp(path, "-") == 0 ? "stdout" : path);

			free(path);
			return err;
		}
	}
	output = array_add(&plan->outputs);
	if (!output) {
		free(path);
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	}
	output->pattern = path;
	output->path = strdup(path);
	if (!output->path)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	output->format = format;
	output->kind = kind;
	return 0;
}

/* "app.folded" → "app.cpu.folded"; the kind goes to the end of a name without the suffix. */
static char *path_of_kind(const char *path, const char *suffix, const char *kind)
{
	size_t length = strlen(path), suffix_length = strlen(suffix);
	char *named;

	if (length > suffix_length && strcmp(path + length - suffix_length, suffix) == 0)
		length -= suffix_length;
	if (asprintf(&named, "%.*s.%s%s", (int)length, path, kind, path + length) < 0)
		return NULL;
	return named;
}

static int plan_request(struct output_plan *plan, const struct output_request *request,
			const struct source_ops *const *kinds, size_t kind_count,
			struct error *error)
{
	const struct format_ops *format;
	int err = output_request_format(request, &format, error);

	if (err < 0)
		return err;
	if (!format->one_kind || kind_count < 2 || strcmp(request->path, "-") == 0) {
		if (format->one_kind && kind_count > 1)
			plan->cut_format = format->file.name;
		return add_output(plan, format, kind_count ? kinds[0]->kind : PKBPF_PROFILE_CPU,
				  strdup(request->path), error);
	}
	for (size_t i = 0; i < kind_count && err == 0; i++)
		err = add_output(plan, format, kinds[i]->kind,
				 path_of_kind(request->path, format->file.suffix, kinds[i]->name),
				 error);
	return err;
}

int output_plan_new(const struct output_request *requests, size_t request_count,
		    const struct source_ops *const *kinds, size_t kind_count,
		    struct output_plan **ret_plan, struct error *error)
{
	struct output_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return error_set(error, ENOMEM, "cannot plan the outputs: out of memory");
	pthread_mutex_init(&plan->lock, NULL);
	plan->owner = (uid_t)-1;
	plan->group = (gid_t)-1;
	for (size_t i = 0; i < request_count; i++) {
		int err = plan_request(plan, &requests[i], kinds, kind_count, error);

		if (err < 0) {
			output_plan_free(plan);
			return err;
		}
	}
	*ret_plan = plan;
	return 0;
}

/* ---- opening ---- */

static int check_stdout(struct error *error)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	/* A closed stdout has been filled with something that cannot be written. */
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(
			error, EBADF,
			"cannot write to standard output: it is closed; name a file with -o");
	return 0;
}

static bool is_stdout(const struct output *output)
{
	return strcmp(output->path, "-") == 0;
}

static void close_output(struct output *output)
{
	if (output->format->slices)
		output->format->slices->free(output->slices);
	output->slices = NULL;
	output->has_slice = false;
	output->failed = false;
	output_file_free(output->file);
	output->file = NULL;
}

static int open_output(struct output_plan *plan, struct output *output, int64_t unix_ns,
		       struct error *error)
{
	char *path = output_path_at(output->pattern, unix_ns);

	if (!path)
		return error_set(error, ENOMEM, "cannot open the outputs: out of memory");
	pthread_mutex_lock(&plan->lock);
	close_output(output);
	free(output->path);
	output->path = path;
	/* What was recorded up to a crash can be reported. */
	output->file = output->format->slices ? output_file_open_visible(output->path, error)
					      : output_file_open(output->path, error);
	pthread_mutex_unlock(&plan->lock);
	return output->file ? 0 : -errno;
}

int output_plan_open(struct output_plan *plan, struct error *error)
{
	int64_t now_ns = (int64_t)clock_read_ns(CLOCK_REALTIME);

	array_foreach(&plan->outputs, output) {
		int err = is_stdout(output) ? check_stdout(error) : 0;

		err = err ? err : open_output(plan, output, now_ns, error);
		if (err < 0)
			return err;
	}
	return 0;
}

int output_plan_open_interval(struct output_plan *plan, int64_t start_unix_ns, struct error *error)
{
	array_foreach(&plan->outputs, output) {
		int err = !output->file || output_path_has_time(output->pattern)
				  ? open_output(plan, output, start_unix_ns, error)
				  : 0;

		if (err < 0)
			return err;
	}
	return 0;
}

static int note_written(struct output_plan *plan, const char *path)
{
	struct written *written;
	struct stat status;
	char *copy;

	if (lstat(path, &status) < 0)
		return 0;
	copy = strdup(path);
	written = copy ? array_add(&plan->written) : NULL;
	if (!written) {
		free(copy);
		return -ENOMEM;
	}
	*written = (struct written){copy, plan->interval, status.st_dev, status.st_ino};
	return 0;
}

/* Not when another file has its name now, written by us after the clock was set back or by somebody
 * else. */
static int remove_written(const struct written *written)
{
	struct stat status;

	if (lstat(written->path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (status.st_dev != written->device || status.st_ino != written->inode)
		return 0;
	return unlink(written->path) < 0 && errno != ENOENT ? -errno : 0;
}

int output_plan_keep(struct output_plan *plan, unsigned int intervals, struct error *error)
{
	size_t removed = 0;
	int err = 0;

	for (size_t i = 0; intervals && i < plan->outputs.count && !err; i++) {
		if (output_path_has_time(plan->outputs.items[i].pattern))
			err = note_written(plan, plan->outputs.items[i].path);
	}
	if (err)
		return error_set(error, ENOMEM, "cannot remember what was written: out of memory");
	plan->interval++;
	for (; removed < plan->written.count &&
	       plan->written.items[removed].interval + intervals < plan->interval;
	     removed++) {
		struct written *old = &plan->written.items[removed];
		int failed = remove_written(old);

		if (failed && !err)
			err = error_set(error, -failed, "cannot remove %s: %s", old->path,
					strerror(-failed));
		free(old->path);
	}
	for (size_t i = removed; i < plan->written.count; i++)
		plan->written.items[i - removed] = plan->written.items[i];
	plan->written.count -= removed;
	return err;
}

bool output_plan_shows_gpu_calls(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output)
		if (output->format->shows_gpu_calls)
			return true;
	return false;
}

const char *output_plan_cut_format(const struct output_plan *plan)
{
	return plan->cut_format;
}

bool output_plan_takes_slices(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output) {
		if (output->format->slices)
			return true;
	}
	return false;
}

bool output_plan_takes_whole(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output) {
		if (!output->format->slices)
			return true;
	}
	return false;
}

bool output_plan_shows_resources(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output) {
		if (!output->format->only_stacks)
			return true;
	}
	return false;
}

bool output_plan_is_for_stdout(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output)
		if (!is_stdout(output))
			return false;
	return true;
}

bool output_plan_reports_to_stdout(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output) {
		if (!output->format->only_stacks && strcmp(output->path, "-") == 0)
			return true;
	}
	return false;
}

/* ---- writing ---- */

static int write_contents(const struct output *output, struct results *results,
			  const struct output_settings *settings)
{
	struct format_options options = settings->options;

	if (output->slices)
		return output->format->slices->end(output->slices);
	options.kind = output->kind;
	/* A file is no terminal: it gets colors only from somebody who insists. */
	options.color = strcmp(output->path, "-") == 0
				? console_wants_color(settings->color, STDOUT_FILENO)
				: settings->color == COLOR_ALWAYS;
	if (!options.width && strcmp(output->path, "-") == 0)
		options.width = console_width(STDOUT_FILENO);
	return output->format->write(results, &options, output_file_stream(output->file));
}

static int write_output(struct output_plan *plan, struct output *output, struct results *results,
			const struct output_settings *settings, const struct invoking_user *user,
			struct error *error)
{
	uid_t owner = user->behind_sudo ? user->uid : (uid_t)-1;
	gid_t group = user->behind_sudo ? user->gid : (gid_t)-1;
	int err = output->failed ? 0 : write_contents(output, results, settings);

	/* Errors of the stream itself are told better by commit, which knows what write() said. */
	if (err < 0 && !ferror(output_file_stream(output->file)))
		error_set(error, -err, "cannot write %s: %s", output->path, strerror(-err));
	else
		err = 0;
	/* What is left in the buffer is written here, outside the lock: it may take long. */
	fflush(output_file_stream(output->file));
	pthread_mutex_lock(&plan->lock);
	if (err == 0 && (!output->failed || output->has_slice))
		err = output_file_commit(output->file, owner, group, error);
	close_output(output);
	pthread_mutex_unlock(&plan->lock);
	return err;
}

/* Keeps what was whole before, with an index if there is room for one. */
static void keep_whole_slices(struct output *output, int add_err, struct console *console)
{
	const struct format_slices *slices = output->format->slices;
	uint64_t whole = output->has_slice ? slices->whole_bytes(output->slices) : 0;
	bool is_kept = output_file_cut(output->file, whole) == 0 && output->has_slice;
	const char *reason = strerror(-add_err);

	output->failed = true;
	if (is_kept && (slices->end(output->slices) || fflush(output_file_stream(output->file))))
		output_file_cut(output->file, whole);
	if (is_kept)
		console_error(console,
			      "cannot write more to %s: %s; it holds what was recorded up to then; "
			      "free space or use another file with -o",
			      output->path, reason);
	else if (!is_stdout(output))
		console_error(console,
			      "cannot write %s: %s; free space or use another file with -o",
			      output->path, reason);
	else if (add_err != -EPIPE)
		console_error(console, "cannot write to standard output: %s", reason);
}

static int add_slice(struct output_plan *plan, struct output *output, const struct profile *slice,
		     const struct format_options *options, struct console *console)
{
	const struct format_slices *slices = output->format->slices;
	int err;

	if (!output->slices) {
		void *state = slices->begin(output_file_stream(output->file), options);

		pthread_mutex_lock(&plan->lock);
		output->slices = state;
		pthread_mutex_unlock(&plan->lock);
	}
	err = output->slices ? slices->add(output->slices, slice) : -ENOMEM;
	if (err) {
		keep_whole_slices(output, err, console);
		return err == -EPIPE && is_stdout(output) ? 0 : err;
	}
	pthread_mutex_lock(&plan->lock);
	output->has_slice = slices->whole_bytes && slices->whole_bytes(output->slices) > 0;
	pthread_mutex_unlock(&plan->lock);
	return 0;
}

int output_plan_add_slice(struct output_plan *plan, const struct profile *slice,
			  const struct format_options *options, struct console *console)
{
	int first_err = 0;

	array_foreach(&plan->outputs, output) {
		int err = 0;

		if (output->format->slices && output->file && !output->failed)
			err = add_slice(plan, output, slice, options, console);
		if (!first_err)
			first_err = err;
	}
	return first_err;
}

bool output_plan_has_failed(const struct output_plan *plan)
{
	array_foreach(&plan->outputs, output) {
		if (!output->failed)
			return false;
	}
	return true;
}

int output_plan_write(struct output_plan *plan, enum output_part part, struct results *results,
		      const struct output_settings *settings, const struct invoking_user *user,
		      struct console *console)
{
	int first_err = 0;

	array_foreach(&plan->outputs, output) {
		struct error error;
		int err;

		if (!output->file || output->format->only_stacks != (part == OUTPUT_STACKS))
			continue;
		if (output->format->needs_lines && !line_rows_known(results->profile))
			console_note(console, "%s: %s", output->path, LINE_ROWS_NONE);
		err = write_output(plan, output, results, settings, user, &error);
		if (err == 0 || (err == -EPIPE && strcmp(output->path, "-") == 0))
			continue;
		console_error(console, "%s", error.text);
		if (first_err == 0)
			first_err = err;
	}
	return first_err;
}

void output_plan_set_owner(struct output_plan *plan, const struct invoking_user *user)
{
	plan->owner = user->behind_sudo ? user->uid : (uid_t)-1;
	plan->group = user->behind_sudo ? user->gid : (gid_t)-1;
}

void output_plan_abandon(struct output_plan *plan)
{
	uint64_t deadline_ns = clock_now_ns() + ABANDON_WAIT_SECONDS * NS_PER_SECOND;

	/* A file that is being finished is complete: let it. Never unlocked, so that nothing is
	 * freed under us. */
	if (!timed_lock(&plan->lock, deadline_ns))
		return;
	array_foreach(&plan->outputs, output) {
		if (output->file && output->has_slice)
			output_file_keep(output->file, plan->owner, plan->group);
		else if (output->file)
			output_file_abandon(output->file);
	}
}

void output_plan_free(struct output_plan *plan)
{
	if (!plan)
		return;
	array_foreach(&plan->outputs, output) {
		close_output(output);
		free(output->path);
		free(output->pattern);
	}
	array_foreach(&plan->written, written)
		free(written->path);
	array_free(&plan->written);
	array_free(&plan->outputs);
	pthread_mutex_destroy(&plan->lock);
	free(plan);
}

static const struct output *output_at(const struct output_plan *plan, size_t index)
{
	return index < plan->outputs.count ? &plan->outputs.items[index] : NULL;
}

const char *output_plan_path(const struct output_plan *plan, size_t index)
{
	const struct output *output = output_at(plan, index);

	return output ? output->path : NULL;
}

const char *output_plan_format(const struct output_plan *plan, size_t index)
{
	const struct output *output = output_at(plan, index);

	return output ? output->format->file.name : NULL;
}
