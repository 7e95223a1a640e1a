// SPDX-License-Identifier: BSD-2-Clause
/* Finds functions' instructions that have USDT probes with semaphores. */
#include "source/regions/function_semaphores.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf/usdt_notes.h"

struct loading {
	const struct elf_file *file;
	struct function_semaphores *semaphores;
	bool failed;
};

static bool take_note(void *context, const struct usdt_note *note)
{
	struct loading *loading = context;
	struct usdt_site site, *item;

	if (!note->semaphore || !usdt_site_at(loading->file, note->address, note->semaphore, &site))
		return true;
	item = array_add(&loading->semaphores->items);
	loading->failed = !item;
	if (item)
		*item = site;
	return item;
}

int function_semaphores_load(struct function_semaphores *semaphores, const struct elf_file *file)
{
	struct loading loading = {.file = file, .semaphores = semaphores};

	return usdt_notes_read(file, take_note, &loading) == -ENOMEM || loading.failed ? -ENOMEM
										       : 0;
}

void function_semaphores_set(const struct function_semaphores *semaphores,
			     struct region_sites *sites)
{
	array_foreach(&sites->items, site)
		array_foreach(&semaphores->items, known)
			if (known->offset == site->offset)
				site->semaphore_offset = known->semaphore_offset;
}

void function_semaphores_done(struct function_semaphores *semaphores)
{
	array_free(&semaphores->items);
}
