// SPDX-License-Identifier: BSD-2-Clause
/* Turns addresses of notes into places in their file. */
#include "elf/usdt_site.h"

#include <errno.h>
#include <string.h>

#include "elf/usdt_notes.h"

struct wanted {
	const char *provider, *name;
	uint64_t address, semaphore;
	bool found;
};

static bool take_note(void *context, const struct usdt_note *note)
{
	struct wanted *wanted = context;

	if (strcmp(note->provider, wanted->provider) != 0 || strcmp(note->name, wanted->name) != 0)
		return true;
	wanted->address = note->address;
	wanted->semaphore = note->semaphore;
	wanted->found = true;
	return false;
}

static bool find_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t size;

	return elf_segments_offset(&file->segments, address, ret_offset, &size);
}

bool usdt_site_at(const struct elf_file *file, uint64_t address, uint64_t semaphore,
		  struct usdt_site *ret_site)
{
	struct usdt_site site = {0};

	if (!find_offset(file, address, &site.offset) ||
	    (semaphore && !find_offset(file, semaphore, &site.semaphore_offset)))
		return false;
	site.semaphore_is_shadowed =
		semaphore && elf_segments_page_is_shared(&file->segments, semaphore);
	*ret_site = site;
	return true;
}

int usdt_site_find(const struct elf_file *file, const char *provider, const char *name,
		   struct usdt_site *ret_site)
{
	struct wanted wanted = {.provider = provider, .name = name};
	int err = usdt_notes_read(file, take_note, &wanted);

	if (err)
		return err;
	if (!wanted.found)
		return -ENOENT;
	return usdt_site_at(file, wanted.address, wanted.semaphore, ret_site) ? 0 : -EBADMSG;
}
