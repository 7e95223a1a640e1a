// SPDX-License-Identifier: BSD-2-Clause
#include "source/alloc/library_embedded.h"

#include <string.h>

#ifdef PKBPF_STATIC

#include "base/array.h"
#include "source/alloc/sampler_library.h"

#define EMBED(symbol, path)                                                                        \
	__asm__(".pushsection .rodata\n"                                                           \
		".balign 16\n"                                                                     \
		".hidden " #symbol "_begin, " #symbol "_end\n"                                     \
		".globl " #symbol "_begin, " #symbol "_end\n" #symbol "_begin:\n"                  \
		".incbin \"" path "\"\n" #symbol "_end:\n"                                         \
		".popsection\n");                                                                  \
	extern const uint8_t symbol##_begin[] __attribute__((visibility("hidden")));               \
	extern const uint8_t symbol##_end[] __attribute__((visibility("hidden")))

EMBED(embedded_sampler, PKBPF_EMBEDDED_SAMPLER);
EMBED(embedded_regions, PKBPF_EMBEDDED_REGIONS);
EMBED(embedded_python_calls, PKBPF_EMBEDDED_PYTHON_CALLS);

const struct library_bytes *library_embedded(const char *name)
{
	static struct library_bytes all[] = {{.name = SAMPLER_LIBRARY_NAME},
					     {.name = REGIONS_LIBRARY_NAME},
					     {.name = PYTHON_CALLS_LIBRARY_NAME}};

	all[0].bytes = embedded_sampler_begin;
	all[0].size = (size_t)(embedded_sampler_end - embedded_sampler_begin);
	all[1].bytes = embedded_regions_begin;
	all[1].size = (size_t)(embedded_regions_end - embedded_regions_begin);
	all[2].bytes = embedded_python_calls_begin;
	all[2].size = (size_t)(embedded_python_calls_end - embedded_python_calls_begin);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

#else

const struct library_bytes *library_embedded(const char *name)
{
	(void)name;
	return NULL;
}

#endif
