// SPDX-License-Identifier: BSD-2-Clause
/* Opens the library of the JVM, and reads its description through the process. */
#include "symbol/jit/hotspot_jvm.h"

#include <errno.h>
#include <string.h>

#include "base/process_memory.h"
#include "elf/elf_program.h"

static bool is_jvm(const struct mapped_file *file)
{
	const char *name = file ? strrchr(file->path, '/') : NULL;

	return name && !strncmp(name + 1, "libjvm.", strlen("libjvm."));
}

/* NULL: none. */
static const struct mapping *find_library(struct mapped_file_table *files,
					  const struct address_space *space)
{
	const struct mapping_list *list = address_space_mappings(space);

	for (size_t i = 0; i < list->count; i++) {
		const struct mapping *mapping = &list->items[i];

		if (mapping_has_file(mapping) &&
		    is_jvm(mapped_file_table_get(files, mapping->file)))
			return mapping;
	}
	return NULL;
}

static int find_image(struct mapped_file_table *files, const struct mapping *mapping,
		      struct hotspot_image *ret_image, uint64_t *ret_bias)
{
	int fd = mapped_file_open(files, mapped_file_table_get(files, mapping->file));
	struct elf_file *file;
	int err = fd < 0 ? fd : elf_program_open(fd, &file);

	if (err)
		return err;
	err = hotspot_image_find(file, ret_image);
	if (!err && !elf_segments_bias(&file->segments, mapping->start, mapping->end,
				       mapping->file_offset, ret_bias))
		err = -ENOENT;
	elf_program_free(file);
	return err;
}

int hotspot_jvm_find(struct mapped_file_table *files, const struct address_space *space,
		     uint32_t *pid, struct hotspot_layout *ret_layout,
		     struct hotspot_process **ret_process)
{
	const struct hotspot_memory memory = {process_memory_read, pid};
	const struct mapping *mapping = find_library(files, space);
	struct hotspot_layout layout = {0};
	struct hotspot_image image;
	uint64_t bias = 0;
	int err = mapping ? find_image(files, mapping, &image, &bias) : -ENOENT;

	if (!err)
		err = hotspot_layout_read(&memory, &image, bias, &layout);
	if (ret_layout)
		*ret_layout = layout;
	if (err)
		return err;
	*ret_process = hotspot_process_new(&layout, bias, &memory);
	return *ret_process ? 0 : -ENOMEM;
}
