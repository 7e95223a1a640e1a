// SPDX-License-Identifier: BSD-2-Clause
/* Gives each distinct mapped file one identity. */
#include "process/file/mapped_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "process/file/file_servers.h"
#include "process/file/mapped_file_table.h"

struct family_key {
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path;
	size_t path_length;
};

struct mapped_file_table *mapped_file_table_new(const char *root)
{
	struct mapped_file_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->root = strdup(root);
	table->servers = file_servers_new(root);
	if (!table->root || !table->servers) {
		file_servers_free(table->servers);
		free(table->root);
		free(table);
		return NULL;
	}
	table->seed = hash_random_seed();
	table->most_recent = table->least_recent = NO_FILE;
	return table;
}

const char *mapped_file_table_root(const struct mapped_file_table *table)
{
	return table->root;
}

void mapped_file_table_free(struct mapped_file_table *table)
{
	if (!table)
		return;
	array_foreach(&table->files, each) {
		struct file *file = *each;

		if (file && file->fd >= 0)
			close(file->fd);
		free(file);
	}
	array_foreach(&table->families, family)
		free(family->path);
	array_free(&table->files);
	array_free(&table->families);
	array_free(&table->free_files);
	array_free(&table->free_families);
	hash_index_done(&table->family_index);
	hash_map_done(&table->generations);
	file_servers_free(table->servers);
	free(table->root);
	free(table);
}

struct file_servers *mapped_file_table_servers(struct mapped_file_table *table)
{
	return table->servers;
}

size_t mapped_file_table_count(const struct mapped_file_table *table)
{
	return table->files.count;
}

struct mapped_file *mapped_file_table_get(struct mapped_file_table *table, uint32_t id)
{
	return id < table->files.count && table->files.items[id] ? &table->files.items[id]->public
								 : NULL;
}

size_t mapped_file_table_live_count(const struct mapped_file_table *table)
{
	return table->files.count - table->free_files.count;
}

bool mapped_file_table_is_nearly_full(const struct mapped_file_table *table)
{
	return mapped_file_table_live_count(table) >= MAPPED_FILES_MAX / 4 * 3 ||
	       table->path_bytes >= MAPPED_FILES_MAX_PATH_BYTES / 4 * 3;
}

static bool has_prefix(const char *path, const char *prefix)
{
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* System V shared memory is "/SYSV" and the key in eight hex digits, always shown as deleted. */
static bool is_sysv_shm(const char *path, size_t length)
{
	return length == 13 && has_prefix(path, "/SYSV") &&
	       strspn(path + 5, "0123456789abcdefABCDEF") >= 8;
}

/* True when the kernel's name of a mapping is a file with contents readable elsewhere. Shared
 * memory has an inode of an internal file system, but only the process knows its contents. */
static bool names_a_file(const struct mapping_view *mapping, size_t length, bool deleted)
{
	static const char *const prefixes[] = {"anon_inode:", "[", "socket:", "pipe:", "/[aio]"};
	const char *path = mapping->path;

	if (!mapping->inode || !length)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(path, prefixes[i]))
			return false;
	if (has_prefix(path, "/dev/zero") && length == strlen("/dev/zero"))
		return false;
	if (deleted && (is_sysv_shm(path, length) ||
			(has_prefix(path, "/anon_hugepage") && length == strlen("/anon_hugepage"))))
		return false;
	return true;
}

static uint64_t family_hash(const struct mapped_file_table *table, const struct family_key *key)
{
	uint64_t hash = hash_bytes(key->path, key->path_length, table->seed);

	return hash_u64(hash ^ key->inode ^ ((uint64_t)key->device_major << 52) ^
			((uint64_t)key->device_minor << 32));
}

uint64_t mapped_file_family_hash(const struct mapped_file_table *table, const struct family *family)
{
	return family_hash(table,
			   &(struct family_key){family->device_major, family->device_minor,
						family->inode, family->path, family->path_length});
}

static bool family_equal(const void *context, uint32_t item, const void *key_pointer)
{
	const struct mapped_file_table *table = context;
	const struct family *family = &table->families.items[item];
	const struct family_key *key = key_pointer;

	return family->inode == key->inode && family->device_major == key->device_major &&
	       family->device_minor == key->device_minor &&
	       family->path_length == key->path_length &&
	       memcmp(family->path, key->path, key->path_length) == 0;
}

