// SPDX-License-Identifier: BSD-2-Clause
/* Reads the function and stack pointer tables of Go programs. */
#include "unwind/go_pclntab.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/go_table.h"
#include "unwind/cfi/cfi_reader.h"

#define MAX_LOOKS 65536
/* Where a table without a section of its own is looked for. */
#define MAX_SEARCH_BYTES (64U << 20)

/* What a function says besides its stack pointer; kept in the program_size of its entry in the
 * list. */
enum {
	FUNCTION_TOP = 1, /* nothing called it: goexit, mstart, rt0_go; or mcall */
	FUNCTION_SP_WRITE =
		2, /* puts something else into the stack pointer: systemstack, asmcgocall */
	FUNCTION_ASSEMBLY = 4,
	FUNCTION_SIGNAL = 256, /* rt_sigreturn; ours */
};

struct go_pclntab {
	uint8_t *data; /* from the pc tables to the end: names and files are not needed */
	size_t size;
	uint64_t values_size; /* data[0, values_size): pc-value tables; behind it the functions */
};

struct location {
	uint64_t offset; /* in the file */
	uint64_t size;
	struct go_table_header header;
};

/* One record of the function table (_func), as far as it is used. */
struct function_info {
	uint32_t entry;
	int32_t name;
	int32_t arguments;
	uint32_t defer_return;
	uint32_t stack_values;
	uint32_t file_values;
	uint32_t line_values;
	uint32_t value_count;
	uint32_t unit;
	uint32_t start_line; /* only since 1.20; before, what follows begins here */
	uint8_t id;
	uint8_t flags;
};

DEFINE_CLEANUP(struct go_pclntab *, go_pclntab_free)

void go_pclntab_free(struct go_pclntab *table)
{
	if (!table)
		return;
	free(table->data);
	free(table);
}

static bool is_header(const struct go_table_header *header, uint64_t size)
{
	return go_table_is_header(header, size) && header->instruction_size == 1 &&
	       header->function_count <= GO_PCLNTAB_MAX_FUNCTIONS &&
	       header->names_offset < header->values_offset &&
	       header->values_offset < header->functions_offset;
}

static bool read_location(const struct elf_image *image, uint64_t offset, uint64_t size,
			  struct location *location)
{
	location->offset = offset;
	location->size = size;
	return elf_image_read(image, offset, &location->header, sizeof(location->header)) == 0 &&
	       is_header(&location->header, size);
}

/* Position-independent programs linked by lld keep the table somewhere in their data. */
static bool search_location(const struct elf_image *image, const char *name,
			    struct location *ret_location)
{
	static const uint8_t head[] = {0xff, 0xff, 0xff, 0, 0, 1, 8};
	_cleanup_free_ uint8_t *data = NULL;
	struct elf_section section;
	const uint8_t *at;
	size_t size;

	if (!elf_image_find_section(image, name, &section) || (section.flags & SHF_COMPRESSED) ||
	    elf_image_load_section(image, &section, MAX_SEARCH_BYTES, &data, &size) < 0)
		return false;
	at = data;
	while ((at = memmem(at, (size_t)(data + size - at), head, sizeof(head)))) {
		size_t offset = (size_t)(at - data) - 1;

		if (at > data && offset % 8 == 0 &&
		    read_location(image, section.offset + offset, size - offset, ret_location))
			return true;
		at++;
	}
	return false;
}

static bool find_location(const struct elf_image *image, struct location *ret_location)
{
	struct elf_section section;

	if ((elf_image_find_section(image, ".gopclntab", &section) ||
	     elf_image_find_section(image, ".data.rel.ro.gopclntab", &section)) &&
	    read_location(image, section.offset, section.size, ret_location))
		return true;
	return elf_image_find_section(image, ".go.buildinfo", &section) &&
	       (search_location(image, ".data.rel.ro", ret_location) ||
		search_location(image, ".rodata", ret_location));
}

/* Where function addresses count from. Position-independent programs have 0 there until they are
 * relocated; then it is the section's start, unless a C linker put its own start-up code first. */
static bool find_go_text(const struct elf_image *image, const struct go_table_header *header,
			 uint64_t *ret_address)
{
	struct elf_section section;

	*ret_address = header->text_start;
	if (header->text_start != 0)
		return true;
	if (elf_image_find_section(image, ".init", &section) ||
	    !elf_image_find_section(image, ".text", &section))
		return false;
	*ret_address = section.address;
	return true;
}

