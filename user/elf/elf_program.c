// SPDX-License-Identifier: BSD-2-Clause
/* Opens ELF files of this machine's kind, and tells programs from libraries. */
#include "elf/elf_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/elf_dynamic.h"

void elf_program_free(struct elf_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	elf_file_done(file);
	free(file);
}

static int keep_program(struct elf_file *file, int err, struct elf_file **ret_file)
{
	if (!err && (!file->is_64 || (file->machine != EM_X86_64 && file->machine != EM_AARCH64) ||
		     (file->type != ET_EXEC && file->type != ET_DYN)))
		err = -ENOEXEC;
	if (err)
		elf_program_free(file);
	else
		*ret_file = file;
	return err;
}

int elf_program_open(int fd, struct elf_file **ret_file)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	err = elf_file_open(file, fd);
	file->fd = err ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!err && file->fd < 0)
		err = -errno;
	return keep_program(file, err, ret_file);
}

int elf_program_open_memory(const void *data, size_t size, struct elf_file **ret_file)
{
	struct elf_file *file = calloc(1, sizeof(*file));

	return file ? keep_program(file, elf_file_open_memory(file, data, size), ret_file)
		    : -ENOMEM;
}

uint64_t elf_program_written_ns(const struct elf_file *file)
{
	struct stat info;

	if (file->fd < 0 || fstat(file->fd, &info) < 0)
		return 0;
	return (uint64_t)info.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)info.st_mtim.tv_nsec;
}

size_t elf_program_kept_bytes(const struct elf_file *file)
{
	/* The contents of a file that somebody else serves are a copy in memory that we have
	 * sealed. */
	int seals = file->fd < 0 ? -1 : fcntl(file->fd, F_GET_SEALS);
	bool is_copy = seals >= 0 && (seals & F_SEAL_WRITE);

	return (is_copy ? file->size : 0) + sizeof(*file) +
	       file->segments.count * sizeof(*file->segments.items) +
	       file->section_count * sizeof(*file->sections) + file->names_size;
}

void elf_program_soname(const struct elf_file *file, char *buffer, size_t size)
{
	struct elf_dynamic dynamic;
	uint64_t name, available;

	buffer[0] = '\0';
	if (!elf_dynamic_read(file, &dynamic) || !dynamic.values[DT_SONAME])
		return;
	name = dynamic.values[DT_STRTAB] + dynamic.values[DT_SONAME];
	available = elf_file_bytes_after(file, name);
	if (size > available)
		size = (size_t)available + 1;
	if (elf_file_read_address(file, name, buffer, size - 1))
		size = 1;
	buffer[size - 1] = '\0';
}

enum elf_role elf_program_role(const struct elf_file *file)
{
	char soname[8];

	elf_program_soname(file, soname, sizeof(soname));
	/* glibc's can be run, and names an interpreter as programs do. */
	if (strncmp(soname, "libc.", 5) == 0 || strncmp(soname, "ld-", 3) == 0)
		return ELF_ROLE_C_LIBRARY;
	if (elf_segments_find(&file->segments, PT_INTERP))
		return ELF_ROLE_PROGRAM;
	return soname[0] == '\0' ? ELF_ROLE_STATIC_PROGRAM : ELF_ROLE_LIBRARY;
}
