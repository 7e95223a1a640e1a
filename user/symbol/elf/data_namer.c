// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/data_namer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "base/string_pool.h"
#include "reader/readers.h"
#include "symbol/elf/data_symbols.h"

struct data_namer {
	struct mapped_file_table *files;
	struct readers *readers;
	struct string_pool *names;
	struct hash_map known; /* hash of process and address -> number of the name */
};

struct data_namer *data_namer_new(struct mapped_file_table *files, struct readers *readers)
{
	struct data_namer *namer = calloc(1, sizeof(*namer));

	if (!namer)
		return NULL;
	namer->files = files;
	namer->readers = readers;
	namer->names = string_pool_new();
	if (namer->names)
		return namer;
	free(namer);
	return NULL;
}

void data_namer_free(struct data_namer *namer)
{
	if (!namer)
		return;
	string_pool_free(namer->names);
	hash_map_done(&namer->known);
	free(namer);
}

/* The linker puts data behind the code of the same file. */
static const struct mapping *code_before(const struct mapping_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && !mapping_has_file(&list->items[low - 1]))
		low--;
	return low ? &list->items[low - 1] : NULL;
}

static int read_here(int fd, const struct data_place *place, char *text, size_t size)
{
	struct data_symbols symbols;
	int err = data_symbols_read(&symbols, fd);

	if (err)
		return err;
	err = data_symbols_name(&symbols, fd, place, text, size);
	data_symbols_done(&symbols);
	return err;
}

static int ask(struct data_namer *namer, const struct mapped_file *file, int fd,
	       const struct data_place *place, char *text, size_t size)
{
	const struct reader_question question = {
		.lane = READER_NAMES,
		.service = READER_NAMES_DATA,
		.fd = fd,
		.bytes = place,
		.size = sizeof(*place),
		.name = file->path,
		.cpu_limit_ns = DATA_NAMER_LIMIT_NS,
	};
	struct reader_answer answer;
	int err = readers_ask(namer->readers, &question, &answer);

	if (err)
		return err;
	if (!answer.size || answer.size > size ||
	    memchr(answer.bytes, 0, answer.size) != (const char *)answer.bytes + answer.size - 1)
		err = -EBADMSG;
	else
		memcpy(text, answer.bytes, answer.size);
	reader_answer_done(&answer);
	if (err)
		readers_reject(namer->readers, &question);
	return err;
}

static void find_name(struct data_namer *namer, const struct mapping *code, uint64_t address,
		      char *text, size_t size)
{
	struct mapped_file *file = mapped_file_table_get(namer->files, code->file);
	struct data_place place = {code->start, code->end, code->file_offset, address};
	int fd, err;

	if (!file || file->type != MAPPED_FILE_REGULAR)
		return;
	fd = mapped_file_open(namer->files, file);
	if (fd < 0)
		return;
	err = namer->readers ? ask(namer, file, fd, &place, text, size)
			     : read_here(fd, &place, text, size);
	if (err)
		text[0] = '\0';
}

const char *data_namer_name(struct data_namer *namer, uint64_t process,
			    const struct address_space *space, uint64_t address)
{
	uint64_t hash = hash_u64(address) ^ hash_u64(process + 1);
	const struct mapping *code =
		space ? code_before(address_space_mappings(space), address) : NULL;
	const uint64_t *known = namer ? hash_map_find(&namer->known, hash) : NULL;
	char text[DATA_NAME_SIZE] = "";
	uint32_t number;

	if (known)
		return string_pool_get(namer->names, (uint32_t)*known);
	if (!namer || !code)
		return "";
	if (namer->known.count >= DATA_NAMES_KEPT) {
		hash_map_done(&namer->known);
		namer->known = (struct hash_map){0};
	}
	find_name(namer, code, address, text, sizeof(text));
	number = string_pool_add(namer->names, text);
	if (number == STRING_POOL_NONE)
		return "";
	hash_map_put(&namer->known, hash, number);
	return string_pool_get(namer->names, number);
}
