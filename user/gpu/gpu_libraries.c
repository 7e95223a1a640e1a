// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/gpu_libraries.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text_append.h"

/* Python packages put a hash behind them: libcudart-d0da41ae.so.11.0. */
static const char *const runtimes[] = {"libcudart", "libamdhip64"};

static const char *const names[] = {"libcuda.so.1",	 "libcudart.so.13",  "libcudart.so.12",
				    "libcudart.so.11.0", "libamdhip64.so.7", "libamdhip64.so.6",
				    "libamdhip64.so.5"};
static const char *const folders[] = {"/lib/x86_64-linux-gnu", "/usr/lib64",
				      "/usr/local/cuda/lib64", "/usr/lib/wsl/lib", "/opt/rocm/lib"};

const char *gpu_library_name_at(size_t index)
{
	return index < ARRAY_SIZE(names) ? names[index] : NULL;
}

const char *gpu_library_folder_at(size_t index)
{
	return index < ARRAY_SIZE(folders) ? folders[index] : NULL;
}

bool gpu_library_is_runtime(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
			return strstr(name, ".so");
	return false;
}

size_t gpu_libraries_find(const char *root, char *ret_text, size_t size)
{
	char path[PATH_MAX];
	size_t count = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			snprintf(path, sizeof(path), "%s%s/%s", root, folders[i], names[j]);
			if (access(path, R_OK))
				continue;
			text_append(ret_text, size, "%s%s (%s)", count++ ? ", " : "", names[j],
				    folders[i]);
		}
	}
	return count;
}
