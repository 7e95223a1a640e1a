// SPDX-License-Identifier: BSD-2-Clause
#include "code_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf_recipe.h"

bool code_file_write(struct code_file *code, const void *contents, size_t size, size_t text_size)
{
	struct stat found;
	bool written;
	int fd;

	strcpy(code->path, "/tmp/pkbpf-code-XXXXXX");
	fd = mkstemp(code->path);
	if (fd < 0)
		return false;
	written = write(fd, contents, size) == (ssize_t)size && fstat(fd, &found) == 0;
	close(fd);
	if (!written)
		return false;
	code->mapping = (struct mapping_view){
		.time_ns = clock_now_ns(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.start = CODE_FILE_MAP_START,
		.end = CODE_FILE_MAP_START + text_size,
		.file_offset = ELF_RECIPE_TEXT_OFFSET,
		.inode = found.st_ino,
		.device_major = major(found.st_dev),
		.device_minor = minor(found.st_dev),
		.protection = PROT_READ | PROT_EXEC,
		.path = code->path,
	};
	return true;
}

void code_file_remove(struct code_file *code)
{
	if (code->path[0])
		unlink(code->path);
	code->path[0] = 0;
}
