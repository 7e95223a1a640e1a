// SPDX-License-Identifier: BSD-2-Clause
/* Searches symbol tables for allocators. */
#include "source/alloc/allocator_sites.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf/elf_symbol.h"
#include "source/alloc/probe_place.h"

#define CODE_BYTES 48

struct allocator {
	const char *name;
	enum pkbpf_alloc_shape shape;
};

/* Those that do not call each other. reallocarray() calls realloc(). */
static const struct allocator allocators[] = {
	{"malloc", PKBPF_ALLOC_FIRST},
	{"calloc", PKBPF_ALLOC_PRODUCT},
	{"realloc", PKBPF_ALLOC_AGAIN},
	{"memalign", PKBPF_ALLOC_SECOND},
	{"aligned_alloc", PKBPF_ALLOC_SECOND},
	{"posix_memalign", PKBPF_ALLOC_THIRD},
	{"valloc", PKBPF_ALLOC_FIRST},
	{"pvalloc", PKBPF_ALLOC_FIRST},
	{"mallocx", PKBPF_ALLOC_FIRST},
	{"rallocx", PKBPF_ALLOC_SECOND},
	{"je_malloc", PKBPF_ALLOC_FIRST},
	{"je_calloc", PKBPF_ALLOC_PRODUCT},
	{"je_realloc", PKBPF_ALLOC_AGAIN},
	{"je_mallocx", PKBPF_ALLOC_FIRST},
	{"je_posix_memalign", PKBPF_ALLOC_THIRD},
	{"_rjem_malloc", PKBPF_ALLOC_FIRST},
	{"_rjem_calloc", PKBPF_ALLOC_PRODUCT},
	{"_rjem_realloc", PKBPF_ALLOC_AGAIN},
	{"_rjem_mallocx", PKBPF_ALLOC_FIRST},
	{"_rjem_rallocx", PKBPF_ALLOC_SECOND},
	{"mi_malloc", PKBPF_ALLOC_FIRST},
};

/* C++ operators, of libraries that bring an allocator: others call malloc(). */
static const struct allocator operators[] = {
	{"_Znwm", PKBPF_ALLOC_FIRST},
	{"_Znam", PKBPF_ALLOC_FIRST},
	{"_ZnwmRKSt9nothrow_t", PKBPF_ALLOC_FIRST},
	{"_ZnamRKSt9nothrow_t", PKBPF_ALLOC_FIRST},
	{"_ZnwmSt11align_val_t", PKBPF_ALLOC_FIRST},
	{"_ZnamSt11align_val_t", PKBPF_ALLOC_FIRST},
};

static const struct allocator *find_name(const struct allocator *list, size_t count,
					 const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

/* Of a function that only jumps to another one; 0: it is none. */
static uint64_t find_next(uint64_t address, const uint8_t *code, size_t size)
{
#if defined(__x86_64__)
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0
			    ? sizeof(endbr64)
			    : 0;
	int32_t distance;

	if (size < at + 5 || code[at] != 0xe9)
		return 0;
	memcpy(&distance, code + at + 1, sizeof(distance));
	return address + at + 5 + (uint64_t)(int64_t)distance;
#else
	(void)address;
	(void)code;
	(void)size;
	return 0;
#endif
}

/* An allocation is counted once, where it ends: in the function that others jump to. */
static void drop_jumps(struct allocator_sites *sites)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->items.count; i++) {
		bool is_jump = false;

		array_foreach(&sites->items, other)
			is_jump |= other->start == sites->items.items[i].next;
		sites->items.items[i].is_jump = is_jump;
	}
	for (size_t i = 0; i < sites->items.count; i++)
		if (!sites->items.items[i].is_jump)
			sites->items.items[kept++] = sites->items.items[i];
	sites->items.count = kept;
}

static int add_site(const struct elf_file *file, uint64_t address, enum pkbpf_alloc_shape shape,
		    struct allocator_sites *sites)
{
	uint8_t code[CODE_BYTES];
	struct allocator_site site = {.shape = shape}, *added;
	uint64_t left;
	size_t size;
	int place;

	if (!elf_segments_offset(&file->segments, address, &site.offset, &left) || !left)
		return 0;
	size = left < sizeof(code) ? left : sizeof(code);
	if (elf_file_read(file, site.offset, code, size))
		return 0;
	site.start = address;
	site.next = find_next(address, code, size);
	place = probe_place_find(code, size);
	if (place < 0)
		return 0;
	site.offset += (uint64_t)place;
	array_foreach(&sites->items, known) {
		if (known->offset == site.offset)
			return 0;
	}
	if (sites->items.count >= ALLOCATOR_SITES_MAX)
		return 0;
	added = array_add(&sites->items);
	if (!added)
		return -ENOMEM;
	*added = site;
	return 0;
}

static int search(const struct elf_file *file, uint32_t table, const struct allocator *list,
		  size_t list_count, struct allocator_sites *sites)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(file, table, &reader);

	if (err)
		return err == -ENOENT ? 0 : err;
	while (!err && elf_symbol_reader_next(&reader, &symbol)) {
		const struct allocator *allocator;
		char name[32];

		if (symbol.section == SHN_UNDEF ||
		    (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) ||
		    elf_strings_read(&reader.strings, file, symbol.name, name, sizeof(name)))
			continue;
		allocator = find_name(list, list_count, name);
		if (allocator && symbol.type == STT_FUNC)
			err = add_site(file, symbol.address, allocator->shape, sites);
	}
	err = err ? err : reader.err;
	elf_symbol_reader_close(&reader);
	return err;
}

int allocator_sites_find(const struct elf_file *file, struct allocator_sites *sites)
{
	int err = search(file, SHT_DYNSYM, allocators, ARRAY_SIZE(allocators), sites);

	if (!err && !sites->items.count)
		err = search(file, SHT_SYMTAB, allocators, ARRAY_SIZE(allocators), sites);
	/* In a program, operators of libstdc++ may be linked, which call malloc(). */
	if (!err && sites->items.count && file->type == ET_DYN &&
	    elf_segments_find(&file->segments, PT_INTERP) == NULL)
		err = search(file, SHT_DYNSYM, operators, ARRAY_SIZE(operators), sites);
	drop_jumps(sites);
	return err;
}