static struct function_info read_function(const struct go_pclntab *table, uint32_t magic,
					  uint64_t offset)
{
	struct cfi_reader reader = {.at = table->data + table->values_size,
				    .end = table->data + table->size};
	struct function_info info = {0};

	cfi_skip(&reader, offset);
	info.entry = cfi_read_u32(&reader);
	info.name = (int32_t)cfi_read_u32(&reader);
	cfi_skip(&reader, 8); /* arguments, deferreturn */
	info.stack_values = cfi_read_u32(&reader);
	cfi_skip(&reader,
		 magic == GO_TABLE_MAGIC_1_20 ? 20 : 16); /* file, line, count, unit, start line */
	info.id = cfi_read_u8(&reader);
	info.flags = cfi_read_u8(&reader);
	/* A record that is cut off has no stack pointer table. */
	if (reader.failed)
		info.stack_values = 0;
	return info;
}

static bool name_begins(const struct elf_image *image, const struct location *location,
			int32_t name, const char *expected, size_t size)
{
	char found[32];

	return name >= 0 && size <= sizeof(found) &&
	       elf_image_read(image,
			      location->offset + location->header.names_offset + (uint64_t)name,
			      found, size) == 0 &&
	       memcmp(found, expected, size) == 0;
}

/* mov $15,%rax; syscall */
static bool returns_from_signal(const struct elf_image *image, uint64_t address)
{
	static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(expected)];

	return elf_image_read_address(image, address, code, sizeof(code)) == 0 &&
	       memcmp(code, expected, sizeof(expected)) == 0;
}

/* Each look costs a read; the run-time and its assembly have some thousand such functions. */
static uint32_t classify(const struct elf_image *image, const struct location *location,
			 const struct function_info *info, uint64_t address, uint64_t size,
			 uint32_t *looks)
{
	uint32_t flags = info->flags & (FUNCTION_TOP | FUNCTION_SP_WRITE | FUNCTION_ASSEMBLY);

	if (!(flags & (FUNCTION_TOP | FUNCTION_ASSEMBLY)) || (*looks)++ >= MAX_LOOKS)
		return flags;
	/* sigtramp ends Go's own tracebacks, but the kernel put a signal frame above it. */
	if ((flags & FUNCTION_TOP) && name_begins(image, location, info->name, "runtime.sigtramp",
						  sizeof("runtime.sigtramp") - 1))
		flags &= ~(uint32_t)FUNCTION_TOP;
	/* mcall never comes back: what the thread does then is for no goroutine. The one that
	 * called it may have ended, or run on another thread by now, and its stack holds other
	 * frames. */
	if ((flags & FUNCTION_SP_WRITE) &&
	    name_begins(image, location, info->name, "runtime.mcall", sizeof("runtime.mcall")))
		flags |= FUNCTION_TOP;
	if ((flags & FUNCTION_ASSEMBLY) && size <= 64 && returns_from_signal(image, address))
		flags |= FUNCTION_SIGNAL;
	return flags;
}

static int list_functions(const struct elf_image *image, const struct location *location,
			  const struct go_pclntab *table, uint64_t go_text, uint64_t text_size,
			  uint64_t text_start, uint32_t cie_mark, struct fde_list *list)
{
	uint64_t count = location->header.function_count;
	struct cfi_reader reader = {.at = table->data + table->values_size,
				    .end = table->data + table->size};
	uint32_t entry = cfi_read_u32(&reader);
	uint32_t looks = 0;

	if (!array_reserve(list, count))
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t record = cfi_read_u32(&reader);
		uint32_t next = cfi_read_u32(&reader);
		uint64_t start = go_text - text_start + entry;
		uint64_t size = (uint64_t)next - entry;
		struct function_info info;
		uint32_t flags;

		if (next > entry && start < text_size && size <= text_size - start) {
			info = read_function(table, location->header.magic, record);
			flags = classify(image, location, &info, text_start + start, size, &looks);
			if ((flags & FUNCTION_SIGNAL) && start > 0) {
				start--; /* look-ups of its address as a return address */
				size++;
			}
			list->items[list->count++] = (struct fde){
				.start = (uint32_t)start,
				.size = (uint32_t)size,
				.program = info.stack_values,
				.program_size = flags,
				.cie = cie_mark,
			};
		}
		entry = next;
	}
	return fde_list_sort(list) ? 0 : -ENOMEM;
}

