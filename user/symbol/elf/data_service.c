// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/data_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "symbol/elf/data_symbols.h"

/* A program has its locks in few files. */
#define FILES_KEPT 16

struct kept_file {
	bool is_used;
	struct stat status;
	uint64_t asked; /* when it was last, in questions */
	struct data_symbols symbols;
};

/* A reader has one thread, and this is all its life. */
static struct kept_file kept[FILES_KEPT];
static uint64_t questions;

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int find_file(int fd, struct kept_file **ret_file)
{
	struct kept_file *oldest = &kept[0];
	struct stat status;
	int err;

	if (fstat(fd, &status) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (kept[i].is_used && is_same(&kept[i].status, &status)) {
			*ret_file = &kept[i];
			return 0;
		}
		if (!kept[i].is_used || (oldest->is_used && kept[i].asked < oldest->asked))
			oldest = &kept[i];
	}
	if (oldest->is_used)
		data_symbols_done(&oldest->symbols);
	oldest->is_used = false;
	err = data_symbols_read(&oldest->symbols, fd);
	if (err)
		return err;
	oldest->is_used = true;
	oldest->status = status;
	*ret_file = oldest;
	return 0;
}

int data_service_answer(const struct reader_request *request, struct reader_reply *reply)
{
	struct kept_file *file = NULL;
	struct data_place place;
	char *text;
	int err;

	if (request->size != sizeof(place))
		return -EINVAL;
	memcpy(&place, request->bytes, sizeof(place));
	err = find_file(request->fd, &file);
	if (err)
		return err;
	file->asked = ++questions;
	text = malloc(DATA_NAME_SIZE);
	if (!text)
		return -ENOMEM;
	err = data_symbols_name(&file->symbols, request->fd, &place, text, DATA_NAME_SIZE);
	if (err) {
		free(text);
		return err;
	}
	reply->pieces[0] = (struct iovec){text, strlen(text) + 1};
	reply->count = 1;
	reply->release = free;
	reply->context = text;
	return 0;
}
