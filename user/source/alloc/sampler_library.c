// SPDX-License-Identifier: BSD-2-Clause
/* Finds the sampler by the place of our own executable, which who could change it had replaced. */
#include "source/alloc/sampler_library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "source/alloc/library_embedded.h"
#include "source/alloc/library_unpack.h"

static int unpack(const struct library_bytes *library, char *path, size_t size, struct error *error)
{
	int err = library_unpack(library, library_folders, path, size);

	return err ? error_set(error, -err,
			       "cannot put %s where programs can load it (/run/pkbpf and others): "
			       "%s; it takes a folder of a file system that may hold programs",
			       library->name, strerror(-err))
		   : 0;
}

int preload_library_find(const char *name, char *path, size_t size, struct error *error)
{
	/* from the folder of the executable */
	static const char *const places[] = {"", PKBPF_SAMPLER_FOLDER "/"};
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const struct library_bytes *embedded = library_embedded(name);
	char *slash;

	if (length < 0)
		return error_set(error, errno, "cannot find %s: %s", name, strerror(errno));
	own[length] = '\0';
	slash = strrchr(own, '/');
	if (slash)
		slash[1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char tried[2 * PATH_MAX], real[PATH_MAX];

		snprintf(tried, sizeof(tried), "%s%s%s", own, places[i], name);
		if (realpath(tried, real) && strlen(real) < size) {
			strcpy(path, real);
			return 0;
		}
	}
	if (embedded)
		return unpack(embedded, path, size, error);
	return error_set(error, ENOENT,
			 "cannot find %s beside %spkbpf or in %s" PKBPF_SAMPLER_FOLDER
			 "; install pkbpf completely",
			 name, own, own);
}

int sampler_library_find(char *path, size_t size, struct error *error)
{
	return preload_library_find(SAMPLER_LIBRARY_NAME, path, size, error);
}
