// SPDX-License-Identifier: BSD-2-Clause
/* Makes symbols of the function table of a Go program. */
#include "symbol/elf/go_symbols.h"

#include <errno.h>

#include "elf/go_table.h"

static int add_functions(struct symbol_table *symbols, const struct go_table *table)
{
	int err = 0;

	for (uint64_t i = 0; i < table->function_count && !err; i++) {
		struct go_function function = go_table_function(table, i);

		if (function.size && function.name > 0 &&
		    (uint64_t)function.name < table->names_size)
			err = symbol_table_add(symbols, function.start, function.size,
					       (uint32_t)function.name, SYMBOL_RANK_LOCAL);
	}
	return err;
}

int go_symbols_read(const struct elf_file *file, struct elf_symbols *ret_symbols)
{
	struct elf_symbols symbols = {0};
	struct go_table table;
	int err = go_table_find(file, &table);

	if (err)
		return err;
	err = go_table_load(&table, file, table.functions_offset, GO_SYMBOLS_MAX_BYTES);
	if (!err)
		err = add_functions(&symbols.table, &table);
	if (!err)
		err = symbol_table_finish(&symbols.table, NULL, 0);
	if (!err && symbols.table.count == 0)
		err = -ENOENT;
	go_table_done(&table);
	if (err) {
		elf_symbols_done(&symbols);
		return err;
	}
	symbols.names.offset = table.offset + table.names_offset;
	symbols.names.size = table.names_size;
	*ret_symbols = symbols;
	return 0;
}
