// SPDX-License-Identifier: BSD-2-Clause
/* Looks through the symbols of programs that may contain V8. */
#include "v8/v8_image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf/elf_symbol.h"
#include "pkbpf/unwind_state.h"

/* V8 has more code than this: the symbols of other files are not listed. */
#define LEAST_BYTES (16U << 20)
/* Symbols that are looked at: Node has 400,000. */
#define MAX_SYMBOLS (1U << 20)
#define NAME_BYTES  96
/* More published values than these are not compared; versions have about 500. */
#define MAX_VALUES 1024

static const char version_prefix[] = "_ZN2v88internal7Version6";
static const char published_prefix[] = "v8dbg_";

/* The names of values are compared once the version is known, so that they are read twice. */
struct search {
	const struct elf_file *file;
	struct v8_image *image;
	struct v8_agreement agreement;
	uint32_t values;
	bool compares;
};

static bool read_value(const struct elf_file *file, const struct elf_symbol *symbol,
		       int32_t *ret_value)
{
	return !elf_file_read_address(file, symbol->address, ret_value, sizeof(*ret_value));
}

static void take_symbol(struct search *search, const struct elf_symbol *symbol, const char *name)
{
	struct v8_image *image = search->image;
	int32_t value;

	if (!strncmp(name, version_prefix, sizeof(version_prefix) - 1)) {
		name += sizeof(version_prefix) - 1;
		if (!strcmp(name, "major_E") && read_value(search->file, symbol, &value))
			image->major = (uint32_t)value;
		else if (!strcmp(name, "minor_E") && read_value(search->file, symbol, &value))
			image->minor = (uint32_t)value;
		return;
	}
	if (strncmp(name, published_prefix, sizeof(published_prefix) - 1) != 0)
		return;
	search->values++;
	if (search->compares && search->values <= MAX_VALUES &&
	    read_value(search->file, symbol, &value))
		v8_layout_compare(image->layout, name + sizeof(published_prefix) - 1, value,
				  &search->agreement);
}

static int list_symbols(struct search *search)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(search->file, SHT_DYNSYM, &reader);

	if (err)
		return err;
	search->values = 0;
	for (uint32_t i = 0; i < MAX_SYMBOLS && elf_symbol_reader_next(&reader, &symbol); i++) {
		char text[NAME_BYTES];

		if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF && symbol.size == 4 &&
		    !elf_strings_read(&reader.strings, search->file, symbol.name, text,
				      sizeof(text)))
			take_symbol(search, &symbol, text);
	}
	elf_symbol_reader_close(&reader);
	return 0;
}

int v8_image_find(const struct elf_file *file, struct v8_image *ret_image)
{
	struct search search = {.file = file, .image = ret_image};

	*ret_image = (struct v8_image){0};
	if (!file->is_64 || file->size < LEAST_BYTES || list_symbols(&search) ||
	    !ret_image->major || !search.values)
		return -ENOENT;
	/* Frames of arm64 have not been compared. */
	ret_image->other_machine = PKBPF_UNWIND_ARM64 || file->machine != EM_X86_64;
	if (!ret_image->other_machine)
		ret_image->layout = v8_layout_find(ret_image->major, ret_image->minor);
	if (!ret_image->layout)
		return 0;
	search.compares = true;
	list_symbols(&search);
	ret_image->disagrees = !v8_layout_agrees(&search.agreement);
	if (ret_image->disagrees)
		ret_image->layout = NULL;
	return 0;
}

const char *v8_image_trouble(const struct v8_image *image)
{
	if (image->other_machine)
		return "its functions are read on x86-64 only";
	return image->disagrees ? "its exported offsets (v8dbg_*) do not match this version"
				: "this version is not known";
}

static bool find_sizes(const struct elf_file *file, uint32_t table, struct elf_symbol *ret_symbol)
{
	static const char wanted[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";
	struct elf_symbol_reader reader;
	bool found = false;

	if (elf_symbol_reader_open(file, table, &reader))
		return false;
	for (uint32_t i = 0;
	     i < MAX_SYMBOLS && !found && elf_symbol_reader_next(&reader, ret_symbol); i++) {
		char text[NAME_BYTES];

		found = ret_symbol->type == STT_OBJECT && ret_symbol->section != SHN_UNDEF &&
			ret_symbol->size && ret_symbol->size <= 3U * V8_MAX_BYTECODES &&
			!elf_strings_read(&reader.strings, file, ret_symbol->name, text,
					  sizeof(text)) &&
			!strcmp(text, wanted);
	}
	elf_symbol_reader_close(&reader);
	return found;
}

void v8_image_bytecode_sizes(const struct elf_file *file, struct v8_bytecode_sizes *ret_sizes)
{
	struct elf_symbol symbol;
	uint32_t count;

	*ret_sizes = (struct v8_bytecode_sizes){0};
	if (!find_sizes(file, SHT_DYNSYM, &symbol) && !find_sizes(file, SHT_SYMTAB, &symbol))
		return;
	count = (uint32_t)symbol.size / 3;
	for (uint32_t i = 0; i < 3; i++)
		if (elf_file_read_address(file, symbol.address + (uint64_t)i * count,
					  ret_sizes->bytes[i], count))
			return;
	ret_sizes->count = count;
}
