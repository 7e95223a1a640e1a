// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the text of files that do have call frame information as if they had none, knowing no more
 * of it than their symbols, and compares the CFAs that come out, over the libraries and programs of
 * this machine. What differs most is C++: code that only the unwinder of exceptions jumps to.
 *
 * usage: oracle_undescribed_code [--each] [FILE|FOLDER…]
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "elf_walk.h"
#include "unwind/cfi/eh_frame.h"
#include "unwind/code/function_starts.h"
#include "unwind/code/undescribed_code.h"

/* Shares of the bytes that can be compared: 96.0 and 1.3 % of Debian's libraries and programs; what
 * fills loops up to where they are aligned has no rule of its own. */
#define LEAST_SAME_PERCENT     94.0
#define MOST_DIFFERENT_PERCENT 2.5
/* One file in so many, for time. */
#define STRIDE 8

struct rows {
	struct {
		uint32_t offset;
		struct pkbpf_unwind_rule rule;
	} * items;
	size_t count, capacity;
};

struct totals {
	uint64_t files, same, unknown, different;
};

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct rows *rows = context;

	if (rows->count == rows->capacity) {
		rows->capacity = rows->capacity * 2 + 64;
		rows->items = realloc(rows->items, rows->capacity * sizeof(*rows->items));
		if (!rows->items)
			err(1, "rows");
	}
	rows->items[rows->count].offset = offset;
	rows->items[rows->count++].rule = *rule;
}

/* Both may name the same place by different registers; only what is said by the same one can be
 * compared. */
static bool comparable(const struct pkbpf_unwind_rule *described,
		       const struct pkbpf_unwind_rule *read)
{
	return described->cfa == read->cfa &&
	       (described->cfa == PKBPF_CFA_SP || described->cfa == PKBPF_CFA_FP);
}

static void compare_range(struct totals *totals, const struct pkbpf_unwind_rule *described,
			  const struct pkbpf_unwind_rule *read, uint32_t size)
{
	if (!read || read->cfa == PKBPF_CFA_NONE)
		totals->unknown += size;
	else if (!comparable(described, read))
		return;
	else if (described->cfa_offset == read->cfa_offset)
		totals->same += size;
	else
		totals->different += size;
}

static void compare_rows(struct totals *totals, const struct rows *described,
			 const struct rows *read, uint32_t start, uint32_t end)
{
	const struct pkbpf_unwind_rule *left = NULL, *right = NULL;
	size_t i = 0, j = 0;

	for (uint32_t at = start, next; at < end; at = next) {
		while (i < described->count && described->items[i].offset <= at)
			left = &described->items[i++].rule;
		while (j < read->count && read->items[j].offset <= at)
			right = &read->items[j++].rule;
		next = end;
		if (i < described->count && described->items[i].offset < next)
			next = described->items[i].offset;
		if (j < read->count && read->items[j].offset < next)
			next = read->items[j].offset;
		if (left && left->cfa != PKBPF_CFA_NONE)
			compare_range(totals, left, right, next - at);
	}
}

static void read_described(const struct eh_frame *frame, struct rows *rows)
{
	static const struct pkbpf_unwind_rule none;

	rows->count = 0;
	for (size_t i = 0; i < eh_frame_count(frame); i++) {
		const struct fde *fde = eh_frame_function(frame, i);

		if (eh_frame_is_signal(frame, i))
			continue;
		eh_frame_run(frame, i, take_row, rows);
		take_row(rows, fde->start + fde->size, &none);
	}
}

static void read_code(struct undescribed_code *work, const struct elf_file *image,
		      uint64_t text_start, uint32_t start, uint32_t end, struct rows *rows)
{
	static uint8_t piece[UNDESCRIBED_CODE_PIECE_BYTES];
	uint64_t entry = elf_program_role(image) == ELF_ROLE_LIBRARY ? UINT64_MAX
								     : image->entry - text_start;

	rows->count = 0;
	for (uint32_t at = start; at < end;) {
		size_t size = end - at < sizeof(piece) ? end - at : sizeof(piece);

		if (elf_file_read_address(image, text_start + at, piece, size) < 0)
			return;
		at += (uint32_t)undescribed_code_run(
			work, &(struct code_piece){piece, size, at, entry, at + size == end},
			take_row, rows);
	}
}

static struct totals check_image(struct undescribed_code *work, const struct elf_file *image,
				 const struct eh_frame *frame)
{
	static struct rows described, read;
	uint64_t text_start = eh_frame_text_start(frame);
	struct function_starts starts;
	struct totals totals = {.files = 1};
	const struct elf_section *text = elf_file_find_section(image, ".text");
	uint32_t start, end;

	if (!text || text->address < text_start || eh_frame_count(frame) == 0)
		return (struct totals){0};
	start = (uint32_t)(text->address - text_start);
	end = start + (uint32_t)text->size;
	function_starts_read(image, text_start, eh_frame_text_size(frame), &starts);
	undescribed_code_set_starts(work, starts.items, starts.count);
	read_described(frame, &described);
	read_code(work, image, text_start, start, end, &read);
	compare_rows(&totals, &described, &read, start, end);
	undescribed_code_set_starts(work, NULL, 0);
	array_free(&starts);
	return totals;
}

static void print(const struct totals *totals, const char *name)
{
	double bytes = (double)(totals->same + totals->different + totals->unknown);

	printf("%s: %.0f bytes: %.2f %% have the same CFA, %.2f %% another, %.2f %% none\n", name,
	       bytes, 100.0 * (double)totals->same / bytes,
	       100.0 * (double)totals->different / bytes, 100.0 * (double)totals->unknown / bytes);
}

static void check_file(struct undescribed_code *work, const char *path, bool each,
		       struct totals *totals)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *image = NULL;
	struct eh_frame *frame = NULL;

	if (fd >= 0 && elf_program_open(fd, &image) == 0 &&
	    eh_frame_load(image, &frame, NULL) == 0 && image->machine == EM_X86_64) {
		struct totals file = check_image(work, image, frame);

		totals->files += file.files;
		totals->same += file.same;
		totals->different += file.different;
		totals->unknown += file.unknown;
		if (each && file.files)
			print(&file, path);
	}
	eh_frame_free(frame);
	elf_program_free(image);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct undescribed_code *work = undescribed_code_new();
	bool each = argc > 1 && strcmp(argv[1], "--each") == 0;
	struct elf_walk walk = {0};
	struct totals totals = {0};
	double bytes;

	if (!work)
		err(1, "memory");
	if (argc == 1 + each) {
		elf_walk_add(&walk, "/usr/lib");
		elf_walk_add(&walk, "/usr/bin");
	}
	for (int i = 1 + each; i < argc; i++)
		elf_walk_add(&walk, argv[i]);
	elf_walk_sort(&walk);
	for (size_t i = 0; i<walk.count; i += argc> 1 + each ? 1 : STRIDE)
		check_file(work, walk.paths[i], each, &totals);
	undescribed_code_free(work);
	elf_walk_done(&walk);
	bytes = (double)(totals.same + totals.different + totals.unknown);
	print(&totals, "all");
	return totals.files == 0 || (double)totals.same < LEAST_SAME_PERCENT / 100 * bytes ||
	       (double)totals.different > MOST_DIFFERENT_PERCENT / 100 * bytes;
}
