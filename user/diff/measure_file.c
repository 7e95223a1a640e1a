// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "diff/baseline.h"
#include "diff/measure_json.h"
#include "diff/measure_pprof.h"
#include "diff/measure_recording.h"
#include "recording/recording_file.h"
#include "recording/recording_set.h"

/* Packed; a profile of an hour has a few MiB. */
#define FILE_BYTES_MAX (64ULL << 20)

enum content { CONTENT_RECORDING, CONTENT_BASELINE, CONTENT_JSON, CONTENT_OTHER };

static int look_at(const char *path, enum content *ret_content, struct error *error)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char start[8] = "";
	ssize_t size;

	if (fd < 0)
		return error_set(error, errno, "cannot open %s: %s%s", path, strerror(errno),
				 recording_open_advice(errno));
	size = read(fd, start, sizeof(start));
	if (size < 0)
		return error_set(error, errno, "cannot read %s: %s", path, strerror(errno));
	if (size == 8 && memcmp(start, RECORDING_FILE_MAGIC, 8) == 0)
		*ret_content = CONTENT_RECORDING;
	else if (size == 8 && memcmp(start, BASELINE_MAGIC, 8) == 0)
		*ret_content = CONTENT_BASELINE;
	else
		*ret_content = start[0] == '{' ? CONTENT_JSON : CONTENT_OTHER;
	return 0;
}

/* It has no processes or times of slices that could be chosen from. */
static int check_choice(const char *path, const struct slice_choice *choice, struct error *error)
{
	if (!slice_choice_is_of_processes(choice))
		return 0;
	return error_set(error, EINVAL,
			 "%s is no recording: --pid, --comm and --container choose from recordings "
			 "alone",
			 path);
}

int measure_file(struct measurement *measurement, const char *path,
		 const struct slice_choice *choice, size_t *damaged, struct error *error)
{
	enum content content;
	_cleanup_free_ char *data = NULL;
	struct error reason;
	size_t size;
	int err = look_at(path, &content, error);

	if (err)
		return err;
	if (content == CONTENT_RECORDING)
		return measure_recording(measurement, path, choice, damaged, error);
	err = check_choice(path, choice, error);
	if (err)
		return err;
	err = file_read_all(AT_FDCWD, path, FILE_BYTES_MAX, &data, &size);
	if (err)
		return error_set(error, -err, "cannot read %s: %s", path, strerror(-err));
	if (content == CONTENT_BASELINE)
		err = baseline_read(measurement, data, size, &reason);
	else if (content == CONTENT_JSON)
		err = measure_json(measurement, data, size, &reason);
	else
		err = measure_pprof_file(measurement, data, size, &reason);
	return err ? error_set(error, -err, "%s %s", path, reason.text) : 0;
}
