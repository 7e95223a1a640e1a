// SPDX-License-Identifier: BSD-2-Clause
/* Walks folders for ELF files. */
#include "elf_walk.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	char *path;
	uint64_t size;
};

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

/* For the architecture that tables are built for here. */
static bool is_own_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header;
	bool found;

	if (fd < 0)
		return false;
	found = pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
		memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
		header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == OWN_MACHINE &&
		(header.e_type == ET_EXEC || header.e_type == ET_DYN);
	close(fd);
	return found;
}

static void add_file(struct elf_walk *walk, const char *path, uint64_t size)
{
	if (walk->count == walk->capacity) {
		walk->capacity = walk->capacity ? walk->capacity * 2 : 1024;
		walk->paths = realloc(walk->paths, walk->capacity * sizeof(*walk->paths));
		walk->sizes = realloc(walk->sizes, walk->capacity * sizeof(*walk->sizes));
		if (!walk->paths || !walk->sizes)
			err(1, "list of files");
	}
	walk->paths[walk->count] = strdup(path);
	if (!walk->paths[walk->count])
		err(1, "list of files");
	walk->sizes[walk->count++] = size;
}

void elf_walk_add(struct elf_walk *walk, const char *path)
{
	char *roots[] = {strdup(path), NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_XDEV, NULL);
	FTSENT *entry;

	if (!tree)
		err(1, "%s", path);
	while ((entry = fts_read(tree)))
		if (entry->fts_info == FTS_F && is_own_code(entry->fts_accpath))
			add_file(walk, entry->fts_path, (uint64_t)entry->fts_statp->st_size);
	fts_close(tree);
	free(roots[0]);
}

static uint64_t hash_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (const char *c = slash ? slash + 1 : path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	return hash >> 32;
}

void elf_walk_thin(struct elf_walk *walk)
{
	const char *text = getenv("PKBPF_FILE_STRIDE");
	uint64_t stride = text ? strtoull(text, NULL, 10) : 1;
	size_t kept = 0;

	for (size_t i = 0; i < walk->count; i++) {
		if (stride > 1 && hash_name(walk->paths[i]) % stride != 0) {
			free(walk->paths[i]);
			continue;
		}
		walk->paths[kept] = walk->paths[i];
		walk->sizes[kept++] = walk->sizes[i];
	}
	walk->count = kept;
}

static int compare_files(const void *left, const void *right)
{
	const struct file *a = left;
	const struct file *b = right;

	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return strcmp(a->path, b->path);
}

static bool same_inode(const char *left, const char *right)
{
	struct stat a;
	struct stat b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

void elf_walk_sort(struct elf_walk *walk)
{
	struct file *files = calloc(walk->count + 1, sizeof(*files));
	size_t kept = 0;

	if (!files)
		err(1, "list of files");
	for (size_t i = 0; i < walk->count; i++)
		files[i] = (struct file){walk->paths[i], walk->sizes[i]};
	qsort(files, walk->count, sizeof(*files), compare_files);
	for (size_t i = 0; i < walk->count; i++) {
		bool seen = false;

		/* Links to one inode have one size, so they are near each other. */
		for (size_t j = kept; j > 0 && walk->sizes[j - 1] == files[i].size && !seen; j--)
			seen = same_inode(walk->paths[j - 1], files[i].path);
		if (seen) {
			free(files[i].path);
			continue;
		}
		walk->paths[kept] = files[i].path;
		walk->sizes[kept++] = files[i].size;
	}
	walk->count = kept;
	free(files);
}

void elf_walk_done(struct elf_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		free(walk->paths[i]);
	free(walk->paths);
	free(walk->sizes);
	*walk = (struct elf_walk){0};
}
