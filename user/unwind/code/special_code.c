// SPDX-License-Identifier: BSD-2-Clause
/* Recognizes special code of x86-64. */
#include "unwind/code/special_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_program.h"
#include "elf/elf_symbol.h"
#include "instruction/x86_flow.h"

#define SEARCH_WINDOW_BYTES 65536
#define SEARCH_READ_BYTES   4096
#define SEARCH_MAX_GAPS	    4096
#define PATTERN_MAX_BYTES   32
#define PLT_ENTRY_BYTES	    16
#define CONTEXT_START_BYTES 26
#define MAX_SYMBOL_BYTES    (1U << 20) /* glibc's .dynsym has 75 KB */

static const struct pkbpf_unwind_rule end_rule = {.cfa = PKBPF_CFA_END};
static const struct pkbpf_unwind_rule above_end_rule = {.cfa = PKBPF_CFA_END, .aux = 1};
static const struct pkbpf_unwind_rule signal_rule = {.cfa = PKBPF_CFA_SIGNAL};

/* Code with the same bytes wherever it occurs. */
struct pattern {
	uint8_t bytes[PATTERN_MAX_BYTES];
	uint8_t size;
	uint8_t before; /* bytes before it that the rule covers, too */
	const struct pkbpf_unwind_rule *rule;
};

