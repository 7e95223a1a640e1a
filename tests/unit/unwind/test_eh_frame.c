// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/eh_frame: which functions are found in which files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "cfi_bytes.h"
#include "elf_recipe.h"
#include "unwind/cfi/eh_frame.h"

#define TEXT ELF_RECIPE_TEXT_ADDRESS

/* An image and what was found in it; the functions by their distance from the text's start. */
struct loaded {
	uint8_t *file;
	struct elf_file *image;
	struct eh_frame *frame;
	int ret;
	struct error error;
};

static struct loaded load(const struct elf_recipe *recipe)
{
	struct loaded loaded = {0};
	size_t size;

	loaded.file = elf_recipe_make(recipe, &size);
	assert_non_null(loaded.file);
	assert_int_equal(elf_program_open_memory(loaded.file, size, &loaded.image), 0);
	loaded.ret = eh_frame_load(loaded.image, &loaded.frame, &loaded.error);
	return loaded;
}

static struct loaded load_eh_frame(const struct cfi_bytes *bytes)
{
	struct elf_recipe recipe = {
		.text_size = 0x3000, .eh_frame = bytes->data, .eh_frame_size = bytes->size};

	return load(&recipe);
}

static void unload(struct loaded *loaded)
{
	eh_frame_free(loaded->frame);
	elf_program_free(loaded->image);
	free(loaded->file);
}

static void assert_function(const struct loaded *loaded, size_t index, uint32_t start,
			    uint32_t size)
{
	assert_true(index < eh_frame_count(loaded->frame));
	assert_int_equal(eh_frame_function(loaded->frame, index)->start, start);
	assert_int_equal(eh_frame_function(loaded->frame, index)->size, size);
}

struct last_row {
	size_t count;
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

static void keep_last(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct last_row *last = context;

	last->count++;
	last->offset = offset;
	last->rule = *rule;
}

static void finds_functions_by_section(void **state)
{
	struct cfi_bytes bytes = {0};
	struct last_row last = {0};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x200, 0x40, "");
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "\x41\x0e\x10");
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_text_start(loaded.frame), TEXT);
	assert_int_equal(eh_frame_text_size(loaded.frame), 0x3000);
	assert_int_equal(eh_frame_count(loaded.frame), 2);
	assert_function(&loaded, 0, 0x100, 0x20);
	assert_function(&loaded, 1, 0x200, 0x40);
	eh_frame_run(loaded.frame, 0, keep_last, &last);
	assert_int_equal(last.count, 2);
	assert_int_equal(last.offset, 0x101);
	assert_int_equal(last.rule.cfa_offset, 16);
	assert_int_equal(last.rule.ra_offset, -8);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

static void finds_functions_without_section_headers(void **state)
{
	struct cfi_bytes bytes = {0};
	struct elf_recipe recipe = {.text_size = 0x3000, .has_no_sections = true};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "");
	cfi_bytes_put(&bytes, "\0\0\0\0", 4);
	CFI_FDE(&bytes, TEXT + 0x200, 0x20, ""); /* behind the terminator: not part of it */
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	loaded = load(&recipe);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 1);
	assert_function(&loaded, 0, 0x100, 0x20);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

/* As of each input that a linker has put together. */
static void zeros_in_the_middle_of_a_section_are_no_end(void **state)
{
	struct cfi_bytes bytes = {0};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "");
	cfi_bytes_put(&bytes, "\0\0\0\0\0\0\0\0", 8);
	CFI_FDE(&bytes, TEXT + 0x200, 0x20, "");
	cfi_bytes_put(&bytes, "\0\0\0\0", 4);
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 2);
	assert_function(&loaded, 1, 0x200, 0x20);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

static void fills_gaps_from_debug_frame(void **state)
{
	struct cfi_bytes bytes = {0};
	struct cfi_bytes debug = {.is_debug_frame = true};
	struct elf_recipe recipe = {.text_size = 0x3000};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x100, "");
	cfi_bytes_raw_cie(&debug, "", 4, 16, "\x0c\x07\x08\x90\x01", 5);
	CFI_FDE(&debug, TEXT + 0x180, 0x100, "");
	CFI_FDE(&debug, TEXT + 0x400, 0x100, "");
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	recipe.debug_frame = debug.data;
	recipe.debug_frame_size = debug.size;
	loaded = load(&recipe);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 2);
	assert_function(&loaded, 0, 0x100, 0x100);
	assert_function(&loaded, 1, 0x400, 0x100);
	unload(&loaded);
	cfi_bytes_done(&bytes);
	cfi_bytes_done(&debug);
}

/* A compressed section: a header that says what it inflates to, then zlib. */
static uint8_t *compress_section(const struct cfi_bytes *bytes, uint64_t claimed, size_t *ret_size)
{
	uLongf packed = compressBound(bytes->size);
	uint8_t *data = malloc(sizeof(Elf64_Chdr) + packed);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = claimed, .ch_addralign = 1};

	assert_non_null(data);
	memcpy(data, &header, sizeof(header));
	assert_int_equal(compress(data + sizeof(header), &packed, bytes->data, bytes->size), Z_OK);
	*ret_size = sizeof(header) + packed;
	return data;
}

