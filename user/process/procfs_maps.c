// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/PID/maps with one buffer; the parser trusts no byte of it. */
#include "process/procfs_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel returns at most a page per read, more only for a longer line. A path of PATH_MAX
 * bytes may be escaped to four times its length. */
#define READ_SIZE	     (20 * 1024)
#define ANONYMOUS_HUGE_PAGES "/anon_hugepage" /* from MAP_HUGETLB */

struct cursor {
	const char *at;
	const char *end;
};

/* A number in base 10 or 16 that fits `max`, with at least one digit. */
static bool take_number(struct cursor *cursor, unsigned int base, uint64_t max, uint64_t *ret_value)
{
	const char *start = cursor->at;
	uint64_t value = 0;

	for (; cursor->at < cursor->end; cursor->at++) {
		unsigned int digit;
		char c = *cursor->at;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			digit = (unsigned int)(c - 'a') + 10;
		else
			break;
		if (value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (cursor->at == start)
		return false;
	*ret_value = value;
	return true;
}

static bool take_char(struct cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

static bool take_protection(struct cursor *cursor, uint32_t *ret_protection)
{
	static const char letters[] = "rwx";
	uint32_t protection = 0;

	if (cursor->end - cursor->at < 4)
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		if (cursor->at[i] == letters[i])
			protection |= 1U << i;
		else if (cursor->at[i] != '-')
			return false;
	}
	if (cursor->at[3] != 'p' && cursor->at[3] != 's')
		return false;
	cursor->at += 4;
	*ret_protection = protection;
	return true;
}

/* The kernel escapes only the newline here; a backslash stands for itself. */
static void copy_path(char *to, size_t size, const char *from, size_t length)
{
	static const char newline[] = "\\012";
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < size; i++) {
		if (from[i] == '\\' && length - i >= 4 && memcmp(from + i, newline, 4) == 0) {
			to[used++] = '\n';
			i += 3;
		} else {
			to[used++] = from[i];
		}
	}
	to[used] = '\0';
}

int procfs_maps_parse_line(const char *line, size_t length, struct procfs_mapping *ret_mapping)
{
	struct cursor cursor = {line, line + length};
	uint64_t start, end, offset, major, minor, inode;
	uint32_t protection;

	if (!take_number(&cursor, 16, UINT64_MAX, &start) || !take_char(&cursor, '-') ||
	    !take_number(&cursor, 16, UINT64_MAX, &end) || !take_char(&cursor, ' ') ||
	    !take_protection(&cursor, &protection) || !take_char(&cursor, ' ') ||
	    !take_number(&cursor, 16, UINT64_MAX, &offset) || !take_char(&cursor, ' ') ||
	    !take_number(&cursor, 16, UINT32_MAX, &major) || !take_char(&cursor, ':') ||
	    !take_number(&cursor, 16, UINT32_MAX, &minor) || !take_char(&cursor, ' ') ||
	    !take_number(&cursor, 10, UINT64_MAX, &inode) || start >= end)
		return -EBADMSG;
	if (cursor.at < cursor.end && *cursor.at != ' ')
		return -EBADMSG;
	while (cursor.at < cursor.end && *cursor.at == ' ')
		cursor.at++;
	if (memchr(cursor.at, '\0', (size_t)(cursor.end - cursor.at)))
		return -EBADMSG;
	ret_mapping->start = start;
	ret_mapping->end = end;
	ret_mapping->file_offset = offset;
	ret_mapping->inode = inode;
	ret_mapping->device_major = (uint32_t)major;
	ret_mapping->device_minor = (uint32_t)minor;
	ret_mapping->protection = protection;
	copy_path(ret_mapping->path, sizeof(ret_mapping->path), cursor.at,
		  (size_t)(cursor.end - cursor.at));
	return 0;
}

struct report {
	procfs_maps_callback callback;
	void *context;
	int unparsed;
	struct procfs_mapping before; /* previous mapping with a file; else its path is "" */
	/* the adjacent mapping that may be its text; empty: none */
	struct procfs_mapping withheld;
};

static bool has_no_file(const struct procfs_mapping *mapping)
{
	return !mapping->inode ||
	       strncmp(mapping->path, ANONYMOUS_HUGE_PAGES, strlen(ANONYMOUS_HUGE_PAGES)) == 0;
}

static bool may_be_moved_text(const struct procfs_mapping *mapping,
			      const struct procfs_mapping *before)
{
	return mapping->protection & PROT_EXEC && has_no_file(mapping) && before->path[0] &&
	       before->end == mapping->start;
}

/* True when the file's offsets continue after the withheld mapping as if it were part of the
 * file. */
static bool continues(const struct procfs_mapping *behind, const struct procfs_mapping *withheld,
		      const struct procfs_mapping *before)
{
	return behind->inode == before->inode && behind->device_major == before->device_major &&
	       behind->device_minor == before->device_minor && behind->start == withheld->end &&
	       behind->start - behind->file_offset == before->start - before->file_offset;
}

static void report_withheld(struct report *report, const struct procfs_mapping *behind)
{
	struct procfs_mapping *withheld = &report->withheld;
	const struct procfs_mapping *before = &report->before;

	if (withheld->start == withheld->end)
		return;
	if (behind && continues(behind, withheld, before)) {
		withheld->file_offset = before->file_offset + (withheld->start - before->start);
		withheld->inode = before->inode;
		withheld->device_major = before->device_major;
		withheld->device_minor = before->device_minor;
		memcpy(withheld->path, before->path, sizeof(withheld->path));
	}
	report->callback(report->context, withheld);
	withheld->start = withheld->end = 0;
}

static void report_mapping(struct report *report, const struct procfs_mapping *mapping)
{
	report_withheld(report, mapping);
	if (may_be_moved_text(mapping, &report->before)) {
		report->withheld = *mapping;
		return;
	}
	if (has_no_file(mapping))
		report->before.path[0] = '\0';
	else
		report->before = *mapping;
	report->callback(report->context, mapping);
}

/* Reports the complete lines of buffer; returns their size in bytes. */
static size_t report_lines(const char *buffer, size_t size, struct report *report)
{
	struct procfs_mapping mapping;
	size_t done = 0;
	const char *newline;

	while ((newline = memchr(buffer + done, '\n', size - done))) {
		size_t length = (size_t)(newline - (buffer + done));

		if (procfs_maps_parse_line(buffer + done, length, &mapping) == 0)
			report_mapping(report, &mapping);
		else
			report->unparsed++;
		done += length + 1;
	}
	return done;
}

int procfs_maps_read(int proc_fd, uint32_t pid, procfs_maps_callback callback, void *context)
{
	char buffer[READ_SIZE];
	char path[32];
	_cleanup_close_ int fd = -1;
	bool skipping = false; /* the rest of a line that did not fit */
	size_t used = 0;
	struct report report = {.callback = callback, .context = context};

	snprintf(path, sizeof(path), "%u/maps", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(fd, buffer + used, sizeof(buffer) - used);
		size_t done;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
		if (skipping) {
			const char *newline = memchr(buffer, '\n', used);

			done = newline ? (size_t)(newline - buffer) + 1 : used;
			skipping = !newline;
			memmove(buffer, buffer + done, used - done);
			used -= done;
		}
		done = report_lines(buffer, used, &report);
		memmove(buffer, buffer + done, used - done);
		used -= done;
		if (used == sizeof(buffer)) {
			report.unparsed++;
			skipping = true;
			used = 0;
		}
	}
	/* Every line of procfs ends in a newline: a rest is truncated. */
	report_withheld(&report, NULL);
	return used ? report.unparsed + 1 : report.unparsed;
}
