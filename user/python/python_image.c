// SPDX-License-Identifier: BSD-2-Clause
/* Finds _PyRuntime: by its section, its symbol, or what it begins with. */
#include "python/python_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/elf_file.h"
#include "python/python_layout.h"
#include "python/python_symbol.h"

/* Bytes that are searched where neither section nor symbol leads to something. */
#define MAX_SEARCH_BYTES (32U << 20)
#define SEARCH_PIECE	 65536U
/* The runtime of 3.9, the smallest, has 688 bytes. */
#define MIN_RUNTIME_BYTES 512

/* Address, as linked, of an exported variable of at least min_size bytes; 0: none. */
static uint64_t find_variable(const struct elf_file *file, const char *name, uint64_t min_size)
{
	struct elf_symbol symbol;

	return python_symbol_find(file, STT_OBJECT, name, min_size, &symbol) ? symbol.address : 0;
}

/* Calls visit with the bytes from offset on, in pieces that overlap by `overlap`, until it returns
 * true; returns what it does. */
static bool search(const struct elf_file *file, uint64_t offset, uint64_t size, size_t overlap,
		   bool (*visit)(void *context, uint64_t offset, const uint8_t *bytes, size_t size),
		   void *context)
{
	_cleanup_free_ uint8_t *bytes = malloc(SEARCH_PIECE);

	if (size > MAX_SEARCH_BYTES)
		size = MAX_SEARCH_BYTES;
	for (uint64_t at = 0; bytes && at < size; at += SEARCH_PIECE - overlap) {
		size_t piece = size - at < SEARCH_PIECE ? (size_t)(size - at) : SEARCH_PIECE;

		if (elf_file_read(file, offset + at, bytes, piece))
			return false;
		if (visit(context, offset + at, bytes, piece))
			return true;
	}
	return false;
}

static bool find_cookie(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
	/* The structure is aligned, and so are pieces. */
	for (size_t at = 0; at + 8 <= size; at += 16) {
		if (!memcmp(bytes + at, PYTHON_DEBUG_COOKIE, 8)) {
			*(uint64_t *)context = offset + at;
			return true;
		}
	}
	return false;
}

/* Files without section headers, and so without symbols: only versions that publish offsets. */
static uint64_t find_by_content(const struct elf_file *file)
{
	uint64_t offset, address;

	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (segment->type != PT_LOAD || !(segment->flags & PF_W) || segment->offset % 16)
			continue;
		if (search(file, segment->offset, segment->file_size, 16, find_cookie, &offset) &&
		    elf_segments_address(&file->segments, offset, &address))
			return address;
	}
	return 0;
}

static uint64_t find_runtime(const struct elf_file *file)
{
	const struct elf_section *section = elf_file_find_section(file, ".PyRuntime");

	if (section && section->size >= MIN_RUNTIME_BYTES)
		return section->address;
	return file->section_count ? find_variable(file, "_PyRuntime", MIN_RUNTIME_BYTES)
				   : find_by_content(file);
}

/* Minor version after "python3."; 0: none. */
static unsigned int minor_of_name(const char *text, size_t size)
{
	static const char prefix[] = "python3.";
	const size_t length = sizeof(prefix) - 1;

	for (size_t i = 0; i + length < size; i++) {
		unsigned int minor = 0;
		size_t at = i + length;

		if (text[i] != 'p' || memcmp(text + i, prefix, length) != 0)
			continue;
		for (; at < size && at < i + length + 2 && text[at] >= '0' && text[at] <= '9'; at++)
			minor = minor * 10 + (unsigned int)(text[at] - '0');
		if (minor)
			return minor;
	}
	return 0;
}

static bool find_minor(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
	(void)offset;
	*(unsigned int *)context = minor_of_name((const char *)bytes, size);
	return *(unsigned int *)context != 0;
}

/* Before 3.11 the version is no variable, but the names of directories have it. */
static uint32_t version_by_name(const struct elf_file *file, const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;
	const struct elf_section *texts = elf_file_find_section(file, ".rodata");
	unsigned int minor = 0;

	name = name ? name + 1 : path;
	if (name)
		minor = minor_of_name(name, strlen(name));
	if (!minor && texts && texts->type != SHT_NOBITS)
		search(file, texts->offset, texts->size, 16, find_minor, &minor);
	return minor ? PYTHON_VERSION(minor) : 0;
}

static uint32_t find_version(const struct elf_file *file, const char *path)
{
	uint64_t address = find_variable(file, "Py_Version", sizeof(uint64_t)), version;

	if (address && !elf_file_read_address(file, address, &version, sizeof(version)) &&
	    version <= UINT32_MAX)
		return (uint32_t)version;
	return version_by_name(file, path);
}

/* Versions without anchors on the C stack need the loop's code. */
static int take_layout(const struct elf_file *file, bool known, struct python_image *image)
{
	if (known && image->layout.chain == PKBPF_PYTHON_OBJECTS)
		python_loop_find(file, image->loop);
	return known ? 0 : -ENOTSUP;
}

static int find_image(const struct elf_file *file, const char *path, struct python_image *ret_image)
{
	uint8_t offsets[PYTHON_DEBUG_OFFSETS_BYTES];
	uint64_t version;
	int err = -EBADMSG;

	ret_image->runtime = find_runtime(file);
	if (!ret_image->runtime)
		return -ENOENT;
	if (!elf_file_read_address(file, ret_image->runtime, offsets, sizeof(offsets))) {
		err = python_layout_read(offsets, sizeof(offsets), &ret_image->layout);
		memcpy(&version, offsets + 8, sizeof(version));
	}
	if (err == -EBADMSG) {
		ret_image->version = find_version(file, path);
		return take_layout(file,
				   python_layout_of(ret_image->version, false, &ret_image->layout),
				   ret_image);
	}
	ret_image->version = (uint32_t)version;
	return err;
}

static bool is_pypy(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	name = name ? name + 1 : path;
	return name && !strncmp(name, "libpypy", 7);
}

int python_image_find(const struct elf_file *file, const char *path, struct python_image *ret_image)
{
	int err;

	*ret_image = (struct python_image){0};
	if (!file->is_64)
		return -ENOENT;
	err = find_image(file, path, ret_image);
	if (err == -ENOENT && is_pypy(path)) {
		snprintf(ret_image->unknown, sizeof(ret_image->unknown), "PyPy");
		return -ENOTSUP;
	}
	if (err == -ENOTSUP && ret_image->version)
		snprintf(ret_image->unknown, sizeof(ret_image->unknown), "Python %u.%u",
			 ret_image->version >> 24 & 0xff, ret_image->version >> 16 & 0xff);
	else if (err == -ENOTSUP)
		snprintf(ret_image->unknown, sizeof(ret_image->unknown), "Python");
	return err;
}