static void reads_compressed_debug_frame(void **state)
{
	struct cfi_bytes debug = {.is_debug_frame = true};
	struct elf_recipe recipe = {.text_size = 0x3000, .debug_frame_is_compressed = true};
	struct loaded loaded;
	uint8_t *packed;

	cfi_bytes_raw_cie(&debug, "", 3, 16, "\x0c\x07\x08\x90\x01", 5);
	CFI_FDE(&debug, TEXT + 0x400, 0x100, "");
	packed = compress_section(&debug, debug.size, &recipe.debug_frame_size);
	recipe.debug_frame = packed;
	loaded = load(&recipe);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 1);
	unload(&loaded);
	free(packed);
	/* A claim that deflate cannot keep is not allocated. */
	packed = compress_section(&debug, 200U << 20, &recipe.debug_frame_size);
	recipe.debug_frame = packed;
	loaded = load(&recipe);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 0);
	unload(&loaded);
	free(packed);
	cfi_bytes_done(&debug);
}

static void starts_a_signal_trampoline_one_byte_early(void **state)
{
	struct cfi_bytes bytes = {0};
	struct last_row last = {0};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zRS");
	CFI_FDE(&bytes, TEXT + 0x100, 9, "\x0f\x05\x77\xa0\x01\x06\x96");
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_function(&loaded, 0, 0xff, 10);
	assert_true(eh_frame_is_signal(loaded.frame, 0));
	eh_frame_run(loaded.frame, 0, keep_last, &last);
	assert_int_equal(last.count, 1);
	assert_int_equal(last.offset, 0xff);
	assert_int_equal(last.rule.cfa, PKBPF_CFA_SIGNAL);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

/* Assembly marks functions whose return addresses are exact; they are called and return all the
 * same. */
static void keeps_the_rows_of_ordinary_code_with_the_mark_of_signal_frames(void **state)
{
	static const struct {
		const char *program;
		size_t size;
		struct pkbpf_unwind_rule last;
	} cases[] = {
		/* what it says of its caller holds: that was interrupted */
		{"\x41\x0e\x10", 3, {.cfa = PKBPF_CFA_SP_INTERRUPTED, .cfa_offset = 16}},
		/* the frame pointer, another register, and words that are no saved stack pointer */
		{"\x41\x0c\x06\x10", 4, {.cfa = PKBPF_CFA_FP, .cfa_offset = 16}},
		{"\x41\x0c\x03\x10", 4, {.cfa = PKBPF_CFA_REGISTER, .cfa_offset = 16, .aux = 3}},
		{"\x41\x0f\x05\x77\x98\x01\x06\x38", 8, {.cfa = PKBPF_CFA_UNSUPPORTED}},
		{"\x41\x0f\x06\x77\xa0\x01\x06\x23\x08",
		 9,
		 {.cfa = PKBPF_CFA_SP_DEREF, .cfa_offset = 160, .aux = 1}},
		{"\x41\x0f\x05\x76\xa0\x01\x06\x96",
		 8,
		 {.cfa = PKBPF_CFA_FP_DEREF, .cfa_offset = 160}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cfi_bytes bytes = {0};
		struct last_row last = {0};
		struct loaded loaded;

		cfi_bytes_cie(&bytes, "zRS");
		cfi_bytes_fde(&bytes, TEXT + 0x100, 0x20, cases[i].program, cases[i].size);
		loaded = load_eh_frame(&bytes);
		assert_int_equal(loaded.ret, 0);
		/* Its first byte is its own: the one before may be another function's call. */
		assert_function(&loaded, 0, 0x100, 0x20);
		assert_false(eh_frame_is_signal(loaded.frame, 0));
		eh_frame_run(loaded.frame, 0, keep_last, &last);
		assert_int_equal(last.count, 2);
		assert_int_equal(last.offset, 0x101);
		assert_int_equal(last.rule.cfa, cases[i].last.cfa);
		assert_int_equal(last.rule.cfa_offset, cases[i].last.cfa_offset);
		assert_int_equal(last.rule.aux, cases[i].last.aux);
		unload(&loaded);
		cfi_bytes_done(&bytes);
	}
}

static void drops_functions_outside_the_text(void **state)
{
	struct cfi_bytes bytes = {0};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, 0, 0x100, ""); /* what linkers leave of discarded functions */
	CFI_FDE(&bytes, TEXT + 0x3000, 0x100, "");
	CFI_FDE(&bytes, UINT64_MAX - 8, 0x100, "");
	CFI_FDE(&bytes, TEXT, 0, "");
	CFI_FDE(&bytes, TEXT + 0x2f00, UINT64_MAX, ""); /* cut at the end */
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 1);
	assert_int_equal(eh_frame_dropped_count(loaded.frame), 4);
	assert_function(&loaded, 0, 0x2f00, 0x100);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

static void drops_functions_whose_cie_it_does_not_know(void **state)
{
	struct cfi_bytes bytes = {0};
	struct loaded loaded;

	cfi_bytes_raw_cie(&bytes, "zX", 1, 16, "", 0); /* unknown letter */
	CFI_FDE(&bytes, TEXT + 0x100, 0x10, "");
	cfi_bytes_raw_cie(&bytes, "zR", 2, 16, "", 0); /* no such version */
	CFI_FDE(&bytes, TEXT + 0x200, 0x10, "");
	cfi_bytes_raw_cie(&bytes, "zR", 1, 17, "", 0); /* another return address column */
	CFI_FDE(&bytes, TEXT + 0x300, 0x10, "");
	bytes.last_cie += 4; /* not where a CIE begins */
	CFI_FDE(&bytes, TEXT + 0x400, 0x10, "");
	bytes.last_cie = SIZE_MAX / 2; /* outside */
	CFI_FDE(&bytes, TEXT + 0x500, 0x10, "");
	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x600, 0x10, "");
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 1);
	assert_int_equal(eh_frame_dropped_count(loaded.frame), 5);
	assert_function(&loaded, 0, 0x600, 0x10);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

