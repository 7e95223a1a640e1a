// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the stack pointer's way from the instructions of functions that do have call frame information, and compares what comes
 * out with that, over all libraries of this machine. Compilers' code is harder than the assembly that this is for: calls that do not
 * return, and labels behind a return that only a table of jumps leads to, are why some bytes differ.
 *
 * usage: oracle_undescribed_code [FILE|FOLDER…]
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf_walk.h"
#include "unwind/eh_frame.h"
#include "unwind/undescribed_code.h"

/* Shares of the bytes that can be compared: 93.8 and 1.5 % of Debian's libraries together. */
#define LEAST_SAME_PERCENT 91.0
#define MOST_DIFFERENT_PERCENT 2.5
/* One function in so many, for time. */
#define STRIDE 8

struct rows {
	struct {
		uint32_t offset;
		struct pkbpf_unwind_rule rule;
	} *items;
	size_t count, capacity;
};

struct totals {
	uint64_t functions, same, unknown, different;
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

/* Both may name the same place by different registers; only what is said by the same one can be compared. */
static bool comparable(const struct pkbpf_unwind_rule *described, const struct pkbpf_unwind_rule *read)
{
	return described->cfa == read->cfa && (described->cfa == PKBPF_CFA_SP || described->cfa == PKBPF_CFA_FP);
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

static void compare_rows(struct totals *totals, const struct rows *described, const struct rows *read, uint32_t end)
{
	const struct pkbpf_unwind_rule *left = NULL, *right = NULL;
	size_t i = 0, j = 0;

	for (uint32_t at = described->items[0].offset, next; at < end; at = next) {
		while (i < described->count && described->items[i].offset <= at)
			left = &described->items[i++].rule;
		while (j < read->count && read->items[j].offset <= at)
			right = &read->items[j++].rule;
		next = end;
		if (i < described->count && described->items[i].offset < next)
			next = described->items[i].offset;
		if (j < read->count && read->items[j].offset < next)
			next = read->items[j].offset;
		compare_range(totals, left, right, next - at);
	}
}

static void check_function(struct undescribed_code *work, const struct elf_image *image, const struct eh_frame *frame,
			   size_t index, struct totals *totals)
{
	static uint8_t code[UNDESCRIBED_CODE_PIECE_BYTES];
	static struct rows described, read;
	const struct fde *fde = eh_frame_function(frame, index);

	described.count = read.count = 0;
	if (eh_frame_is_signal(frame, index) || fde->size > sizeof(code) ||
	    elf_image_read_address(image, eh_frame_text_start(frame) + fde->start, code, fde->size) < 0)
		return;
	eh_frame_run(frame, index, take_row, &described);
	/* Parts of functions that the compiler has put elsewhere begin with a frame. */
	if (!described.count || described.items[0].rule.cfa != PKBPF_CFA_SP || described.items[0].rule.cfa_offset != 8)
		return;
	undescribed_code_run(work, code, fde->size, true, fde->start, UINT64_MAX, take_row, &read);
	totals->functions++;
	compare_rows(totals, &described, &read, fde->start + fde->size);
}

static void check_file(struct undescribed_code *work, const char *path, struct totals *totals)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image *image = NULL;
	struct eh_frame *frame = NULL;

	if (fd >= 0 && elf_image_open(fd, &image, NULL) == 0 && eh_frame_load(image, &frame, NULL) == 0 &&
	    eh_frame_machine(frame)->elf_machine == elf_image_machine(image) && !eh_frame_machine(frame)->has_link_register)
		for (size_t i = 0; i < eh_frame_count(frame); i += STRIDE)
			check_function(work, image, frame, i, totals);
	eh_frame_free(frame);
	elf_image_free(image);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct undescribed_code *work = undescribed_code_new();
	struct elf_walk walk = {0};
	struct totals totals = {0};
	double bytes, same, different;

	if (!work)
		err(1, "memory");
	if (argc == 1)
		elf_walk_add(&walk, "/usr/lib");
	for (int i = 1; i < argc; i++)
		elf_walk_add(&walk, argv[i]);
	elf_walk_sort(&walk);
	for (size_t i = 0; i < walk.count; i++)
		check_file(work, walk.paths[i], &totals);
	undescribed_code_free(work);
	elf_walk_done(&walk);
	bytes = (double)(totals.same + totals.different + totals.unknown);
	same = 100.0 * (double)totals.same / bytes;
	different = 100.0 * (double)totals.different / bytes;
	printf("%lu functions, %.0f bytes: %.2f %% have the same CFA, %.2f %% another, %.2f %% none\n",
	       totals.functions, bytes, same, different, 100.0 * (double)totals.unknown / bytes);
	return totals.functions == 0 || same < LEAST_SAME_PERCENT || different > MOST_DIFFERENT_PERCENT;
}