/* Index of a family, reusing a forgotten one; NULL: out of memory. */
static struct family *take_family(struct mapped_file_table *table)
{
	if (table->free_families.count)
		return &table->families
				.items[table->free_families.items[--table->free_families.count]];
	return array_add(&table->families);
}

static void give_family_back(struct mapped_file_table *table, struct family *family)
{
	uint32_t *place = array_add(&table->free_families);

	family->path = NULL;
	if (place)
		*place = (uint32_t)(family - table->families.items);
}

/* NO_FILE: out of memory. */
static uint32_t take_id(struct mapped_file_table *table)
{
	if (table->free_files.count)
		return table->free_files.items[--table->free_files.count];
	return array_add(&table->files) ? (uint32_t)table->files.count - 1 : NO_FILE;
}

static void give_id_back(struct mapped_file_table *table, uint32_t id)
{
	uint32_t *place = array_add(&table->free_files);

	table->files.items[id] = NULL;
	if (place)
		*place = id;
}

/* The family of key, added when new; NULL with *ret_err set on failure. */
static struct family *get_family(struct mapped_file_table *table, const struct family_key *key,
				 int *ret_err)
{
	uint64_t hash = family_hash(table, key);
	struct family *family;
	uint32_t item;

	item = hash_index_find(&table->family_index, hash, family_equal, table, key);
	if (item != HASH_INDEX_NONE)
		return &table->families.items[item];
	*ret_err = -ENOSPC;
	if (table->families.count - table->free_families.count >= MAPPED_FILES_MAX ||
	    table->path_bytes + key->path_length + 1 > MAPPED_FILES_MAX_PATH_BYTES)
		return NULL;
	*ret_err = -ENOMEM;
	family = take_family(table);
	if (!family)
		return NULL;
	*family = (struct family){
		.device_major = key->device_major,
		.device_minor = key->device_minor,
		.inode = key->inode,
		.path = strndup(key->path, key->path_length),
		.path_length = key->path_length,
		.newest = NO_FILE,
	};
	if (!family->path || !hash_index_add(&table->family_index, hash,
					     (uint32_t)(family - table->families.items))) {
		free(family->path);
		give_family_back(table, family);
		return NULL;
	}
	table->path_bytes += key->path_length + 1;
	return family;
}

static uint64_t generation_key(const struct mapped_file_table *table, const struct family *family,
			       uint32_t generation)
{
	return (uint64_t)(family - table->families.items) << 32 | generation;
}

static struct file *add_file(struct mapped_file_table *table, struct family *family,
			     uint32_t generation, enum mapped_file_type type)
{
	_cleanup_free_ struct file *file = calloc(1, sizeof(*file));
	uint32_t id = file ? take_id(table) : NO_FILE;

	if (id == NO_FILE)
		return NULL;
	file->family = (uint32_t)(family - table->families.items);
	file->public = (struct mapped_file){
		.id = id,
		.type = type,
		.device_major = family->device_major,
		.device_minor = family->device_minor,
		.inode_generation = generation,
		.inode = type == MAPPED_FILE_VDSO ? 0 : family->inode,
		.path = family->path,
	};
	file->fd = -1;
	file->older = NO_FILE;
	if (generation &&
	    !hash_map_put(&table->generations, generation_key(table, family, generation), id)) {
		give_id_back(table, id);
		return NULL;
	}
	family->newest = id;
	table->files.items[id] = file;
	return take_pointer(file);
}

/* The file of this generation in the family; 0 matches any. */
static struct file *find_generation(struct mapped_file_table *table, struct family *family,
				    uint32_t generation)
{
	struct file *newest = family->newest == NO_FILE ? NULL : table->files.items[family->newest];
	uint64_t *id;

	if (!newest || generation == 0 || newest->public.inode_generation == generation)
		return newest;
	if (newest->public.inode_generation == 0) {
		/* Its inode lives as long as it is mapped or open here. Once closed, the number may
		 * be that of another file: rather the same file twice than two files as one. */
		if (newest->contents_known && newest->fd < 0)
			return NULL;
		if (!hash_map_put(&table->generations, generation_key(table, family, generation),
				  newest->public.id))
			return NULL;
		newest->public.inode_generation = generation;
		return newest;
	}
	id = hash_map_find(&table->generations, generation_key(table, family, generation));
	return id ? table->files.items[*id] : NULL;
}

