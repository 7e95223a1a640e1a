// SPDX-License-Identifier: BSD-2-Clause
/* Block I/O limits of processes' cgroups: io.max, or blkio.throttle of cgroup v1. */
#include "process/relation/io_limits.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *file, *unit;
} version_1[] = {
	{"blkio.throttle.read_bps_device", "bytes read/s"},
	{"blkio.throttle.write_bps_device", "bytes written/s"},
	{"blkio.throttle.read_iops_device", "reads/s"},
	{"blkio.throttle.write_iops_device", "writes/s"},
};

/* "252:0 rbps=1048576 wbps=max riops=max wiops=max", without the device and unlimited values. */
static void say_maximum(char *text, size_t size, const char *line)
{
	char copy[256], *word, *rest = copy;
	size_t length = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	text[0] = '\0';
	while ((word = strsep(&rest, " ")))
		if (strchr(word, '=') && !strstr(word, "=max") && length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%s",
						   length ? " " : "", word);
}

/* "8:0 12", the value of version 1, with its unit. */
static void say_value(char *text, size_t size, const char *line, const char *unit)
{
	const char *value = strchr(line, ' ');

	text[0] = '\0';
	if (line[0])
		snprintf(text, size, "%.40s %s", value ? value + 1 : line, unit);
}

/* All limits of a file, a line a device: which one a process uses is not known here. Several have
 * their devices with them. unit: NULL for io.max. */
static bool read_limits(const char *path, const char *unit, char *text, size_t size)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char line[256], what[128], first[128] = "";
	size_t length = 0, count = 0;

	while (file && fgets(line, sizeof(line), file)) {
		bool is_cut = !strchr(line, '\n');

		line[strcspn(line, "\n")] = '\0';
		if (unit)
			say_value(what, sizeof(what), line, unit);
		else
			say_maximum(what, sizeof(what), line);
		while (is_cut && (is_cut = fgetc(file) != '\n' && !feof(file)))
			;
		if (!what[0])
			continue;
		if (!count++)
			memcpy(first, what, sizeof(first));
		if (length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%.*s %s",
						   length ? "; " : "", (int)strcspn(line, " "),
						   line, what);
	}
	if (count == 1)
		snprintf(text, size, "%s", first);
	return count > 0;
}

static bool find_limit(const char *root, const char *hierarchy, const char *cgroup, char *text,
		       size_t size)
{
	char path[PATH_MAX], what[128];

	snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/io.max", root, hierarchy, cgroup);
	if (read_limits(path, NULL, what, sizeof(what))) {
		snprintf(text, size, "%s in %.80s", what, cgroup);
		return true;
	}
	for (size_t i = 0; i < sizeof(version_1) / sizeof(version_1[0]); i++) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root, hierarchy, cgroup,
			 version_1[i].file);
		if (!read_limits(path, version_1[i].unit, what, sizeof(what)))
			continue;
		snprintf(text, size, "%s in %.60s", what, cgroup);
		return true;
	}
	return false;
}

/* Finds a limit of the cgroup or of one above it. */
static bool find_limit_above(const char *root, const char *hierarchy, char *cgroup, char *text,
			     size_t size)
{
	char *slash;

	while (cgroup[0] == '/' && cgroup[1]) {
		if (find_limit(root, hierarchy, cgroup, text, size))
			return true;
		slash = strrchr(cgroup, '/');
		*slash = '\0';
	}
	return false;
}

/* A line of /proc/PID/cgroup, "4:blkio:/a/b" or "0::/a/b". */
static bool limit_of_line(const char *root, char *line, char *text, size_t size)
{
	char *controllers = strchr(line, ':'), *cgroup, copy[512];

	cgroup = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!cgroup)
		return false;
	*cgroup++ = '\0';
	cgroup[strcspn(cgroup, "\n")] = '\0';
	snprintf(copy, sizeof(copy), "%s", cgroup);
	if (strstr(controllers, "blkio"))
		return find_limit_above(root, "/blkio", copy, text, size);
	if (controllers[1])
		return false;
	if (find_limit_above(root, "", copy, text, size))
		return true;
	snprintf(copy, sizeof(copy), "%s", cgroup);
	return find_limit_above(root, "/unified", copy, text, size);
}

void io_limits_write(const struct relation_writer *writer, const char *root)
{
	char path[PATH_MAX], line[512], text[256];

	for (size_t i = 0; i < writer->pid_count; i++) {
		_cleanup_fclose_ FILE *file = NULL;

		snprintf(path, sizeof(path), "%s/proc/%u/cgroup", root, writer->pids[i]);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			if (!limit_of_line(root, line, text, sizeof(text)))
				continue;
			relation_write(writer,
				       &(struct relation_view){.relation = PKBPF_RELATION_IO_LIMIT,
							       .pid = writer->pids[i],
							       .count = 1,
							       .text = text});
			break;
		}
	}
}

void relation_io_limits(const struct relation_writer *writer)
{
	io_limits_write(writer, "");
}
