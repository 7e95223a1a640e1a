// SPDX-License-Identifier: BSD-2-Clause
/* Searches hostile files for functions of GPU libraries, and takes their bytes as symbols. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/gpu_calls/gpu_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_site(const struct elf_file *file, const struct region_site *site)
{
	const struct pkbpf_span_site *description = &site->description;

	if (site->offset >= file->size || !gpu_function_at(PKBPF_GPU_CALL_OF(description->pair)))
		abort();
	if (description->role == PKBPF_SITE_RETURN)
		return;
	/* What the program takes for the library's code has the function in it. */
	if (description->library.bytes && description->library.before >= description->library.bytes)
		abort();
}

static void check_file(const uint8_t *data, size_t size)
{
	struct gpu_function_sites sites;
	struct elf_file file;

	if (elf_file_open_memory(&file, data, size) < 0)
		return;
	if (gpu_function_sites_find(&file, true, &sites) == 0) {
		array_foreach(&sites.sites.items, site)
			check_site(&file, site);
		gpu_function_sites_done(&sites);
	}
	elf_file_done(&file);
}

static void check_symbol(const uint8_t *data, size_t size)
{
	char symbol[256], name[24];
	size_t length = size < sizeof(symbol) - 1 ? size : sizeof(symbol) - 1;

	memcpy(symbol, data, length);
	symbol[length] = '\0';
	gpu_function_find(symbol);
	if (!gpu_function_is_inner(symbol, name, sizeof(name)))
		return;
	if (!strlen(name) || strlen(name) >= sizeof(name) || !strstr(symbol, name))
		abort();
	gpu_function_find(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_symbol(data, size);
	check_file(data, size);
	return 0;
}
