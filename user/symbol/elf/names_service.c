// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/names_service.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/elf/elf.h"
#include "symbol/elf/names_packet.h"

/* Open at a time, without debug files. */
#define MAX_OPEN 512

struct named_file {
	bool used;
	uint32_t edition;
	int fd; /* -1: it was closed, and comes again with the next question */
	char *path;
	uint64_t asked; /* when it was last, in questions */
};

/* A reader has one thread, and this is all its life. */
static struct service {
	struct symbolizer_options options;
	struct string_pool *strings;
	struct symbolizer *elf;
	ARRAY_OF(struct named_file) files; /* by id */
	size_t open_count;
	uint64_t questions;
	char folder[PATH_MAX];
	const struct reader_request *request; /* that is being answered */
} service;

/* About 30 MB. */
static size_t strings_max = 1U << 18;

void names_service_limit_strings(size_t count)
{
	strings_max = count;
}

static struct named_file *file_of(uint32_t id)
{
	return id < service.files.count && service.files.items[id].used ? &service.files.items[id]
									: NULL;
}

static bool find(void *context, uint32_t id, struct elf_place *ret_place)
{
	const struct named_file *file = file_of(id);

	(void)context;
	/* Whose process it is, the program knows, which opens further files. */
	if (file)
		*ret_place = (struct elf_place){file->path, 1, false};
	return file;
}

static int open_file(void *context, uint32_t id)
{
	const struct named_file *file = file_of(id);

	(void)context;
	return file && file->fd >= 0 ? file->fd : -ENOENT;
}

static int read_vdso(void *context, uint32_t id, void **ret_image, size_t *ret_size)
{
	(void)context;
	(void)id;
	(void)ret_image;
	(void)ret_size;
	return -ENOENT;
}

static int open_debug(void *context, enum debug_file_root root, const char *path)
{
	struct {
		struct names_want head;
		char path[PATH_MAX];
	} want = {.head.root = root};
	size_t size = strlen(path) + 1;

	(void)context;
	if (size > sizeof(want.path))
		return -ENAMETOOLONG;
	memcpy(want.path, path, size);
	return reader_request_file(service.request, &want, sizeof(want.head) + size);
}

static bool begin(void)
{
	static const struct elf_files files = {
		.find = find, .open = open_file, .read_vdso = read_vdso, .open_debug = open_debug};

	if (service.elf)
		return true;
	service.options.root = "";
	if (!service.strings)
		service.strings = string_pool_new();
	if (service.strings)
		service.elf = elf_symbolizer_new(&service.options, &files, service.strings);
	return service.elf;
}

/* ---- files ---- */

static void close_file(struct named_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	service.open_count--;
}

static void close_oldest(void)
{
	struct named_file *oldest = NULL;

	array_foreach(&service.files, file)
		if (file->used && file->fd >= 0 && (!oldest || file->asked < oldest->asked))
			oldest = file;
	if (oldest)
		close_file(oldest);
}

/* Strings of files that were forgotten are among those of others. The files that are still there
 * are read again at the next question about them. */
static void renew(void)
{
	if (service.elf)
		symbolizer_free(service.elf);
	if (service.strings)
		string_pool_free(service.strings);
	service.elf = NULL;
	service.strings = NULL;
}

size_t names_service_strings(void)
{
	return service.strings ? string_pool_count(service.strings) : 0;
}

static void forget(const uint32_t *ids, size_t count)
{
	bool *is_used = malloc(service.files.count + 1);

	if (!is_used)
		return;
	memset(is_used, true, service.files.count + 1);
	for (size_t i = 0; i < count; i++) {
		struct named_file *file = file_of(ids[i]);

		if (!file)
			continue;
		is_used[ids[i]] = false;
		close_file(file);
		free(file->path);
		*file = (struct named_file){.fd = -1};
	}
	if (service.elf)
		symbolizer_forget_files(service.elf, is_used, service.files.count);
	free(is_used);
	if (names_service_strings() > strings_max)
		renew();
}

