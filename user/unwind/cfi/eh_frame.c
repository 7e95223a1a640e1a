// SPDX-License-Identifier: BSD-2-Clause
/* Finds the call frame information of a file and lists its functions. */
#include "unwind/cfi/eh_frame.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/large_memory.h"
#include "elf/elf_functions.h"
#include "elf/elf_program.h"
#include "unwind/cfi/cfi_section.h"
#include "unwind/go_pclntab.h"
#include "unwind/text_layout.h"

#define NO_CIE UINT32_MAX
#define GO_CIE (UINT32_MAX - 1) /* marks functions from the Go run-time's table */

struct eh_frame {
	const struct cfi_machine *machine;
	uint64_t text_start;
	uint64_t text_size;
	struct cfi_section sections[2];
	size_t section_count;
	ARRAY_OF(struct cfi_cie) cies;
	struct fde_list functions;
	struct go_pclntab go;
	uint64_t dropped;
	bool is_go;
};

DEFINE_CLEANUP(struct eh_frame *, eh_frame_free)

void eh_frame_free(struct eh_frame *frame)
{
	if (!frame)
		return;
	for (size_t i = 0; i < frame->section_count; i++)
		free(frame->sections[i].data);
	go_pclntab_done(&frame->go);
	array_free(&frame->cies);
	array_free(&frame->functions);
	free(frame);
}

static int collect_cies(struct eh_frame *frame, struct cfi_section *section, uint8_t index)
{
	struct cfi_entry entry;
	size_t offset = 0;

	section->first_cie = (uint32_t)frame->cies.count;
	while (cfi_section_next(section, &offset, &entry)) {
		struct cfi_cie *cie;

		if (!entry.is_cie || frame->cies.count >= EH_FRAME_MAX_CIES)
			continue;
		cie = array_add(&frame->cies);
		if (!cie)
			return -ENOMEM;
		cie->offset = (uint32_t)entry.offset;
		cie->section = index;
		cie->usable = cfi_cie_parse(frame->machine, section, &entry, frame->is_go, cie);
	}
	section->cie_count = (uint32_t)frame->cies.count - section->first_cie;
	return 0;
}

/* Only offsets at which the section scan found a CIE count, so each CIE is parsed once however many
 * FDEs name it. */
static uint32_t find_cie(const struct eh_frame *frame, const struct cfi_section *section,
			 uint64_t offset)
{
	uint32_t low = section->first_cie;
	uint32_t high = low + section->cie_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (frame->cies.items[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < section->first_cie + section->cie_count &&
	    frame->cies.items[low].offset == offset)
		return low;
	return NO_CIE;
}

static void run_program(const struct eh_frame *frame, const struct fde *fde, cfi_row_fn row,
			void *context)
{
	const struct cfi_cie *cie = &frame->cies.items[fde->cie];
	const struct cfi_section *section = &frame->sections[cie->section];

	cfi_program_run(frame->machine, &cie->context,
			&(struct cfi_program){
				.bytes = section->data + fde->program,
				.size = fde->program_size,
				.address = section->address + fde->program,
				.base = frame->text_start,
				.start = fde->start,
				.length = fde->size,
			},
			row, context);
}

static void note_signal_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	bool *is_signal = context;

	(void)offset;
	*is_signal |= rule->cfa == PKBPF_CFA_SIGNAL;
}

/* True for a signal trampoline, false for ordinary code whose CIE has the 'S' augmentation too. */
static bool is_trampoline(const struct eh_frame *frame, const struct fde *fde)
{
	bool is_signal = false;

	if (frame->cies.items[fde->cie].context.is_signal)
		run_program(frame, fde, note_signal_row, &is_signal);
	return is_signal;
}

/* Clips the function to the text. Returns false when it lies outside. */
static bool parse_fde(const struct eh_frame *frame, const struct cfi_section *section,
		      const struct cfi_entry *entry, uint32_t cie_index, struct fde *ret_fde)
{
	const struct cfi_cie *cie = &frame->cies.items[cie_index];
	struct cfi_function function;
	uint64_t start;
	uint64_t size;

	if (!cfi_function_parse(section, cie, entry, &function))
		return false;
	start = function.start - frame->text_start;
	size = function.size;
	if (start >= frame->text_size)
		return false;
	if (size > frame->text_size - start)
		size = frame->text_size - start;
	*ret_fde = (struct fde){
		.start = (uint32_t)start,
		.size = (uint32_t)size,
		.program = (uint32_t)function.program,
		.program_size = (uint32_t)function.program_size,
		.cie = cie_index,
	};
	if (start > 0 && is_trampoline(frame, ret_fde)) {
		ret_fde->start--;
		ret_fde->size++;
	}
	return true;
}

