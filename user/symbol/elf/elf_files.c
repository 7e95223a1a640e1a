// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/elf_files.h"

static bool find(void *context, uint32_t id, struct elf_place *ret_place)
{
	const struct mapped_file *file = mapped_file_table_get(context, id);

	if (file)
		*ret_place = (struct elf_place){file->path, file->witness_pid,
						file->type == MAPPED_FILE_VDSO};
	return file;
}

static int open_file(void *context, uint32_t id)
{
	return mapped_file_open(context, mapped_file_table_get(context, id));
}

static int read_vdso(void *context, uint32_t id, void **ret_image, size_t *ret_size)
{
	return mapped_file_read_vdso(context, mapped_file_table_get(context, id), ret_image,
				     ret_size);
}

struct elf_files elf_files_of(struct mapped_file_table *table)
{
	return (struct elf_files){
		.find = find,
		.open = open_file,
		.read_vdso = read_vdso,
		.context = table,
		.servers = mapped_file_table_servers(table),
	};
}
