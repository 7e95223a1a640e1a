// SPDX-License-Identifier: BSD-2-Clause
#include "machine/sysfs_value.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_io.h"

#define TEXT_SIZE_MAX (4 << 20)

char *sysfs_text(const char *root, const char *path)
{
	char full[2 * SYSFS_PATH_SIZE], *text;
	size_t size;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full))
		return NULL;
	return file_read_all(AT_FDCWD, full, TEXT_SIZE_MAX, &text, &size) < 0 ? NULL : text;
}

bool sysfs_line(const char *root, const char *path, char ret_line[SYSFS_VALUE_SIZE])
{
	char *text = sysfs_text(root, path), *from = text;

	if (!text)
		return false;
	from += strspn(from, " \t");
	snprintf(ret_line, SYSFS_VALUE_SIZE, "%.*s", (int)strcspn(from, "\n"), from);
	for (size_t length = strlen(ret_line); length && ret_line[length - 1] == ' ';)
		ret_line[--length] = '\0';
	free(text);
	return ret_line[0];
}

bool sysfs_number(const char *root, const char *path, double *ret_number)
{
	char line[SYSFS_VALUE_SIZE], *end;
	double number;

	/* No hexadecimal, no "inf". */
	if (!sysfs_line(root, path, line) || line[strspn(line, "+-.0123456789eE")])
		return false;
	number = strtod(line, &end);
	if (end == line || *end || !isfinite(number))
		return false;
	*ret_number = number;
	return true;
}

bool sysfs_u64(const char *root, const char *path, uint64_t *ret_number)
{
	char line[SYSFS_VALUE_SIZE], *end;
	unsigned long long number;

	if (!sysfs_line(root, path, line) || strspn(line, "0123456789") != strlen(line))
		return false;
	errno = 0;
	number = strtoull(line, &end, 10);
	if (errno)
		return false;
	*ret_number = number;
	return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

void sysfs_each(const char *root, const char *path, bool (*look)(void *context, const char *name),
		void *context)
{
	char full[2 * SYSFS_PATH_SIZE];
	struct dirent **entries;
	bool goes_on = true;
	int count;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full))
		return;
	count = scandir(full, &entries, is_entry, by_name);
	for (int i = 0; i < count; i++) {
		if (goes_on && i < SYSFS_ENTRIES_MAX)
			goes_on = look(context, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}
