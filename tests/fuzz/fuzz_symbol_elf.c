// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the ELF reader: headers, build id, symbol tables, stubs and packed debug
 * information. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "symbol/elf/build_id.h"
#include "symbol/elf/elf_module.h"
#include "symbol/elf/elf_plt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct elf_module *module, const uint8_t *data, uint64_t address)
{
	static char name[ELF_SYMBOL_NAME_SIZE];
	const struct symbol_entry *entry;

	if (elf_module_find(module, -1, data, address, name, sizeof(name), &entry) == 0 && entry &&
	    address - entry->address >= entry->size)
		abort();
	elf_module_locate(module, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct elf_module_options options = {
		.search = {.root = "", .debug_dir = "", .path = ""}};
	struct elf_module module;
	struct elf_file file;
	struct build_id id;
	uint64_t address;

	if (elf_file_open_memory(&file, data, size))
		return 0;
	build_id_read(&file, &id);
	elf_segments_address(file.segments, file.segment_count, 0x1000, &address);
	elf_module_load(&module, &file, &options);
	elf_file_done(&file);
	for (size_t i = 0; i < module.source_count; i++) {
		const struct symbol_table *table = &module.sources[i].symbols.table;

		for (size_t j = 0; j < table->count && j < 64; j++)
			look_up(&module, data, table->entries[j].address);
	}
	for (size_t i = 0; i < module.stub_count; i++) {
		look_up(&module, data, module.stubs[i].start);
		look_up(&module, data, module.stubs[i].start + 20);
		look_up(&module, data, module.stubs[i].end - 1);
	}
	look_up(&module, data, 0);
	look_up(&module, data, UINT64_MAX);
	elf_module_done(&module);
	return 0;
}
