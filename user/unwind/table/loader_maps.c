// SPDX-License-Identifier: BSD-2-Clause
/* Maps the unwinder's arrays into this process and creates chunks of rows. */
#include "unwind/table/loader_maps.h"

#include "base/unused.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_BYTES (PKBPF_CHUNK_ROWS * sizeof(uint32_t))
/* Longer than any unwind; for kernels that cannot wait for readers. */
#define READERS_DONE_US 100000

static size_t page_align(size_t size)
{
	size_t mask = (size_t)sysconf(_SC_PAGESIZE) - 1;

	return (size + mask) & ~mask;
}

static int map_entries(int fd, uint32_t *ret_count)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	*ret_count = info.max_entries;
	return 0;
}

static int map_array(int fd, size_t item_size, void **ret_items, uint32_t *ret_count)
{
	int err = map_entries(fd, ret_count);
	void *items;

	if (err)
		return err;
	items = mmap(NULL, page_align(*ret_count * item_size), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (items == MAP_FAILED)
		return -errno;
	*ret_items = items;
	return 0;
}

static void unmap_array(void *items, size_t item_size, uint32_t count)
{
	if (items)
		munmap(items, page_align(count * item_size));
}

/* One wait of the kernel for all chunks as a batch (from 5.13), else one for each. */
static int install_chunks(struct loader_memory *memory, uint32_t first, uint32_t count)
{
	uint32_t keys[CHUNK_POOL_GROW_AT_ONCE] = {0}, done = count;

	for (uint32_t i = 0; i < count; i++)
		keys[i] = first + i;
	if (bpf_map_update_batch(memory->fds.rows, keys, &memory->chunk_fds[first], &done, NULL) ==
	    0)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		if (bpf_map_update_elem(memory->fds.rows, &keys[i], &memory->chunk_fds[first + i],
					BPF_ANY))
			return -errno;
	}
	return 0;
}

static void drop_chunk(struct loader_memory *memory, uint32_t index, uint32_t *rows)
{
	if (rows)
		munmap(rows, CHUNK_BYTES);
	if (memory->chunk_fds[index] >= 0)
		close(memory->chunk_fds[index]);
	memory->chunk_fds[index] = -1;
}

static int create_chunks(void *context, uint32_t first, uint32_t count, uint32_t **ret_rows)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct loader_memory *memory = context;
	uint32_t made = 0;
	int err = 0;

	for (; made < count && !err; made++) {
		void *rows = MAP_FAILED;
		int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", sizeof(uint32_t),
					CHUNK_BYTES, 1, &options);

		memory->chunk_fds[first + made] = fd < 0 ? -1 : fd;
		if (fd >= 0)
			rows = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = rows == MAP_FAILED ? -errno : 0;
		ret_rows[made] = err ? NULL : rows;
	}
	if (!err)
		err = install_chunks(memory, first, count);
	for (uint32_t i = 0; err && i < made; i++)
		drop_chunk(memory, first + i, ret_rows[i]);
	return err;
}

static void destroy_chunk(void *context, uint32_t index, uint32_t *rows)
{
	drop_chunk(context, index, rows);
}

static void wait_for_readers(_unused_ void *context)
{
	/* Tracing programs run inside RCU read sections; membarrier() waits for all that have
	 * begun. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		usleep(READERS_DONE_US);
}

int loader_memory_open(const struct unwind_loader_maps *maps, struct loader_memory *memory,
		       struct error *error)
{
	struct table_memory *tables = &memory->tables;
	int err;

	*memory = (struct loader_memory){.fds = *maps};
	err = map_entries(maps->rows, &memory->chunk_count);
	err = err ? err : map_entries(maps->processes, &memory->process_count);
	err = err ? err
		  : map_array(maps->mappings, sizeof(*memory->mappings), (void **)&memory->mappings,
			      &memory->mapping_count);
	err = err ? err
		  : map_array(maps->rules, sizeof(*tables->rules), (void **)&tables->rules,
			      &tables->rule_count);
	err = err ? err
		  : map_array(maps->files, sizeof(*tables->files), (void **)&tables->files,
			      &tables->file_count);
	err = err ? err
		  : map_array(maps->pages, sizeof(*tables->pages), (void **)&tables->pages,
			      &tables->page_count);
	if (!err) {
		memory->chunk_fds = malloc(memory->chunk_count * sizeof(*memory->chunk_fds));
		err = memory->chunk_fds ? 0 : -ENOMEM;
	}
	if (err) {
		loader_memory_close(memory);
		return error_set(error, -err, "cannot map the tables of the stack unwinder: %s",
				 strerror(-err));
	}
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		memory->chunk_fds[i] = -1;
	tables->chunks = (struct chunk_backing){create_chunks, destroy_chunk, memory};
	tables->wait_for_readers = wait_for_readers;
	return 0;
}

void loader_memory_close(struct loader_memory *memory)
{
	struct table_memory *tables = &memory->tables;

	unmap_array(memory->mappings, sizeof(*memory->mappings), memory->mapping_count);
	unmap_array(tables->rules, sizeof(*tables->rules), tables->rule_count);
	unmap_array(tables->files, sizeof(*tables->files), tables->file_count);
	unmap_array(tables->pages, sizeof(*tables->pages), tables->page_count);
	free(memory->chunk_fds);
	*memory = (struct loader_memory){0};
}