static int collect_functions(struct eh_frame *frame, const struct cfi_section *section,
			     struct fde_list *list)
{
	uint64_t last_offset = UINT64_MAX;
	uint32_t cie = NO_CIE;
	struct cfi_entry entry;
	size_t offset = 0;

	while (cfi_section_next(section, &offset, &entry)) {
		struct fde fde;

		if (entry.is_cie)
			continue;
		if (entry.cie_offset != last_offset) {
			cie = find_cie(frame, section, entry.cie_offset);
			last_offset = entry.cie_offset;
		}
		if (cie == NO_CIE || !frame->cies.items[cie].usable ||
		    list->count >= EH_FRAME_MAX_FUNCTIONS ||
		    !parse_fde(frame, section, &entry, cie, &fde)) {
			frame->dropped++;
			continue;
		}
		if (list->count == list->capacity && !array_reserve(list, list->count + 1))
			return -ENOMEM;
		list->items[list->count++] = fde;
	}
	return fde_list_sort(list) ? 0 : -ENOMEM;
}

/* Takes ownership of the section's bytes. */
static int add_section(struct eh_frame *frame, struct cfi_section section)
{
	size_t index = frame->section_count++;
	struct fde_list list = {0};
	int ret;

	frame->sections[index] = section;
	ret = collect_cies(frame, &frame->sections[index], (uint8_t)index);
	if (ret == 0)
		ret = collect_functions(frame, &frame->sections[index], &list);
	if (ret == 0 && !fde_list_fill_gaps(&frame->functions, &list))
		ret = -ENOMEM;
	array_free(&list);
	return ret;
}

/* Files stripped of their section table still have PT_GNU_EH_FRAME, which leads to .eh_frame. The
 * data ends at a zero length or, at the latest, at the end of the segment. */
static int load_by_segment(const struct elf_file *file, struct cfi_section *section)
{
	uint64_t size;

	if (!elf_functions_find_frames(file, &section->address))
		return -ENODATA;
	size = elf_file_bytes_after(file, section->address);
	if (size == 0)
		return -ENODATA;
	if (size > EH_FRAME_MAX_SECTION_BYTES)
		size = EH_FRAME_MAX_SECTION_BYTES;
	if (size > file->size)
		size = file->size;
	section->data = large_malloc(size);
	if (!section->data)
		return -ENOMEM;
	section->size = size;
	section->ends_by_zero = true;
	if (elf_file_read_address(file, section->address, section->data, size)) {
		free(section->data);
		return -ENODATA;
	}
	return 0;
}

static int load_section(const struct elf_file *file, const char *name, struct cfi_section *section)
{
	const struct elf_section *found = elf_file_find_section(file, name);
	void *data;
	int ret;

	if (!found || found->size == 0)
		return -ENODATA;
	ret = elf_file_read_section(file, found, EH_FRAME_MAX_SECTION_BYTES, &data, &section->size);
	if (ret < 0)
		return ret;
	section->data = data;
	section->address = found->address;
	return 0;
}

static int add_eh_frame(struct eh_frame *frame, const struct elf_file *file)
{
	struct cfi_section section = {0};
	int ret = load_section(file, ".eh_frame", &section);

	if (ret == -ENODATA)
		ret = load_by_segment(file, &section);
	return ret < 0 ? ret : add_section(frame, section);
}

/* A broken or unreadable .debug_frame loses only its own functions, not those of .eh_frame. */
static int add_debug_frame(struct eh_frame *frame, const struct elf_file *file)
{
	struct cfi_section section = {.is_debug_frame = true};
	int ret = load_section(file, ".debug_frame", &section);

	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	return add_section(frame, section);
}

static int add_go_functions(struct eh_frame *frame, const struct elf_file *file)
{
	struct fde_list list = {0};
	int ret;

	if (!frame->is_go)
		return 0;
	ret = go_pclntab_load(file, frame->text_start, frame->text_size, GO_CIE, &frame->go, &list);
	if (ret == 0 && !fde_list_fill_gaps(&frame->functions, &list))
		ret = -ENOMEM;
	array_free(&list);
	return ret == -ENODATA ? 0 : ret;
}

