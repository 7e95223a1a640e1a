// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/elf_proxy.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "reader/readers.h"
#include "symbol/elf/elf.h"
#include "symbol/elf/elf_notes.h"
#include "symbol/elf/names_packet.h"

/* CPU time for one question: what the budget of DWARF leaves a file, and reading its symbols. */
#define LEAST_NS	 (15 * NS_PER_SECOND)
#define BYTES_PER_SECOND (32U << 20)

struct proxied {
	uint32_t edition;
	bool is_lost, has_unresolved;
	enum symbol_result lost_as;  /* why it has no names */
	const char *name, *build_id; /* in the pool; build_id NULL: none, or not known */
	char *missing;		     /* NULL: nothing */
};

/* Answers to what is asked next. */
struct known {
	struct frame_location location;
	struct symbol symbol;
	size_t first_line;
};

struct elf_proxy {
	struct symbolizer symbolizer;
	const struct symbolizer_options *options;
	struct mapped_file_table *files;
	struct string_pool *strings;
	struct symbolizer *here;	    /* for what no reader reads */
	ARRAY_OF(struct proxied *) proxied; /* by mapped_file id */
	uint32_t edition;
	ARRAY_OF(struct known) known;
	ARRAY_OF(struct symbol_line) lines;
	struct hash_index index;
	struct mapped_file *asked; /* the file of the question that is under way */
};

/* ---- further files ---- */

static struct debug_file_search search_of(const struct elf_proxy *proxy,
					  const struct mapped_file *mapped)
{
	return (struct debug_file_search){
		.servers = mapped_file_table_servers(proxy->files),
		.root = proxy->options->root ? proxy->options->root : "",
		.debug_dir = proxy->options->debug_dir ? proxy->options->debug_dir : "",
		.pid = mapped->witness_pid,
		.path = mapped->path,
	};
}