static int take_file(const struct names_question *question, const char *path, int fd)
{
	struct named_file *file = file_of(question->file);

	if (question->file >= MAPPED_FILES_MAX)
		return -EINVAL;
	if (file && file->edition != question->edition)
		forget(&question->file, 1);
	while (service.files.count <= question->file) {
		struct named_file *added = array_add(&service.files);

		if (!added)
			return -ENOMEM;
		added->fd = -1;
	}
	file = &service.files.items[question->file];
	if (!file->used) {
		file->path = strdup(path);
		if (!file->path)
			return -ENOMEM;
		file->used = true;
		file->edition = question->edition;
	}
	file->asked = ++service.questions;
	if (file->fd >= 0 || fd < 0)
		return 0;
	if (service.open_count >= MAX_OPEN)
		close_oldest();
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	service.open_count += file->fd >= 0;
	return file->fd < 0 ? -errno : 0;
}

/* ---- questions ---- */

struct parts {
	struct names_question head;
	const char *path, *folder;
	const unsigned char *addresses; /* not aligned */
};

static bool is_text(const char *text, size_t size)
{
	return size && size <= PATH_MAX && text[size - 1] == '\0';
}

static bool find_parts(const struct reader_request *request, struct parts *parts)
{
	const char *bytes = request->bytes;
	struct names_question *head = &parts->head;
	uint64_t size = sizeof(*head);

	if (request->size < size)
		return false;
	memcpy(head, bytes, sizeof(*head));
	parts->path = bytes + size;
	size += head->path_size;
	parts->folder = bytes + size;
	size += head->folder_size;
	parts->addresses = (const unsigned char *)bytes + size;
	size += (uint64_t)head->count * sizeof(uint64_t);
	return size == request->size && head->count <= NAMES_MAX_ADDRESSES &&
	       is_text(parts->path, head->path_size) && is_text(parts->folder, head->folder_size);
}

static int name_all(const struct parts *parts, names_bytes *bytes)
{
	names_bytes symbols = {0};
	const char *build_id = NULL;
	bool fits = true;

	for (uint32_t i = 0; i < parts->head.count && fits; i++) {
		struct frame_location location = {.space = FRAME_FILE, .object = parts->head.file};
		struct symbol symbol;
		uint64_t address;

		memcpy(&address, parts->addresses + i * sizeof(address), sizeof(address));
		location.address = address & ~NAMES_IS_RETURN;
		location.is_return_address = address & NAMES_IS_RETURN;
		symbolizer_resolve(service.elf, &location, &symbol);
		build_id = symbol.build_id ? symbol.build_id : build_id;
		fits = names_answer_add(&symbols, &symbol);
	}
	fits = fits && names_answer_begin(bytes, build_id,
					  elf_symbolizer_missing(service.elf, parts->head.file));
	if (fits)
		fits = array_reserve(bytes, bytes->count + symbols.count);
	if (fits && symbols.count) {
		memcpy(bytes->items + bytes->count, symbols.items, symbols.count);
		bytes->count += symbols.count;
	}
	array_free(&symbols);
	return fits ? 0 : -ENOMEM;
}

int names_service_answer(const struct reader_request *request, struct reader_reply *reply)
{
	names_bytes bytes = {0};
	struct parts parts;
	int err;

	if (!find_parts(request, &parts))
		return -EINVAL;
	if (!begin())
		return -ENOMEM;
	memcpy(service.folder, parts.folder, parts.head.folder_size);
	service.options.debug_dir = parts.head.flags & NAMES_DEBUG_FILES ? service.folder : NULL;
	service.options.inlines = parts.head.flags & NAMES_INLINES;
	service.options.lines = parts.head.flags & NAMES_LINES;
	service.request = request;
	err = take_file(&parts.head, parts.path, request->fd);
	if (!err)
		err = name_all(&parts, &bytes);
	if (err) {
		array_free(&bytes);
		return err;
	}
	reply->pieces[0] = (struct iovec){bytes.items, bytes.count};
	reply->count = 1;
	reply->release = free;
	reply->context = bytes.items;
	return 0;
}

int names_service_forget(const struct reader_request *request, struct reader_reply *reply)
{
	uint32_t ids[READER_MAX_REQUEST_BYTES / sizeof(uint32_t)];

	if (request->size > sizeof(ids))
		return -EINVAL;
	memcpy(ids, request->bytes, request->size);
	forget(ids, request->size / sizeof(*ids));
	reply->count = 0;
	return 0;
}