static bool set_text_range(struct eh_frame *frame, const struct elf_file *file)
{
	uint64_t start = UINT64_MAX;
	uint64_t end = 0;
	struct text_layout layout;
	uint64_t limit;

	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];
		uint64_t size = segment->file_size;

		if (!elf_segment_is_code(segment) || size == 0 || segment->offset >= file->size)
			continue;
		/* The header may claim more bytes than the file has. */
		if (size > file->size - segment->offset)
			size = file->size - segment->offset;
		if (segment->address < start)
			start = segment->address;
		if (segment->address + size > end)
			end = segment->address + size;
	}
	if (start >= end)
		return false;
	frame->text_start = start & ~(uint64_t)(PKBPF_TEXT_PAGE_SIZE - 1);
	frame->text_size = end - frame->text_start;
	if (frame->text_size > EH_FRAME_MAX_TEXT_BYTES - PKBPF_TEXT_PAGE_SIZE)
		frame->text_size = EH_FRAME_MAX_TEXT_BYTES - PKBPF_TEXT_PAGE_SIZE;
	/* Gaps between segments take no space in the file. */
	limit = file->size * EH_FRAME_MAX_TEXT_RATIO + EH_FRAME_MIN_TEXT_LIMIT;
	text_layout_read(&file->segments, &layout);
	if (frame->text_size > limit && (layout.count < 2 || layout.size > limit))
		frame->text_size = limit;
	return true;
}

int eh_frame_load(const struct elf_file *file, struct eh_frame **ret_frame, struct error *error)
{
	_cleanup_(eh_frame_free_cleanup) struct eh_frame *frame = calloc(1, sizeof(*frame));
	int ret;

	if (!frame)
		return error_set(error, ENOMEM, "out of memory for an unwind table");
	if (!set_text_range(frame, file))
		return error_set(error, ENODATA, "no executable segment, no unwind table is made");
	frame->machine = file->machine == EM_AARCH64 ? &cfi_arm64 : &cfi_x86_64;
	frame->is_go = file->machine == EM_X86_64 && go_table_is_expected(file);
	ret = add_eh_frame(frame, file);
	if (ret == 0 || ret == -ENODATA)
		ret = add_go_functions(frame, file);
	if (ret == 0)
		ret = add_debug_frame(frame, file);
	if (ret < 0)
		return error_set(error, -ret, "cannot read call frame information: %s",
				 strerror(-ret));
	/* Go code keeps frame pointers and switches stacks. */
	if (frame->is_go && frame->functions.count == 0)
		return error_set(error, ENODATA,
				 "no function table of a known format, frame pointers are used");
	*ret_frame = take_pointer(frame);
	return 0;
}

const struct cfi_machine *eh_frame_machine(const struct eh_frame *frame)
{
	return frame->machine;
}

uint64_t eh_frame_text_start(const struct eh_frame *frame)
{
	return frame->text_start;
}

uint64_t eh_frame_text_size(const struct eh_frame *frame)
{
	return frame->text_size;
}

size_t eh_frame_expected_rows(const struct eh_frame *frame)
{
	size_t bytes = 0;

	/* A row takes five to six bytes of call frame information; a Go function has five rows. */
	for (size_t i = 0; i < frame->section_count; i++)
		bytes += frame->sections[i].size;
	return bytes / 4 + (frame->go.table.data ? frame->functions.count * 6 : 0);
}

uint64_t eh_frame_dropped_count(const struct eh_frame *frame)
{
	return frame->dropped;
}

size_t eh_frame_count(const struct eh_frame *frame)
{
	return frame->functions.count;
}

const struct fde *eh_frame_function(const struct eh_frame *frame, size_t index)
{
	return &frame->functions.items[index];
}

enum eh_frame_source eh_frame_source(const struct eh_frame *frame, size_t index)
{
	uint32_t cie = frame->functions.items[index].cie;

	if (cie == GO_CIE)
		return EH_FRAME_GO;
	return frame->sections[frame->cies.items[cie].section].is_debug_frame
		       ? EH_FRAME_DEBUG_SECTION
		       : EH_FRAME_SECTION;
}

bool eh_frame_is_signal(const struct eh_frame *frame, size_t index)
{
	const struct fde *fde = &frame->functions.items[index];

	return fde->cie != GO_CIE && is_trampoline(frame, fde);
}

void eh_frame_run(const struct eh_frame *frame, size_t index, cfi_row_fn row, void *context)
{
	const struct fde *fde = &frame->functions.items[index];

	if (fde->cie == GO_CIE)
		go_pclntab_run(&frame->go, fde, row, context);
	else
		run_program(frame, fde, row, context);
}
