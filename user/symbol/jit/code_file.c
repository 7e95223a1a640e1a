// SPDX-License-Identifier: BSD-2-Clause
/* Tells what has been added to a file from what has replaced it. */
#include "process/file/file_time.h"
#include "symbol/jit/code_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/jit/code_file_find.h"

/* Beyond it, the two oldest epochs become one, in which times are less certain. */
#define MAX_EPOCHS 1024
/* The clock of file times goes on by ticks of 10 ms at most (CONFIG_HZ=100). */
#define TICK_NS (10 * NS_PER_MS)
/* A list of all code that there is may take so long to be written. */
#define SNAPSHOT_NS (NS_PER_SECOND / 2)

void code_file_init(struct code_file *file, char *buffer)
{
	*file = (struct code_file){.reader = {.fd = -1, .buffer = buffer}, .is_new = true};
}

void code_file_close(struct code_file *file)
{
	if (file->reader.fd >= 0)
		close(file->reader.fd);
	file->reader.fd = -1;
}

void code_file_done(struct code_file *file)
{
	code_file_close(file);
	array_free(&file->epochs);
}

static void begin_anew(struct code_file *file)
{
	code_reader_begin(&file->reader, &file->begin);
	file->known = file->begin;
	file->epochs.count = 0;
	file->tail_size = 0;
	file->size = 0;
	file->modified_ns = 0;
	file->is_new = true;
}

/* Nothing was in it before it was made. */
static void note_birth(struct code_file *file)
{
	struct statx status;
	struct timespec time;
	uint64_t born_ns;

	if (statx(file->reader.fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) < 0 ||
	    !(status.stx_mask & STATX_BTIME))
		return;
	time = (struct timespec){status.stx_btime.tv_sec, status.stx_btime.tv_nsec};
	born_ns = file_time_ns(&time);
	if (born_ns > file->clean_ns && born_ns <= clock_now_ns())
		file->clean_ns = born_ns;
}

void code_file_set(struct code_file *file, int fd, const struct stat *st)
{
	bool same = file->device == st->st_dev && file->inode == st->st_ino && file->inode;

	code_file_close(file);
	file->reader.fd = fd;
	if (same)
		return;
	file->device = st->st_dev;
	file->inode = st->st_ino;
	begin_anew(file);
	note_birth(file);
}

static ssize_t read_tail(const struct code_file *file, uint64_t end,
			 char tail[CODE_FILE_TAIL_BYTES])
{
	size_t size = end < CODE_FILE_TAIL_BYTES ? (size_t)end : CODE_FILE_TAIL_BYTES;

	return pread(file->reader.fd, tail, size, (off_t)(end - size));
}

static void note_tail(struct code_file *file)
{
	ssize_t got = read_tail(file, file->known.offset, file->tail);

	file->tail_size = got > 0 ? (size_t)got : 0;
}

static bool has_same_tail(const struct code_file *file)
{
	char tail[CODE_FILE_TAIL_BYTES];
	ssize_t got = read_tail(file, file->known.offset, tail);

	return got == (ssize_t)file->tail_size && memcmp(tail, file->tail, file->tail_size) == 0;
}

static int64_t stat_modified_ns(const struct stat *st)
{
	/* Only compared; anybody may set it to anything. */
	return (int64_t)((uint64_t)st->st_mtim.tv_sec * NS_PER_SECOND +
			 (uint64_t)st->st_mtim.tv_nsec);
}

enum code_file_change code_file_look(struct code_file *file, struct stat *ret_stat)
{
	bool was_new = file->is_new, changed;

	if (fstat(file->reader.fd, ret_stat) < 0)
		return CODE_FILE_SAME;
	changed =
		ret_stat->st_size != file->size || stat_modified_ns(ret_stat) != file->modified_ns;
	if (!changed)
		return CODE_FILE_SAME;
	if (!was_new && ((uint64_t)ret_stat->st_size < file->known.offset || !has_same_tail(file)))
		begin_anew(file);
	/* Its header may have been written since. */
	if (file->is_new) {
		code_reader_begin(&file->reader, &file->begin);
		file->known = file->begin;
	}
	file->size = ret_stat->st_size;
	file->modified_ns = stat_modified_ns(ret_stat);
	if (file->is_new)
		return CODE_FILE_REWRITTEN;
	return (uint64_t)file->size > file->known.offset ? CODE_FILE_GREW : CODE_FILE_SAME;
}

static bool merge_oldest(struct code_file *file)
{
	struct code_epoch *epochs = file->epochs.items;

	if (file->epochs.count < MAX_EPOCHS)
		return array_reserve(&file->epochs, file->epochs.count + 1);
	epochs[1].lo_ns = epochs[0].lo_ns;
	epochs[1].snapshot |= epochs[0].snapshot;
	memmove(epochs, epochs + 1, --file->epochs.count * sizeof(*epochs));
	return true;
}

struct code_epoch code_file_next_epoch(const struct code_file *file, uint64_t now_ns,
				       uint64_t modified_ns)
{
	struct code_epoch epoch = {
		.lo_ns = file->clean_ns,
		.hi_ns = now_ns,
		.snapshot = file->is_new || now_ns - file->begun_ns < SNAPSHOT_NS,
	};

	/* Some file systems have times of their own. */
	if (modified_ns && modified_ns >= epoch.lo_ns && modified_ns + TICK_NS < now_ns)
		epoch.hi_ns = modified_ns + TICK_NS;
	return epoch;
}

void code_file_add_epoch(struct code_file *file, const struct code_cursor *cursor,
			 const struct code_epoch *epoch)
{
	if (merge_oldest(file)) {
		*array_add(&file->epochs) = *epoch;
	} else if (file->epochs.count) {
		file->epochs.items[file->epochs.count - 1].hi_ns = epoch->hi_ns;
	}
	if (file->epochs.count)
		file->epochs.items[file->epochs.count - 1].end = cursor->offset;
	file->known = *cursor;
	if (file->is_new)
		file->begun_ns = epoch->hi_ns;
	file->is_new = false;
	note_tail(file);
}

uint64_t code_file_last_line(const struct code_file *file, uint64_t size)
{
	uint64_t start = size > CODE_READER_BYTES ? size - CODE_READER_BYTES : 0;
	const char *newline;
	ssize_t got;

	if (start < file->known.offset)
		start = file->known.offset;
	got = pread(file->reader.fd, file->reader.buffer, (size_t)(size - start), (off_t)start);
	newline = got > 0 ? memrchr(file->reader.buffer, '\n', (size_t)got) : NULL;
	return newline ? start + (uint64_t)(newline - file->reader.buffer) + 1 : file->known.offset;
}

const struct code_epoch *code_file_epoch(const struct code_file *file, uint64_t offset)
{
	size_t low = 0, high = file->epochs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->epochs.items[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->epochs.count ? &file->epochs.items[low] : NULL;
}

static bool lies_between(uint64_t time_ns, uint64_t a_ns, uint64_t b_ns)
{
	return a_ns <= time_ns && time_ns < b_ns;
}

bool code_file_has_boundary(const struct code_file *file, uint64_t a_ns, uint64_t b_ns)
{
	uint64_t first_ns = a_ns < b_ns ? a_ns : b_ns, last_ns = a_ns < b_ns ? b_ns : a_ns;

	for (size_t i = file->epochs.count; i > 0; i--) {
		const struct code_epoch *epoch = &file->epochs.items[i - 1];

		if (lies_between(epoch->lo_ns, first_ns, last_ns) ||
		    lies_between(epoch->hi_ns, first_ns, last_ns))
			return true;
		if (epoch->hi_ns < first_ns)
			break;
	}
	return false;
}
