// SPDX-License-Identifier: BSD-2-Clause
/* Detects files overwritten in place: `cp`, `scp` and `rsync --inplace` keep device, inode and
 * generation, but later mappings are of another program. */
#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/file/file_time.h"
#include "process/file/mapped_file_table.h"

/* Bytes read at each end of a file: build id, section headers and names, which hardly any two
 * builds share; all of a small program. */
#define PIECE_BYTES 16384

static uint64_t time_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static uint64_t add_piece(int fd, uint64_t offset, uint64_t fingerprint, char piece[PIECE_BYTES])
{
	ssize_t got = pread(fd, piece, PIECE_BYTES, (off_t)offset);

	return hash_bytes(piece, got > 0 ? (size_t)got : 0, fingerprint);
}

/* Changed time stamps do not show whether a file was rewritten, or only touched, renamed, linked
 * or deleted; its contents do. false: not a program; it may be written while mapped, as
 * run-times do. */
static bool read_contents(int fd, const struct stat *status, struct file_contents *ret_contents)
{
	uint64_t size = (uint64_t)status->st_size;
	char piece[PIECE_BYTES] = {0};

	*ret_contents = (struct file_contents){
		.size = size,
		.modified_ns = time_of(status->st_mtim),
		.changed_ns = time_of(status->st_ctim),
		.fingerprint = add_piece(fd, 0, size, piece),
	};
	if (size && memcmp(piece, ELFMAG, SELFMAG) != 0)
		return false;
	if (size > PIECE_BYTES)
		ret_contents->fingerprint =
			add_piece(fd, size - PIECE_BYTES, ret_contents->fingerprint, piece);
	return true;
}

/* Time of the overwriting by the clock of records, if after since_ns; else 0, also in doubt.
 * Anybody may set file times: the first plausible one counts. */
static uint64_t when_written(const struct stat *status, uint64_t since_ns, bool or_changed)
{
	uint64_t now_ns = clock_now_ns(), modified_ns = file_time_ns(&status->st_mtim),
		 changed_ns = file_time_ns(&status->st_ctim);

	if (modified_ns > since_ns && modified_ns <= now_ns)
		return modified_ns;
	return or_changed && changed_ns > since_ns && changed_ns <= now_ns ? changed_ns : 0;
}

/* Returns 0 when the current contents are those that were mapped. */
static uint64_t look_first(struct file *file, const struct stat *status)
{
	file->contents_known = true;
	file->watched = read_contents(file->fd, status, &file->contents);
	/* Written between the mapping and now: the mapped contents are unknown. */
	return file->watched && file->first_ns ? when_written(status, file->first_ns, false) : 0;
}

static uint64_t look_again(struct file *file, const struct stat *status)
{
	struct file_contents *known = &file->contents, contents;
	uint64_t written_ns;

	if ((uint64_t)status->st_size == known->size &&
	    time_of(status->st_mtim) == known->modified_ns &&
	    time_of(status->st_ctim) == known->changed_ns)
		return 0;
	read_contents(file->fd, status, &contents);
	if (contents.fingerprint == known->fingerprint) {
		*known = contents;
		return 0;
	}
	written_ns = when_written(status, file->current_ns, true);
	return written_ns ? written_ns : file->current_ns + 1;
}

bool mapped_file_is_current(struct file *file)
{
	struct stat status;
	uint64_t now_ns;

	if (file->overwritten_ns)
		return false;
	if (file->fd < 0 || (file->contents_known && !file->watched))
		return true;
	file_time_note();
	now_ns = clock_now_ns();
	if (fstat(file->fd, &status) < 0)
		return true;
	file->overwritten_ns =
		file->contents_known ? look_again(file, &status) : look_first(file, &status);
	if (file->overwritten_ns)
		return false;
	file->current_ns = now_ns;
	return true;
}
