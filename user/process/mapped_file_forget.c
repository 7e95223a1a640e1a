// SPDX-License-Identifier: BSD-2-Clause
/* Gives the ids of files that nobody uses any more to others: where programs are built and run all day long, new ones never end. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "process/mapped_file_table.h"

/* What finds families and generations, with those that are kept alone. */
struct kept_indexes {
	struct hash_index families;
	struct hash_map generations;
};

static void kept_indexes_done(struct kept_indexes *kept)
{
	hash_index_done(&kept->families);
	hash_map_done(&kept->generations);
}

static bool make_indexes(const struct mapped_file_table *table, const bool *is_kept, struct kept_indexes *kept)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	for (uint32_t i = 0; i < table->families.count; i++) {
		if (is_kept[i] &&
		    !hash_index_add(&kept->families, mapped_file_family_hash(table, &table->families.items[i]), i))
			return false;
	}
	while ((slot = hash_map_next(&table->generations, &cursor))) {
		if (is_kept[slot->key >> 32] && !hash_map_put(&kept->generations, slot->key, slot->value))
			return false;
	}
	return true;
}

static void forget_file(struct mapped_file_table *table, uint32_t id)
{
	struct file *file = table->files.items[id];

	if (file->fd >= 0)
		mapped_file_close(table, file);
	free(file);
	table->files.items[id] = NULL;
	*array_add(&table->free_files) = id; /* reserved */
}

static void forget_family(struct mapped_file_table *table, uint32_t number)
{
	struct family *family = &table->families.items[number];

	table->path_bytes -= family->path_length + 1;
	free(family->path);
	family->path = NULL;
	*array_add(&table->free_families) = number; /* reserved */
}

int mapped_file_table_forget(struct mapped_file_table *table, const bool *is_used)
{
	_cleanup_free_ bool *is_kept = calloc(table->families.count + 1, sizeof(*is_kept));
	struct kept_indexes kept = {0};

	if (!is_kept)
		return -ENOMEM;
	/* Generations and editions of a file lead to each other. */
	for (uint32_t id = 0; id < table->files.count; id++) {
		if (table->files.items[id] && is_used[id])
			is_kept[table->files.items[id]->family] = true;
	}
	if (!array_reserve(&table->free_files, table->files.count) ||
	    !array_reserve(&table->free_families, table->families.count) || !make_indexes(table, is_kept, &kept)) {
		kept_indexes_done(&kept);
		return -ENOMEM;
	}
	hash_index_done(&table->family_index);
	hash_map_done(&table->generations);
	table->family_index = kept.families;
	table->generations = kept.generations;
	for (uint32_t id = 0; id < table->files.count; id++) {
		if (table->files.items[id] && !is_kept[table->files.items[id]->family])
			forget_file(table, id);
	}
	for (uint32_t i = 0; i < table->families.count; i++) {
		if (table->families.items[i].path && !is_kept[i])
			forget_family(table, i);
	}
	return 0;
}
