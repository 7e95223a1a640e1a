// SPDX-License-Identifier: BSD-2-Clause
/* Reuses the ids of unused files: on build machines the number of new programs is endless. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "process/file/mapped_file_table.h"

/* Indexes of families and generations, with only the kept ones. */
struct kept_indexes {
	struct hash_index families;
	struct hash_map generations;
};

static void kept_indexes_done(struct kept_indexes *kept)
{
	hash_index_done(&kept->families);
	hash_map_done(&kept->generations);
}

/* Marks of the files and families that stay. */
struct kept_files {
	uint8_t *files; /* KEPT… by id */
	bool *families;
};

enum {
	KEPT = 1,
	KEPT_BEFORE = 2, /* for a late record of the previous edition */
};

static void kept_files_done(struct kept_files *kept)
{
	free(kept->files);
	free(kept->families);
}

/* True when this edition or an earlier one is used. */
static bool leads_to_used(const struct mapped_file_table *table, const bool *is_used, uint32_t id)
{
	while (id != NO_FILE && !is_used[id])
		id = table->files.items[id]->older;
	return id != NO_FILE;
}

/* Keeps entries through which used files are found by family or generation. Not whole families:
 * a program built again and again can have the same path and inode each time, with another
 * generation. */
static bool choose(const struct mapped_file_table *table, const bool *is_used,
		   struct kept_files *kept)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	kept->files = calloc(table->files.count + 1, sizeof(*kept->files));
	kept->families = calloc(table->families.count + 1, sizeof(*kept->families));
	if (!kept->files || !kept->families)
		return false;
	for (uint32_t id = 0; id < table->files.count; id++) {
		if (!table->files.items[id] || !is_used[id])
			continue;
		kept->files[id] = KEPT;
		kept->families[table->files.items[id]->family] = true;
	}
	for (uint32_t i = 0; i < table->families.count; i++) {
		if (kept->families[i])
			kept->files[table->families.items[i].newest] = KEPT;
	}
	while ((slot = hash_map_next(&table->generations, &cursor))) {
		if (kept->families[slot->key >> 32] &&
		    leads_to_used(table, is_used, (uint32_t)slot->value))
			kept->files[slot->value] = KEPT;
	}
	for (uint32_t id = 0; id < table->files.count; id++) {
		uint32_t older = kept->files[id] == KEPT ? table->files.items[id]->older : NO_FILE;

		if (older != NO_FILE && !kept->files[older])
			kept->files[older] = KEPT_BEFORE;
	}
	return true;
}

static bool make_indexes(const struct mapped_file_table *table, const struct kept_files *kept,
			 struct kept_indexes *indexes)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	for (uint32_t i = 0; i < table->families.count; i++) {
		if (kept->families[i] &&
		    !hash_index_add(&indexes->families,
				    mapped_file_family_hash(table, &table->families.items[i]), i))
			return false;
	}
	while ((slot = hash_map_next(&table->generations, &cursor))) {
		if (kept->files[slot->value] &&
		    !hash_map_put(&indexes->generations, slot->key, slot->value))
			return false;
	}
	return true;
}

/* Removes past editions about to be forgotten from the chain. */
static void relink(const struct mapped_file_table *table, const struct kept_files *kept,
		   struct file *file)
{
	while (file->older != NO_FILE && !kept->files[file->older])
		file->older = table->files.items[file->older]->older;
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
	_cleanup_(kept_files_done) struct kept_files kept = {0};
	struct kept_indexes indexes = {0};

	if (!choose(table, is_used, &kept))
		return -ENOMEM;
	if (!array_reserve(&table->free_files, table->files.count) ||
	    !array_reserve(&table->free_families, table->families.count) ||
	    !make_indexes(table, &kept, &indexes)) {
		kept_indexes_done(&indexes);
		return -ENOMEM;
	}
	hash_index_done(&table->family_index);
	hash_map_done(&table->generations);
	table->family_index = indexes.families;
	table->generations = indexes.generations;
	for (uint32_t id = 0; id < table->files.count; id++) {
		if (kept.files[id])
			relink(table, &kept, table->files.items[id]);
	}
	for (uint32_t id = 0; id < table->files.count; id++) {
		if (table->files.items[id] && !kept.files[id])
			forget_file(table, id);
	}
	for (uint32_t i = 0; i < table->families.count; i++) {
		if (table->families.items[i].path && !kept.families[i])
			forget_family(table, i);
	}
	return 0;
}
