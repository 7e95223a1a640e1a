// SPDX-License-Identifier: BSD-2-Clause
/* Reads the notes of USDT sites. A note holds the addresses of the site, of a mark by which tools
 * that moved the file's addresses are noticed, and of the semaphore; then provider, name and
 * arguments as strings. */
#include "elf/usdt_site.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NOTE_SECTION   ".note.stapsdt"
#define MARK_SECTION   ".stapsdt.base"
#define NOTE_TYPE      3
#define NOTE_NAME      "stapsdt"
#define MAX_NOTE_BYTES (16U << 20)

struct note {
	uint64_t address, mark, semaphore;
	const char *provider, *name;
};

/* The string at *at, which moves behind it. NULL: it has no end. */
static const char *take_string(const char **at, const char *end)
{
	const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));

	*at = zero ? zero + 1 : end;
	return zero ? text : NULL;
}

static bool read_description(const char *data, size_t size, struct note *ret_note)
{
	const char *at = data + 3 * sizeof(uint64_t), *end = data + size;

	if (size <= 3 * sizeof(uint64_t))
		return false;
	memcpy(&ret_note->address, data, sizeof(uint64_t));
	memcpy(&ret_note->mark, data + sizeof(uint64_t), sizeof(uint64_t));
	memcpy(&ret_note->semaphore, data + 2 * sizeof(uint64_t), sizeof(uint64_t));
	ret_note->provider = take_string(&at, end);
	ret_note->name = ret_note->provider ? take_string(&at, end) : NULL;
	return ret_note->name;
}

static bool is_site(const Elf64_Nhdr *header, const char *owner)
{
	return header->n_type == NOTE_TYPE && header->n_namesz == sizeof(NOTE_NAME) &&
	       memcmp(owner, NOTE_NAME, sizeof(NOTE_NAME)) == 0;
}

/* 0, -ENOENT or -EBADMSG. */
static int find_note(const char *at, size_t size, const char *provider, const char *name,
		     struct note *ret_note)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		uint64_t owner_size, data_size;

		memcpy(&header, at, sizeof(header));
		at += sizeof(header);
		size -= sizeof(header);
		owner_size = ((uint64_t)header.n_namesz + 3) & ~3ULL;
		data_size = ((uint64_t)header.n_descsz + 3) & ~3ULL;
		/* The padding behind the last note may be missing. */
		if (owner_size > size || header.n_descsz > size - owner_size)
			return -EBADMSG;
		if (is_site(&header, at) &&
		    read_description(at + owner_size, header.n_descsz, ret_note) &&
		    strcmp(ret_note->provider, provider) == 0 && strcmp(ret_note->name, name) == 0)
			return 0;
		if (data_size > size - owner_size)
			break;
		at += owner_size + data_size;
		size -= owner_size + data_size;
	}
	return -ENOENT;
}

static bool find_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t size;

	return elf_segments_offset(&file->segments, address, ret_offset, &size);
}

int usdt_site_find(const struct elf_file *file, const char *provider, const char *name,
		   struct usdt_site *ret_site)
{
	const struct elf_section *section = elf_file_find_section(file, NOTE_SECTION);
	const struct elf_section *mark = elf_file_find_section(file, MARK_SECTION);
	_cleanup_free_ void *data = NULL;
	struct usdt_site site = {0};
	struct note note = {0};
	uint64_t moved;
	size_t size;
	int err;

	if (!section || !file->is_64)
		return -ENOENT;
	err = elf_file_read_section(file, section, MAX_NOTE_BYTES, &data, &size);
	err = err ? err : find_note(data, size, provider, name, &note);
	if (err)
		return err;
	moved = mark ? mark->address - note.mark : 0;
	if (!find_offset(file, note.address + moved, &site.offset) ||
	    (note.semaphore && !find_offset(file, note.semaphore + moved, &site.semaphore_offset)))
		return -EBADMSG;
	*ret_site = site;
	return 0;
}
