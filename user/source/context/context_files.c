// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_files.h"

#include <errno.h>

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
	int fd, err;

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
	};
	fd = mapped_file_open(table, file);
	err = fd < 0 ? fd
		     : context_ask_place(readers, fd, file->path, mapping->file_offset,
					 &item->place);
	item->has_variable = err == 0;
	/* Neither a file that no process has any more nor a reader that has ended is an answer. */
	item->is_asked = fd >= 0 && err != -EPIPE && err != -ETIMEDOUT && err != -ENOTCONN;
	return item->has_variable ? &item->place : NULL;
}