static void note_witness(struct file *file, const struct mapping_view *mapping)
{
	struct witness witness = {mapping->pid, mapping->start, mapping->end};
	bool repeated = file->public.witness_pid == mapping->pid &&
			file->public.witness_start == mapping->start &&
			file->public.witness_end == mapping->end;

	file->failed = 0;
	if (!file->first_ns || mapping->time_ns < file->first_ns)
		file->first_ns = mapping->time_ns;
	if (repeated && file->witness_count)
		return;
	file->public.witness_pid = mapping->pid;
	file->public.witness_start = mapping->start;
	file->public.witness_end = mapping->end;
	/* The first witness stays: its process often outlives later ones. */
	if (file->witness_count == 0) {
		file->witnesses[0] = witness;
		file->witness_count = file->witness_next = 1;
		return;
	}
	file->witnesses[file->witness_next] = witness;
	if (file->witness_count <= file->witness_next)
		file->witness_count = file->witness_next + 1;
	file->witness_next = file->witness_next + 1 < MAX_WITNESSES ? file->witness_next + 1 : 1;
}

/* The contents when the file was mapped: the latest edition, or an earlier one for a late
 * record. */
static struct file *find_edition(struct mapped_file_table *table, struct file *file,
				 const struct mapping_view *mapping)
{
	uint64_t time_ns = mapping->time_ns;

	while (time_ns < file->begin_ns && file->older != NO_FILE)
		file = table->files.items[file->older];
	/* Usually the last check was after this mapping was made: most records reach several
	 * consumers. */
	if (time_ns > file->current_ns)
		mapped_file_is_current(file);
	return file;
}

static void replace_edition(struct mapped_file_table *table, struct file *older, struct file *newer)
{
	newer->older = older->public.id;
	newer->begin_ns = older->overwritten_ns;
	mapped_file_pass_on(table, older, newer);
}

int mapped_file_table_add(struct mapped_file_table *table, const struct mapping_view *mapping,
			  struct mapped_file **ret_file)
{
	size_t length = strnlen(mapping->path, PATH_MAX - 1);
	enum mapped_file_type type = MAPPED_FILE_REGULAR;
	uint32_t generation = mapping->inode_generation;
	size_t suffix = strlen(MAPPED_FILE_DELETED);
	struct family_key key;
	struct family *family;
	bool deleted = false;
	struct file *file, *older = NULL;
	int err = 0;

	if (length > suffix &&
	    memcmp(mapping->path + length - suffix, MAPPED_FILE_DELETED, suffix) == 0) {
		deleted = true;
		length -= suffix;
	}
	key = (struct family_key){mapping->device_major, mapping->device_minor, mapping->inode,
				  mapping->path, length};
	if (!mapping->inode && strcmp(mapping->path, "[vdso]") == 0) {
		/* There is one image per size and word size; that of a 32-bit process is below 4
		 * GiB. */
		type = MAPPED_FILE_VDSO;
		key.inode = (mapping->end - mapping->start) | (mapping->end <= UINT32_MAX);
		key.device_major = key.device_minor = generation = 0;
	} else if (!names_a_file(mapping, length, deleted)) {
		*ret_file = NULL;
		return 0;
	}
	family = get_family(table, &key, &err);
	if (!family)
		return err;
	file = find_generation(table, family, generation);
	if (file)
		file = older = find_edition(table, file, mapping);
	if (!file || (file->overwritten_ns && mapping->time_ns >= file->overwritten_ns)) {
		if (mapped_file_table_live_count(table) >= MAPPED_FILES_MAX)
			return -ENOSPC;
		file = add_file(table, family, older ? older->public.inode_generation : generation,
				type);
		if (!file)
			return -ENOMEM;
		if (older)
			replace_edition(table, older, file);
	}
	if (deleted)
		file->public.deleted = true;
	note_witness(file, mapping);
	*ret_file = &file->public;
	return 0;
}
