// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_files.h"

void context_files_done(struct context_files *files)
{
	array_free(&files->items);
}

static bool is_same(const struct context_file *known, const struct mapped_file *file)
{
	return known->inode == file->inode && known->device_major == file->device_major &&
	       known->device_minor == file->device_minor;
}

const struct context_place *context_files_find(struct context_files *files,
					       struct mapped_file_table *table,
					       struct readers *readers,
					       const struct mapping *mapping, unsigned int *budget)
{
	struct mapped_file *file = mapped_file_table_get(table, mapping->file);
	struct context_file *item;
	int fd;

	if (!file || file->type != MAPPED_FILE_REGULAR)
		return NULL;
	while (files->items.count <= file->id)
		if (!array_add(&files->items))
			return NULL;
	item = &files->items.items[file->id];
	if (item->is_asked && is_same(item, file) &&
	    (!item->has_variable || item->file_offset == mapping->file_offset))
		return item->has_variable ? &item->place : NULL;
	if (!*budget)
		return NULL;
	--*budget;
	*item = (struct context_file){
		.inode = file->inode,
		.device_major = file->device_major,
		.device_minor = file->device_minor,
		.file_offset = mapping->file_offset,
		.is_asked = true,
	};
	fd = mapped_file_open(table, file);
	item->has_variable = fd >= 0 && context_ask_place(readers, fd, file->path,
							  mapping->file_offset, &item->place) == 0;
	return item->has_variable ? &item->place : NULL;
}