static const struct pattern patterns[] = {
	/* mov $15,%rax; syscall: rt_sigreturn in musl and Go. The kernel makes it a handler's
	 * return address, so look-ups land one byte before. */
	{{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, 9, 1, &signal_rule},
	/* mov $15,%eax; syscall: the same from other assemblers. */
	{{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}, 7, 1, &signal_rule},
	/* xor %ebp,%ebp; pop %rdi; call *%r9; mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall:
	 * the child's half of musl's __clone, the outermost frame of a thread. */
	{{0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05},
	 14,
	 0,
	 &end_rule},
};

/* The part of the text that was read last. */
struct window {
	uint8_t *bytes; /* SEARCH_WINDOW_BYTES + PATTERN_MAX_BYTES */
	uint64_t start;
	size_t size;
};

struct finder {
	const struct elf_file *file;
	const struct eh_frame *frame;
	struct special_code_list *list;
	uint64_t text_start;
	struct window window;
};

static void add(struct finder *finder, uint64_t start, uint64_t size,
		const struct pkbpf_unwind_rule *rule)
{
	uint64_t text_size = eh_frame_text_size(finder->frame);
	struct special_code *special;

	if (size == 0 || start >= text_size || size > text_size - start ||
	    finder->list->count >= SPECIAL_CODE_MAX_COUNT)
		return;
	special = array_add(finder->list);
	if (special)
		*special = (struct special_code){(uint32_t)start, (uint32_t)size, *rule};
}

/* Returns the first function that ends after an offset. */
static size_t find_function(const struct eh_frame *frame, uint64_t offset)
{
	size_t low = 0;
	size_t high = eh_frame_count(frame);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fde *fde = eh_frame_function(frame, middle);

		if ((uint64_t)fde->start + fde->size <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_covered(const struct finder *finder, uint64_t start, uint64_t size)
{
	size_t index = find_function(finder->frame, start);

	return index < eh_frame_count(finder->frame) &&
	       eh_frame_function(finder->frame, index)->start < start + size;
}

/* musl's entry code, in programs and in its loader: xor %rbp,%rbp; mov %rsp,%rdi; lea
 * _DYNAMIC(%rip),%rsi; and $-16,%rsp; call. It has no caller. */
static void find_entry(struct finder *finder)
{
	static const uint8_t head[] = {0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d, 0x35};
	static const uint8_t tail[] = {0x48, 0x83, 0xe4, 0xf0, 0xe8};
	uint64_t entry = finder->file->entry;
	uint8_t code[22];

	if (elf_file_read_address(finder->file, entry, code, sizeof(code)) < 0 ||
	    is_covered(finder, entry - finder->text_start, sizeof(code)))
		return;
	if (memcmp(code, head, sizeof(head)) == 0 && memcmp(code + 13, tail, sizeof(tail)) == 0)
		add(finder, entry - finder->text_start, sizeof(code), &end_rule);
}

/* Returns NULL when unreadable. The requested pieces are close together, so one read of a page
 * serves many of them. */
static const uint8_t *text_at(struct finder *finder, uint64_t start, size_t size)
{
	struct window *window = &finder->window;
	uint64_t address = finder->text_start + start, wanted = SEARCH_READ_BYTES;

	if (start >= window->start && start - window->start <= window->size &&
	    size <= window->size - (start - window->start))
		return window->bytes + (start - window->start);
	if (wanted > elf_file_bytes_after(finder->file, address))
		wanted = elf_file_bytes_after(finder->file, address);
	window->start = start;
	window->size = wanted > size ? (size_t)wanted : size;
	if (elf_file_read_address(finder->file, address, window->bytes, window->size) < 0) {
		window->size = 0;
		return NULL;
	}
	return window->bytes;
}

/* A C library, or a program that contains one. Other files are not read: their text may be large
 * and not in the page cache. */
static bool may_hold_c_library(const struct elf_file *file)
{
	enum elf_role role = elf_program_role(file);

	return role == ELF_ROLE_C_LIBRARY || (role == ELF_ROLE_STATIC_PROGRAM && file->entry != 0);
}

/* glibc's __start_context, the return address of makecontext()'s function: mov %rbx,%rsp; mov
 * (%rsp),%rdi; test %rdi,%rdi; je; call. Its CFI describes it as called, but makecontext() puts its
 * address on the new stack: it has no caller. Look-ups land one byte before it. */
static void find_context_start(struct finder *finder)
{
	static const uint8_t head[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24,
				       0x48, 0x85, 0xff, 0x74, 0x08, 0xe8};
	uint64_t covered = 0;

	for (size_t i = 0; i < eh_frame_count(finder->frame); i++) {
		const struct fde *fde = eh_frame_function(finder->frame, i);
		uint32_t before = fde->start > covered;
		const uint8_t *code;

		covered = (uint64_t)fde->start + fde->size;
		if (fde->size < CONTEXT_START_BYTES ||
		    fde->size > CONTEXT_START_BYTES + X86_ENDBR64_BYTES)
			continue;
		code = text_at(finder, fde->start, X86_ENDBR64_BYTES + sizeof(head));
		if (!code)
			continue;
		code += x86_endbr64_size(code, X86_ENDBR64_BYTES);
		if (memcmp(code, head, sizeof(head)) == 0)
			add(finder, fde->start - before, fde->size + before, &end_rule);
	}
}

/*
 * Coroutine libraries put the address of abort() on a new stack as the return address of the first
 * function (libcoro, in Perl's Coro and Tarantool). That frame is the outermost. A look-up covers
 * the byte before abort(), which belongs to the preceding function. That function may end with a
 * call of abort(), but does not run then.
 */
static void find_abort(struct finder *finder)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	char name[8];

	if (elf_symbol_reader_open(finder->file, SHT_DYNSYM, &reader))
		return;
	if (reader.count > MAX_SYMBOL_BYTES / sizeof(Elf64_Sym) ||
	    elf_strings_load(&reader.strings, finder->file, MAX_SYMBOL_BYTES))
		reader.count = 0;
	while (elf_symbol_reader_next(&reader, &symbol)) {
		if (symbol.type != STT_FUNC || symbol.section == SHN_UNDEF ||
		    elf_strings_read(&reader.strings, finder->file, symbol.name, name,
				     sizeof(name)) ||
		    strcmp(name, "abort") != 0)
			continue;
		if (symbol.address > finder->text_start)
			add(finder, symbol.address - finder->text_start - 1, 1, &above_end_rule);
		break;
	}
	elf_symbol_reader_close(&reader);
}

static void search_bytes(struct finder *finder, uint64_t start, const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct pattern *pattern = &patterns[i];
		const uint8_t *at = code;
		const uint8_t *found;

		while ((found = memmem(at, (size_t)(code + size - at), pattern->bytes,
				       pattern->size))) {
			uint64_t offset = start + (uint64_t)(found - code);
			uint64_t before = offset >= pattern->before ? pattern->before : 0;

			add(finder, offset - before, pattern->size + before, pattern->rule);
			at = found + pattern->size;
		}
	}
}

/* Windows overlap by less than a pattern, so each match is found exactly once. */
static void search_range(struct finder *finder, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at += SEARCH_WINDOW_BYTES) {
		uint64_t size = end - at;
		const uint8_t *code;

		if (size > SEARCH_WINDOW_BYTES + PATTERN_MAX_BYTES)
			size = SEARCH_WINDOW_BYTES + PATTERN_MAX_BYTES;
		code = text_at(finder, at, size);
		if (!code)
			return;
		search_bytes(finder, at, code, size);
	}
}

/* Remaining search budget of a file. */
struct search_budget {
	uint64_t bytes;
	unsigned int gaps;
};

/* Searches between the functions of [at, end). */
static void search_segment(struct finder *finder, uint64_t at, uint64_t end,
			   struct search_budget *budget)
{
	for (size_t next = find_function(finder->frame, at); at < end && budget->gaps; next++) {
		const struct fde *fde = next < eh_frame_count(finder->frame)
						? eh_frame_function(finder->frame, next)
						: NULL;
		uint64_t gap_end = fde && fde->start < end ? fde->start : end;

		if (gap_end > at + 6) {
			uint64_t size = gap_end - at < budget->bytes ? gap_end - at : budget->bytes;

			search_range(finder, at, at + size);
			budget->bytes -= size;
			budget->gaps--;
		}
		at = fde ? (uint64_t)fde->start + fde->size : end;
	}
}

