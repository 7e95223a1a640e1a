// SPDX-License-Identifier: BSD-2-Clause
/* Feeds hostile files to the search for a variable of threads. */
#include <stdlib.h>

#include "elf/elf_file.h"
#include "elf/tls_variable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tls_variable variable;
	struct elf_file file;

	if (elf_file_open_memory(&file, data, size))
		return 0;
	if (tls_variable_find(&file, "otel_thread_ctx_v1", &variable) == 0 && !variable.model)
		abort();
	elf_file_done(&file);
	return 0;
}