static bool is_below(const char *path, const char *folder, size_t length)
{
	return length && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* In our own root, where debug files are looked for: in their folder, and beside the program. */
static bool is_known_place(const struct debug_file_search *search, const char *path)
{
	const char *slash = strrchr(search->path, '/');

	return is_below(path, search->debug_dir, strlen(search->debug_dir)) ||
	       (slash && is_below(path, search->path, (size_t)(slash - search->path)));
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* The reader may have been taken over, and wants to see a file of others: no file but programs,
 * libraries and debug files. */
static int open_further(void *context, const void *bytes, size_t size)
{
	struct elf_proxy *proxy = context;
	struct debug_file_search search = search_of(proxy, proxy->asked);
	const char *path = (const char *)bytes + sizeof(struct names_want);
	_cleanup_close_ int fd = -1;
	struct names_want want;

	if (size <= sizeof(want) + 1 || size > sizeof(want) + PATH_MAX || path[0] != '/' ||
	    strnlen(path, size - sizeof(want)) != size - sizeof(want) - 1 || strstr(path, "/../"))
		return -EINVAL;
	memcpy(&want, bytes, sizeof(want));
	if (want.root > DEBUG_FILE_OF_PROCESS_OR_OURS ||
	    (want.root == DEBUG_FILE_OURS && !is_known_place(&search, path)))
		return -EACCES;
	fd = debug_file_open_in(&search, (enum debug_file_root)want.root, path);
	if (fd < 0)
		return fd;
	return is_elf(fd) ? take_fd(fd) : -ENOEXEC;
}

/* ---- files ---- */

static struct proxied *get_proxied(struct elf_proxy *proxy, uint32_t id,
				   const struct mapped_file *mapped)
{
	const char *slash = strrchr(mapped->path, '/');
	struct proxied *file;

	while (proxy->proxied.count <= id)
		if (!array_add(&proxy->proxied))
			return NULL;
	file = proxy->proxied.items[id];
	if (file)
		return file;
	file = proxy->proxied.items[id] = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->edition = proxy->edition;
	file->name = string_pool_get(
		proxy->strings, string_pool_add(proxy->strings, slash ? slash + 1 : mapped->path));
	return file;
}

static void free_proxied(struct proxied *file)
{
	if (!file)
		return;
	free(file->missing);
	free(file);
}

/* ---- questions ---- */

static uint64_t hash_of(const struct frame_location *location)
{
	return hash_u64(location->address) ^
	       hash_u64((uint64_t)location->object << 1 | location->is_return_address);
}

static bool same_location(const void *context, uint32_t item, const void *key)
{
	const struct frame_location
		*a = &((const struct elf_proxy *)context)->known.items[item].location,
		*b = key;

	return a->address == b->address && a->object == b->object &&
	       a->is_return_address == b->is_return_address;
}

static const struct known *find_known(const struct elf_proxy *proxy,
				      const struct frame_location *location)
{
	uint32_t item =
		hash_index_find(&proxy->index, hash_of(location), same_location, proxy, location);

	return item == HASH_INDEX_NONE ? NULL : &proxy->known.items[item];
}

static void drop_known(struct elf_proxy *proxy)
{
	proxy->known.count = 0;
	proxy->lines.count = 0;
	hash_index_done(&proxy->index);
}

static bool keep(struct elf_proxy *proxy, const struct frame_location *location,
		 const struct symbol *symbol)
{
	size_t first = proxy->lines.count;
	struct known *known;

	if (!array_reserve(&proxy->lines, first + symbol->line_count))
		return false;
	known = array_add(&proxy->known);
	if (!known)
		return false;
	*known = (struct known){*location, *symbol, first};
	for (size_t i = 0; i < symbol->line_count; i++)
		proxy->lines.items[proxy->lines.count++] = symbol->lines[i];
	return hash_index_add(&proxy->index, hash_of(location), (uint32_t)(proxy->known.count - 1));
}

static void take_notes(struct elf_proxy *proxy, struct proxied *file,
		       const struct names_answer *answer)
{
	if (answer->build_id[0] && !file->build_id)
		file->build_id = string_pool_get(proxy->strings,
						 string_pool_add(proxy->strings, answer->build_id));
	if (answer->missing[0]) {
		free(file->missing);
		file->missing = strdup(answer->missing);
	}
}

static int take_answer(struct elf_proxy *proxy, struct proxied *file,
		       const struct frame_location *locations, size_t count,
		       const struct reader_answer *bytes)
{
	struct names_answer answer;
	int err = names_answer_read(bytes->bytes, bytes->size, count, proxy->strings, &answer);

	if (!err)
		take_notes(proxy, file, &answer);
	for (size_t i = 0; i < count && !err; i++) {
		struct symbol *symbol = &answer.symbols.items[i];

		symbol->module = file->name;
		symbol->build_id = file->build_id;
		file->has_unresolved |= symbol->result == SYMBOL_STRIPPED;
		if (!keep(proxy, &locations[i], symbol))
			err = -ENOMEM;
	}
	names_answer_done(&answer);
	return err;
}

static size_t put_text(unsigned char *bytes, size_t at, const char *text, uint32_t size)
{
	memcpy(bytes + at, text, size);
	return at + size;
}

/* Returns its size. */
static size_t write_question(const struct elf_proxy *proxy, const struct proxied *file,
			     const struct frame_location *locations, size_t count,
			     unsigned char bytes[READER_MAX_REQUEST_BYTES])
{
	const char *folder = proxy->options->debug_dir ? proxy->options->debug_dir : "";
	struct names_question head = {
		.file = locations[0].object,
		.edition = file->edition,
		.flags = (proxy->options->inlines ? NAMES_INLINES : 0) |
			 (proxy->options->lines ? NAMES_LINES : 0) |
			 (proxy->options->debug_dir ? NAMES_DEBUG_FILES : 0),
		.count = (uint32_t)count,
		.path_size = (uint32_t)strlen(proxy->asked->path) + 1,
		.folder_size = (uint32_t)strlen(folder) + 1,
	};
	size_t at = sizeof(head);

	if (at + head.path_size + head.folder_size + count * sizeof(uint64_t) >
	    READER_MAX_REQUEST_BYTES)
		return 0;
	memcpy(bytes, &head, sizeof(head));
	at = put_text(bytes, at, proxy->asked->path, head.path_size);
	at = put_text(bytes, at, folder, head.folder_size);
	for (size_t i = 0; i < count; i++) {
		uint64_t address = locations[i].address |
				   (locations[i].is_return_address ? NAMES_IS_RETURN : 0);

		memcpy(bytes + at, &address, sizeof(address));
		at += sizeof(address);
	}
	return at;
}

static uint64_t cpu_limit_ns(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return LEAST_NS;
	return LEAST_NS + (uint64_t)status.st_size / BYTES_PER_SECOND * NS_PER_SECOND;
}

/* Locations of one file. */
static void ask(struct elf_proxy *proxy, struct proxied *file,
		const struct frame_location *locations, size_t count)
{
	unsigned char bytes[READER_MAX_REQUEST_BYTES];
	struct reader_question question = {
		.lane = READER_NAMES,
		.service = READER_NAMES_ADDRESSES,
		.bytes = bytes,
		.open = open_further,
		.context = proxy,
	};
	struct reader_answer answer;
	int err;

	proxy->asked = mapped_file_table_get(proxy->files, locations[0].object);
	question.fd = mapped_file_open(proxy->files, proxy->asked);
	/* What cannot be opened now may be, the next time. */
	if (question.fd < 0) {
		file->lost_as = symbol_result_of_error(question.fd);
		return;
	}
	question.name = proxy->asked->path;
	question.cpu_limit_ns = cpu_limit_ns(question.fd);
	question.size = write_question(proxy, file, locations, count, bytes);
	err = question.size ? readers_ask(proxy->options->readers, &question, &answer)
			    : -ENAMETOOLONG;
	if (!err) {
		err = take_answer(proxy, file, locations, count, &answer);
		reader_answer_done(&answer);
		if (err == -EBADMSG)
			readers_reject(proxy->options->readers, &question);
	}
	if (err) {
		file->lost_as = err == -ENOMEM ? SYMBOL_NO_MEMORY : SYMBOL_READ_ERROR;
		file->is_lost = err != -ENOMEM;
	}
}

/* ---- the symbolizer ---- */

/* NULL: the location is named elsewhere, or not at all. */
static struct proxied *file_to_ask(struct elf_proxy *proxy, const struct frame_location *location)
{
	const struct mapped_file *mapped =
		location->space == FRAME_FILE
			? mapped_file_table_get(proxy->files, location->object)
			: NULL;

	if (!mapped || mapped->type != MAPPED_FILE_REGULAR || location->address & NAMES_IS_RETURN)
		return NULL;
	return get_proxied(proxy, location->object, mapped);
}

static void proxy_prepare(struct symbolizer *symbolizer, const struct frame_location *locations,
			  size_t count)
{
	struct elf_proxy *proxy = (struct elf_proxy *)symbolizer;

	drop_known(proxy);
	for (size_t begin = 0, end; begin < count; begin = end) {
		struct proxied *file = file_to_ask(proxy, &locations[begin]);

		end = begin + 1;
		if (!file || file->is_lost)
			continue;
		while (end < count && end - begin < NAMES_MAX_ADDRESSES &&
		       locations[end].space == FRAME_FILE &&
		       locations[end].object == locations[begin].object &&
		       !(locations[end].address & NAMES_IS_RETURN))
			end++;
		ask(proxy, file, locations + begin, end - begin);
	}
}

static bool proxy_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			  struct symbol *ret_symbol)
{
	struct elf_proxy *proxy = (struct elf_proxy *)symbolizer;
	struct proxied *file = file_to_ask(proxy, location);
	const struct known *known;

	if (!file)
		return proxy->here->ops->resolve(proxy->here, location, ret_symbol);
	known = find_known(proxy, location);
	if (!known && !file->is_lost) {
		drop_known(proxy);
		ask(proxy, file, location, 1);
		known = find_known(proxy, location);
	}
	if (known) {
		*ret_symbol = known->symbol;
		ret_symbol->lines =
			known->symbol.line_count ? &proxy->lines.items[known->first_line] : NULL;
		return true;
	}
	*ret_symbol = (struct symbol){
		.result = file->lost_as ? file->lost_as : SYMBOL_READ_ERROR,
		.module = file->name,
		.build_id = file->build_id,
		.module_address = location->address,
	};
	return true;
}

/* false: they are forgotten when the id is used again. */
static void tell_forgotten(struct elf_proxy *proxy, const uint32_t *ids, size_t count)
{
	struct reader_question question = {
		.lane = READER_NAMES,
		.service = READER_FORGETS_FILES,
		.fd = -1,
		.bytes = ids,
		.size = count * sizeof(*ids),
		.cpu_limit_ns = LEAST_NS,
	};
	struct reader_answer answer;

	if (count && !readers_ask(proxy->options->readers, &question, &answer))
		reader_answer_done(&answer);
}

static void proxy_forget_files(struct symbolizer *symbolizer, const bool *is_used, size_t count)
{
	struct elf_proxy *proxy = (struct elf_proxy *)symbolizer;
	uint32_t ids[READER_MAX_REQUEST_BYTES / sizeof(uint32_t)];
	size_t forgotten = 0;

	drop_known(proxy);
	proxy->edition++;
	for (size_t id = 0; id < proxy->proxied.count && id < count; id++) {
		if (!proxy->proxied.items[id] || is_used[id])
			continue;
		free_proxied(proxy->proxied.items[id]);
		proxy->proxied.items[id] = NULL;
		ids[forgotten++] = (uint32_t)id;
		if (forgotten == ARRAY_SIZE(ids)) {
			tell_forgotten(proxy, ids, forgotten);
			forgotten = 0;
		}
	}
	tell_forgotten(proxy, ids, forgotten);
	symbolizer_forget_files(proxy->here, is_used, count);
}

static void proxy_tell(struct symbolizer *symbolizer, struct symbol_notes *notes)
{
	struct elf_proxy *proxy = (struct elf_proxy *)symbolizer;

	for (size_t id = 0; id < proxy->proxied.count; id++) {
		const struct mapped_file *mapped =
			mapped_file_table_get(proxy->files, (uint32_t)id);
		const struct proxied *file = proxy->proxied.items[id];
		struct debug_file_search search;

		if (!file || !mapped)
			continue;
		elf_notes_missing(notes, mapped->path, file->missing);
		search = search_of(proxy, mapped);
		if (file->has_unresolved)
			elf_notes_unresolved(notes, file->name, &search, false);
	}
	symbolizer_tell(proxy->here, notes);
}

static void proxy_free(struct symbolizer *symbolizer)
{
	struct elf_proxy *proxy = (struct elf_proxy *)symbolizer;

	if (!proxy)
		return;
	symbolizer_free(proxy->here);
	array_foreach(&proxy->proxied, each)
		free_proxied(*each);
	array_free(&proxy->proxied);
	drop_known(proxy);
	array_free(&proxy->known);
	array_free(&proxy->lines);
	free(proxy);
}

static const struct symbolizer_ops proxy_ops = {
	.name = "elf proxy",
	.resolve = proxy_resolve,
	.prepare = proxy_prepare,
	.forget_files = proxy_forget_files,
	.tell = proxy_tell,
	.free = proxy_free,
};

struct symbolizer *elf_proxy_new(const struct symbolizer_options *options,
				 struct mapped_file_table *files, struct string_pool *strings)
{
	struct elf_proxy *proxy = calloc(1, sizeof(*proxy));
	const struct elf_files here = elf_files_of(files);

	if (!proxy)
		return NULL;
	proxy->symbolizer.ops = &proxy_ops;
	proxy->options = options;
	proxy->files = files;
	proxy->strings = strings;
	/* The readers may know files of an earlier proxy. */
	proxy->edition = (uint32_t)clock_now_ns();
	proxy->here = elf_symbolizer_new(options, &here, strings);
	if (!proxy->here) {
		free(proxy);
		return NULL;
	}
	return &proxy->symbolizer;
}