static void search_gaps(struct finder *finder)
{
	struct search_budget budget = {SPECIAL_CODE_MAX_SEARCH_BYTES, SEARCH_MAX_GAPS};

	for (size_t i = 0; i < finder->file->segments.count; i++) {
		const struct elf_segment *segment = &finder->file->segments.items[i];
		uint64_t at = segment->address - finder->text_start;

		if (elf_segment_is_code(segment))
			search_segment(finder, at, at + segment->file_size, &budget);
	}
}

/* Some linkers (lld) emit no CFI for the PLT. The first entry is reached with the index already
 * pushed. */
static void find_lazy_plt(struct finder *finder)
{
	static const struct pkbpf_unwind_rule first = {
		.cfa = PKBPF_CFA_SP, .cfa_offset = 16, .ra_offset = -8};
	static const struct pkbpf_unwind_rule pushed = {
		.cfa = PKBPF_CFA_SP, .cfa_offset = 24, .ra_offset = -8};
	struct pkbpf_unwind_rule rest = {.cfa = PKBPF_CFA_PLT, .ra_offset = -8};
	const struct elf_section *section = elf_file_find_section(finder->file, ".plt");
	uint8_t code[2 * PLT_ENTRY_BYTES];
	uint64_t start;

	if (!section || section->size < sizeof(code) || section->address % PLT_ENTRY_BYTES != 0)
		return;
	start = section->address - finder->text_start;
	if (is_covered(finder, start, section->size) ||
	    elf_file_read_address(finder->file, section->address, code, sizeof(code)) < 0 ||
	    memcmp(code, "\xff\x35", 2) != 0) /* push GOT+8 */
		return;
	if (memcmp(code + PLT_ENTRY_BYTES, "\xff\x25", 2) == 0) /* jmp *; push; jmp */
		rest.cfa_offset = 11;
	else if (memcmp(code + PLT_ENTRY_BYTES, "\xf3\x0f\x1e\xfa\x68", 5) == 0) /* endbr64; push */
		rest.cfa_offset = 9;
	else
		return;
	add(finder, start, 6, &first);
	add(finder, start + 6, PLT_ENTRY_BYTES - 6, &pushed);
	add(finder, start + PLT_ENTRY_BYTES, section->size - PLT_ENTRY_BYTES, &rest);
}

/* PLTs whose entries only jump. */
static void find_direct_plt(struct finder *finder, const char *name)
{
	static const struct pkbpf_unwind_rule rule = {
		.cfa = PKBPF_CFA_SP, .cfa_offset = 8, .ra_offset = -8};
	const struct elf_section *section = elf_file_find_section(finder->file, name);

	if (section && !is_covered(finder, section->address - finder->text_start, section->size))
		add(finder, section->address - finder->text_start, section->size, &rule);
}

/* Static programs call IFUNCs through a .plt without a first entry; its entries only jump. */
static void find_static_plt(struct finder *finder)
{
	const struct elf_section *section = elf_file_find_section(finder->file, ".plt");
	uint8_t code[16];

	if (!section || section->size < sizeof(code) ||
	    elf_file_read_address(finder->file, section->address, code, sizeof(code)) < 0)
		return;
	if ((memcmp(code, "\xff\x25", 2) == 0 && memcmp(code + 8, "\xff\x25", 2) == 0) ||
	    memcmp(code, "\xf3\x0f\x1e\xfa\xff\x25", 6) == 0 ||	  /* endbr64; jmp * */
	    memcmp(code, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7) == 0) /* endbr64; bnd jmp * */
		find_direct_plt(finder, ".plt");
}

static void search_c_library(struct finder *finder)
{
	_cleanup_free_ uint8_t *bytes = malloc(SEARCH_WINDOW_BYTES + PATTERN_MAX_BYTES);

	if (!bytes)
		return;
	finder->window = (struct window){.bytes = bytes};
	find_context_start(finder);
	find_abort(finder);
	search_gaps(finder);
}

static int compare(const void *left, const void *right)
{
	const struct special_code *a = left;
	const struct special_code *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorts the list; of two overlapping items the first stays. */
static void finish(struct special_code_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->items, list->count, sizeof(*list->items), compare);
	for (size_t i = 0; i < list->count; i++) {
		const struct special_code *last = &list->items[kept ? kept - 1 : 0];

		if (kept == 0 || list->items[i].start - last->start >= last->size)
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

void special_code_find(const struct elf_file *file, const struct eh_frame *frame,
		       struct special_code_list *ret_list)
{
	struct finder finder = {
		.file = file,
		.frame = frame,
		.list = ret_list,
		.text_start = eh_frame_text_start(frame),
	};

	if (file->machine != EM_X86_64)
		return;
	find_entry(&finder);
	find_lazy_plt(&finder);
	find_static_plt(&finder);
	find_direct_plt(&finder, ".plt.sec");
	find_direct_plt(&finder, ".plt.got");
	if (may_hold_c_library(file))
		search_c_library(&finder);
	finish(ret_list);
}
