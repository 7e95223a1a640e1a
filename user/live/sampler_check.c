// SPDX-License-Identifier: BSD-2-Clause
/* Reads what the loader of a command will be. Some loaders complain on stderr, or do not start the
 * program, when a library cannot be loaded. */
#include "live/sampler_check.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

#define MAX_SEGMENTS 128

static bool find_in_path(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	if (strchr(name, '/') || !list)
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	while (*list) {
		size_t length = strcspn(list, ":");

		/* An empty element is the current directory. */
		if (snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1,
			     length ? list : ".", name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		list += length;
		list += *list == ':';
	}
	return false;
}

static const char *check_elf(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr segments[MAX_SEGMENTS];
	size_t count = header->e_phnum < MAX_SEGMENTS ? header->e_phnum : MAX_SEGMENTS;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
		return "is a program for another processor or for 32 bits";
	if (pread(fd, segments, count * sizeof(segments[0]), (off_t)header->e_phoff) !=
	    (ssize_t)(count * sizeof(segments[0])))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_INTERP)
			return NULL;
	return "is statically linked";
}

static const char *check_file(const char *path, char interpreter[PATH_MAX])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	Elf64_Ehdr header;
	char line[PATH_MAX] = "";

	interpreter[0] = '\0';
	/* Whoever cannot read it finds out when it is started. */
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return NULL;
	if (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	    ((status.st_mode & S_ISGID) && status.st_gid != getegid()))
		return "runs with the rights of another user or group";
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
		return check_elf(fd, &header);
	if (pread(fd, line, sizeof(line) - 1, 0) > 2 && line[0] == '#' && line[1] == '!') {
		const char *start = line + 2 + strspn(line + 2, " \t");

		snprintf(interpreter, PATH_MAX, "%.*s", (int)strcspn(start, " \t\n"), start);
	}
	return NULL;
}

const char *sampler_check_command(const char *name)
{
	char path[PATH_MAX], interpreter[PATH_MAX], none[PATH_MAX];
	const char *reason;

	if (!find_in_path(name, path))
		return NULL;
	reason = check_file(path, interpreter);
	return interpreter[0] ? check_file(interpreter, none) : reason;
}
