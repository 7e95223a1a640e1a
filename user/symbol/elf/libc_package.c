// SPDX-License-Identifier: BSD-2-Clause
/* Reads os-release(5) for what a system calls its packages. */
#include "symbol/elf/libc_package.h"

#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/named_line.h"

#define MAX_OS_RELEASE_BYTES 4096

struct advice {
	const char *id, *text;
};

static const struct advice glibc[] = {
	{"debian", "install libc6-dbg"},
	{"ubuntu", "install libc6-dbg"},
	{"fedora", "dnf debuginfo-install glibc"},
	{"rhel", "dnf debuginfo-install glibc"},
	{"centos", "dnf debuginfo-install glibc"},
	{"suse", "zypper install glibc-debuginfo"},
	{"opensuse", "zypper install glibc-debuginfo"},
};
static const struct advice musl[] = {{"alpine", "apk add musl-dbg"}};

static bool is_musl(const char *name)
{
	return strncmp(name, "ld-musl-", 8) == 0 || strncmp(name, "libc.musl-", 10) == 0;
}

bool libc_is_file(const char *name)
{
	return is_musl(name) || strncmp(name, "libc.so.", 8) == 0 ||
	       strncmp(name, "libc-2.", 7) == 0 || strncmp(name, "libpthread.so.", 14) == 0 ||
	       strncmp(name, "libpthread-2.", 13) == 0;
}

/* Whether the word is in the value of the line: ID=debian, ID_LIKE="rhel centos fedora". */
static bool has_word(const char *os_release, const char *line, const char *word)
{
	const char *value = named_line(os_release, line), *end, *at;
	size_t length = strlen(word);

	end = value ? value + strcspn(value, "\n") : NULL;
	for (at = value; at && at < end; at += strcspn(at, "\"' \n") + 1) {
		at += strspn(at, "\"' ");
		if (strncmp(at, word, length) == 0 && strchr("\"' \n", at[length]))
			return true;
	}
	return false;
}

const char *libc_package_advice(const char *name, const char *os_release)
{
	static const char *const lines[] = {"ID=", "ID_LIKE="};
	const struct advice *table = is_musl(name) ? musl : glibc;
	size_t count = is_musl(name) ? ARRAY_SIZE(musl) : ARRAY_SIZE(glibc);

	for (size_t line = 0; line < ARRAY_SIZE(lines); line++)
		for (size_t i = 0; i < count; i++)
			if (has_word(os_release, lines[line], table[i].id))
				return table[i].text;
	return NULL;
}

const char *libc_package_find(const char *name, const struct debug_file_search *search)
{
	static const char *const paths[] = {"/etc/os-release", "/usr/lib/os-release"};
	char text[MAX_OS_RELEASE_BYTES + 1];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = debug_file_open_target(search, paths[i]);
		ssize_t got = fd < 0 ? -1 : pread(fd, text, MAX_OS_RELEASE_BYTES, 0);

		if (got <= 0)
			continue;
		text[got] = '\0';
		return libc_package_advice(name, text);
	}
	return NULL;
}
