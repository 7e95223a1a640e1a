// SPDX-License-Identifier: BSD-2-Clause
/* Looks chosen functions up in the libraries of this program. */
#include "source/regions/function_chosen.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

static bool is_same_file(int fd, const char *path)
{
	struct stat wanted, ours;

	return fd >= 0 && fstat(fd, &wanted) == 0 && stat(path, &ours) == 0 &&
	       wanted.st_ino == ours.st_ino && wanted.st_dev == ours.st_dev;
}

bool function_chosen_find(const struct elf_file *file, const char *name, uint64_t *ret_address)
{
	void *chosen = dlsym(RTLD_DEFAULT, name);
	struct link_map *library = NULL;
	Dl_info info;

	if (!chosen || !dladdr1(chosen, &info, (void **)&library, RTLD_DL_LINKMAP) || !library ||
	    !is_same_file(file->fd, library->l_name))
		return false;
	*ret_address = (uint64_t)(uintptr_t)chosen - library->l_addr;
	return true;
}
