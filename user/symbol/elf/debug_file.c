// SPDX-License-Identifier: BSD-2-Clause
/* Searches for separate debug files by build id and by debug link. */
#include "symbol/elf/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/cleanup.h"
#include "symbol/target_file.h"

#define CHECKSUM_STEP_BYTES (256U << 10)
/* A name, its NUL, padding, four bytes of checksum. */
#define MAX_LINK_BYTES (NAME_MAX + 16)

struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t checksum;
};

static bool read_link(const struct elf_file *file, struct debug_link *ret_link)
{
	const struct elf_section *section = elf_file_find_section(file, ".gnu_debuglink");
	_cleanup_free_ void *data = NULL;
	size_t size, length, at;

	if (!section || elf_file_read_section(file, section, MAX_LINK_BYTES, &data, &size))
		return false;
	length = strnlen(data, size);
	at = (length + 1 + 3) & ~(size_t)3;
	/* The name says which file in known folders, not where else to look. */
	if (length == 0 || length > NAME_MAX || at + sizeof(uint32_t) > size ||
	    memchr(data, '/', length) || strcmp(data, ".") == 0 || strcmp(data, "..") == 0)
		return false;
	memcpy(ret_link->name, data, length + 1);
	memcpy(&ret_link->checksum, (const char *)data + at, sizeof(uint32_t));
	return true;
}

static bool checksum_matches(const struct elf_file *file, uint32_t expected)
{
	_cleanup_free_ unsigned char *buffer = malloc(CHECKSUM_STEP_BYTES);
	uLong checksum = crc32(0, NULL, 0);

	if (!buffer || file->size > DEBUG_FILE_MAX_CHECKSUM_BYTES)
		return false;
	for (uint64_t done = 0; done < file->size;) {
		size_t step = file->size - done < CHECKSUM_STEP_BYTES ? (size_t)(file->size - done)
								      : CHECKSUM_STEP_BYTES;

		if (elf_file_read(file, done, buffer, step))
			return false;
		checksum = crc32(checksum, buffer, (uInt)step);
		done += step;
	}
	return checksum == expected;
}

/* Does the candidate belong to the file with this build id (or, lacking one, this link)? */
static bool is_wanted(int fd, const struct build_id *id, const struct debug_link *link)
{
	struct build_id other = {.size = 0};
	struct elf_file file;
	bool wanted = false;

	if (elf_file_open(&file, fd))
		return false;
	if (id->size && !build_id_read(&file, &other))
		wanted = build_id_equal(id, &other);
	else if (link)
		wanted = checksum_matches(&file, link->checksum);
	elf_file_done(&file);
	return wanted;
}

static int open_path(const struct debug_file_search *search, enum debug_file_root root,
		     const char *path)
{
	return search->open ? search->open(search->context, root, path)
			    : debug_file_open_in(search, root, path);
}

static int try_open(const struct debug_file_search *search, const char *path,
		    const struct build_id *id, const struct debug_link *link)
{
	static const enum debug_file_root roots[] = {DEBUG_FILE_OF_PROCESS, DEBUG_FILE_OURS};

	for (size_t i = search->pid ? 0 : 1; i < 2; i++) {
		int fd = open_path(search, roots[i], path);

		if (fd < 0)
			continue;
		if (is_wanted(fd, id, link))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

int debug_file_open_path(const struct debug_file_search *search, const char *path,
			 const struct build_id *id)
{
	return try_open(search, path, id, NULL);
}

int debug_file_open_build_id(const struct debug_file_search *search, const struct build_id *id)
{
	char hex[BUILD_ID_HEX_SIZE];
	char path[PATH_MAX];
	int length;

	if (id->size < 2)
		return -ENOENT;
	build_id_format(id, hex);
	length = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", search->debug_dir, hex,
			  hex + 2);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENOENT;
	return try_open(search, path, id, NULL);
}

int debug_file_open(const struct debug_file_search *search, const struct elf_file *file)
{
	struct build_id id = {.size = 0};
	const char *slash = strrchr(search->path, '/');
	int folder_size = slash ? (int)(slash - search->path) : 0;
	struct debug_link link;
	char path[PATH_MAX];
	int fd;

	if (build_id_read(file, &id))
		id.size = 0;
	fd = debug_file_open_build_id(search, &id);
	if (fd >= 0 || !slash || folder_size >= PATH_MAX / 2 || !read_link(file, &link))
		return fd;
	for (int i = 0; i < 3; i++) {
		int length =
			snprintf(path, sizeof(path), "%s%.*s%s/%s", i == 2 ? search->debug_dir : "",
				 folder_size, search->path, i == 1 ? "/.debug" : "", link.name);

		/* A link to itself finds the stripped file again. */
		if (length < 0 || (size_t)length >= sizeof(path) || strcmp(path, search->path) == 0)
			continue;
		fd = try_open(search, path, &id, &link);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int debug_file_open_target(const struct debug_file_search *search, const char *path)
{
	return open_path(search, DEBUG_FILE_OF_PROCESS_OR_OURS, path);
}

int debug_file_open_in(const struct debug_file_search *search, enum debug_file_root root,
		       const char *path)
{
	uint32_t pid = root == DEBUG_FILE_OURS ? 0 : search->pid;
	struct stat st;
	int fd = target_file_open(search->servers, search->root, pid, path, true, &st);
	char folder[PATH_MAX];

	if (fd >= 0 || !pid || root != DEBUG_FILE_OF_PROCESS_OR_OURS)
		return fd;
	if (snprintf(folder, sizeof(folder), "%s/proc/%u/root", search->root, pid) >=
		    (int)sizeof(folder) ||
	    access(folder, F_OK) == 0)
		return fd;
	return target_file_open(search->servers, search->root, 0, path, true, &st);
}

bool debug_file_has_build_id(int fd, const struct build_id *id)
{
	return is_wanted(fd, id, NULL);
}
