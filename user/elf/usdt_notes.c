// SPDX-License-Identifier: BSD-2-Clause
/* Reads notes of type "stapsdt". */
#include "elf/usdt_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NOTE_OWNER	"stapsdt"
#define NOTE_TYPE	3
#define MAX_NOTES_BYTES (16U << 20)

/* The string at *at, which moves behind its NUL; NULL: none ends before `end`. */
static const char *take_string(const char **at, const char *end)
{
	const char *string = *at;
	const char *nul = memchr(string, '\0', (size_t)(end - string));

	if (nul)
		*at = nul + 1;
	return nul ? string : NULL;
}

/* Three addresses: of the probe, of .stapsdt.base when the file was linked, and of the semaphore.
 * Then three strings. */
static bool parse_description(const char *description, size_t size, uint64_t base,
			      struct usdt_note *ret_note)
{
	const char *end = description + size, *at = description + 3 * sizeof(uint64_t);
	uint64_t addresses[3], shift;

	if (size < sizeof(addresses))
		return false;
	memcpy(addresses, description, sizeof(addresses));
	shift = base && addresses[1] ? base - addresses[1] : 0;
	ret_note->address = addresses[0] + shift;
	ret_note->semaphore = addresses[2] ? addresses[2] + shift : 0;
	ret_note->provider = take_string(&at, end);
	ret_note->name = ret_note->provider ? take_string(&at, end) : NULL;
	ret_note->arguments = ret_note->name ? take_string(&at, end) : NULL;
	if (ret_note->name && !ret_note->arguments)
		ret_note->arguments = "";
	return ret_note->name && ret_note->address;
}

static size_t aligned(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

void usdt_notes_parse(const uint8_t *bytes, size_t size, uint64_t base, usdt_note_fn *take,
		      void *context)
{
	for (size_t at = 0, count = 0; count < USDT_NOTES_MAX; count++) {
		Elf64_Nhdr header;
		const char *owner, *description;
		struct usdt_note note;

		if (size - at < sizeof(header))
			return;
		memcpy(&header, bytes + at, sizeof(header));
		at += sizeof(header);
		if (header.n_namesz > size - at || aligned(header.n_namesz) > size - at)
			return;
		owner = (const char *)bytes + at;
		at += aligned(header.n_namesz);
		if (header.n_descsz > size - at)
			return;
		description = (const char *)bytes + at;
		at += aligned(header.n_descsz) < size - at ? aligned(header.n_descsz) : size - at;
		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof(NOTE_OWNER) &&
		    memcmp(owner, NOTE_OWNER, sizeof(NOTE_OWNER)) == 0 &&
		    parse_description(description, header.n_descsz, base, &note) &&
		    !take(context, &note))
			return;
	}
}

int usdt_notes_read(const struct elf_file *file, usdt_note_fn *take, void *context)
{
	const struct elf_section *notes = elf_file_find_section(file, ".note.stapsdt");
	const struct elf_section *base = elf_file_find_section(file, ".stapsdt.base");
	_cleanup_free_ void *bytes = NULL;
	size_t size;
	int err;

	if (!notes || !file->is_64)
		return 0;
	err = elf_file_read_section(file, notes, MAX_NOTES_BYTES, &bytes, &size);
	if (!err)
		usdt_notes_parse(bytes, size, base ? base->address : 0, take, context);
	return err;
}