static void stops_at_a_length_beyond_the_section(void **state)
{
	struct cfi_bytes bytes = {0};
	struct loaded loaded;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x10, "");
	cfi_bytes_put(&bytes, "\xf0\xff\xff\xff\x10\x00\x00\x00", 8);
	CFI_FDE(&bytes, TEXT + 0x200, 0x10, "");
	loaded = load_eh_frame(&bytes);
	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 1);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

static void takes_no_more_text_than_a_small_file_can_hold(void **state)
{
	struct cfi_bytes bytes = {0};
	struct elf_recipe recipe = {.text_size = 0x3000};
	struct elf_file *image = NULL;
	struct eh_frame *frame = NULL;
	struct error error;
	uint8_t *file;
	size_t size;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT, UINT64_C(1) << 40, "");
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	((Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)))->p_filesz = UINT64_C(1) << 40;
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	assert_int_equal(eh_frame_load(image, &frame, &error), 0);
	assert_in_range(eh_frame_text_size(frame), 0x3000, 2U << 20);
	assert_true(eh_frame_function(frame, 0)->size <= eh_frame_text_size(frame));
	eh_frame_free(frame);
	elf_program_free(image);
	free(file);
	cfi_bytes_done(&bytes);
}

static void describes_the_text_of_a_file_without_functions(void **state)
{
	struct elf_recipe recipe = {.text_size = 0x3000};
	struct loaded loaded = load(&recipe);

	assert_int_equal(loaded.ret, 0);
	assert_int_equal(eh_frame_count(loaded.frame), 0);
	assert_int_equal(eh_frame_text_start(loaded.frame), TEXT);
	assert_int_equal(eh_frame_text_size(loaded.frame), 0x3000);
	unload(&loaded);
}

static void reads_arm64_files(void **state)
{
	struct cfi_bytes bytes = {0};
	struct elf_recipe recipe = {.machine = EM_AARCH64, .text_size = 0x3000};
	struct last_row last = {0};
	struct loaded loaded;

	cfi_bytes_cie_arm64(&bytes);
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "\x41\x0e\x20\x9d\x04\x9e\x03");
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	loaded = load(&recipe);
	assert_int_equal(loaded.ret, 0);
	eh_frame_run(loaded.frame, 0, keep_last, &last);
	assert_int_equal(last.count, 2);
	assert_int_equal(last.offset, 0x104);
	assert_int_equal(last.rule.cfa_offset, 32);
	assert_int_equal(last.rule.ra_offset, -24);
	unload(&loaded);
	cfi_bytes_done(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions_by_section),
		cmocka_unit_test(finds_functions_without_section_headers),
		cmocka_unit_test(zeros_in_the_middle_of_a_section_are_no_end),
		cmocka_unit_test(fills_gaps_from_debug_frame),
		cmocka_unit_test(reads_compressed_debug_frame),
		cmocka_unit_test(starts_a_signal_trampoline_one_byte_early),
		cmocka_unit_test(keeps_the_rows_of_ordinary_code_with_the_mark_of_signal_frames),
		cmocka_unit_test(drops_functions_outside_the_text),
		cmocka_unit_test(drops_functions_whose_cie_it_does_not_know),
		cmocka_unit_test(stops_at_a_length_beyond_the_section),
		cmocka_unit_test(takes_no_more_text_than_a_small_file_can_hold),
		cmocka_unit_test(describes_the_text_of_a_file_without_functions),
		cmocka_unit_test(reads_arm64_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