int go_pclntab_load(const struct elf_image *image, uint64_t text_start, uint64_t text_size,
		    uint32_t cie_mark, struct go_pclntab **ret_table,
		    struct fde_list *ret_functions)
{
	_cleanup_(go_pclntab_free_cleanup) struct go_pclntab *table = NULL;
	struct location location;
	uint64_t go_text;
	int ret;

	if (elf_image_machine(image) != EM_X86_64 || !find_location(image, &location) ||
	    !find_go_text(image, &location.header, &go_text))
		return -ENODATA;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->size = location.size - location.header.values_offset;
	table->values_size = location.header.functions_offset - location.header.values_offset;
	if (table->size > GO_PCLNTAB_MAX_BYTES || table->size > elf_image_size(image))
		return -ENODATA;
	table->data = malloc(table->size);
	if (!table->data)
		return -ENOMEM;
	if (elf_image_read(image, location.offset + location.header.values_offset, table->data,
			   table->size) < 0)
		return -ENODATA;
	ret = list_functions(image, &location, table, go_text, text_size, text_start, cie_mark,
			     ret_functions);
	if (ret < 0)
		return ret;
	*ret_table = take_pointer(table);
	return 0;
}

static void emit_distance(uint32_t offset, int64_t distance, cfi_row_fn row, void *context)
{
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP, .ra_offset = -8};

	if (distance < 0 || distance > INT32_MAX - 8) {
		rule = (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_UNSUPPORTED};
	} else {
		rule.cfa_offset = (int32_t)distance + 8;
		/* Functions with a frame save the caller's frame pointer at its top before anything
		 * else. */
		if (distance >= 8) {
			rule.fp = PKBPF_FP_CFA;
			rule.fp_offset = -16;
		}
	}
	row(context, offset, &rule);
}

/* Pairs of a change of value and the bytes of code it holds for; a change by 0 ends them. */
static void run_values(const struct go_pclntab *table, const struct fde *function, cfi_row_fn row,
		       void *context)
{
	struct cfi_reader reader = {.at = table->data, .end = table->data + table->values_size};
	uint64_t end = (uint64_t)function->start + function->size;
	uint64_t at = function->start;
	int64_t value = -1;
	bool is_first = true;

	cfi_skip(&reader, function->program);
	while (at < end) {
		uint64_t change = cfi_read_uleb128(&reader);
		uint64_t bytes;

		if ((change == 0 && !is_first) || reader.failed)
			break;
		change = change & 1 ? ~(change >> 1) : change >> 1;
		value = (int64_t)((uint64_t)value + change);
		bytes = cfi_read_uleb128(&reader);
		/* Never 0 in real tables; refused so that no function reads more than its bytes of
		 * code. */
		if (reader.failed || bytes == 0)
			break;
		emit_distance((uint32_t)at, value, row, context);
		is_first = false;
		if (bytes > end - at)
			return;
		at += bytes;
	}
	/* Nothing is known of the rest: validated frame pointers. */
	if (at < end)
		row(context, (uint32_t)at, &(struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_NONE});
}

void go_pclntab_run(const struct go_pclntab *table, const struct fde *function, cfi_row_fn row,
		    void *context)
{
	static const struct pkbpf_unwind_rule signal_rule = {.cfa = PKBPF_CFA_SIGNAL};
	static const struct pkbpf_unwind_rule end_rule = {.cfa = PKBPF_CFA_END};
	static const struct pkbpf_unwind_rule none_rule = {.cfa = PKBPF_CFA_NONE};
	/* From the system's stack to that of the goroutine, whose frame pointer is still there. The
	 * function that switched is lost, its callers are not. */
	static const struct pkbpf_unwind_rule switch_rule = {
		.cfa = PKBPF_CFA_OTHER_STACK,
		.cfa_offset = 16,
		.fp = PKBPF_FP_FP,
		.ra_offset = -8,
	};
	uint32_t flags = function->program_size;

	if (flags & FUNCTION_SIGNAL)
		row(context, function->start, &signal_rule);
	else if (flags & FUNCTION_TOP)
		row(context, function->start, &end_rule);
	else if (flags & FUNCTION_SP_WRITE)
		row(context, function->start, &switch_rule);
	else if (function->program == 0 || function->program >= table->values_size)
		row(context, function->start, &none_rule);
	else
		run_values(table, function, row, context);
}
