// SPDX-License-Identifier: BSD-2-Clause
/* Finds USDT sites of allocators, and probes them. */
#include "source/alloc/producers.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "process/procfs_maps.h"

#define PROVIDER   "otel_memory"
#define MOST_FILES 64

/* The kernel (6.18) makes a call of such a nop, into a page that a forked child lacks: it dies. */
static bool is_deadly(int fd, const struct usdt_site *site)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	uint8_t code[sizeof(nop5)];

	return pread(fd, code, sizeof(code), (off_t)site->offset) == (ssize_t)sizeof(code) &&
	       memcmp(code, nop5, sizeof(code)) == 0;
}

/* -ENOENT: it has no such sites; -EPERM: they must not be probed. */
static int find_sites(int fd, struct producer *producer)
{
	struct elf_file file;
	int err = elf_file_open(&file, fd);

	if (err)
		return err;
	err = usdt_site_find(&file, PROVIDER, "alloc", &producer->alloc_site);
	err = err ? err : usdt_site_find(&file, PROVIDER, "free", &producer->free_site);
	elf_file_done(&file);
	if (!err && (is_deadly(fd, &producer->alloc_site) || is_deadly(fd, &producer->free_site)))
		return -EPERM;
	return err;
}

/* Takes the descriptor over, unless it fails. */
static int add(struct producers *producers, int fd)
{
	struct producer producer = {.fd = fd}, *added;
	struct stat status;
	int err;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || producers->items.count >= MOST_FILES)
		return -ENOENT;
	err = find_sites(fd, &producer);
	if (err)
		return err;
	added = array_add(&producers->items);
	if (!added)
		return -ENOMEM;
	producer.device = status.st_dev;
	producer.inode = status.st_ino;
	*added = producer;
	return 0;
}

int producers_add_file(struct producers *producers, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return error_set(error, errno, "cannot open %s: %s", path, strerror(errno));
	err = add(producers, fd);
	if (err) {
		close(fd);
		return error_set(error, -err, "cannot find the probes of %s: %s", path,
				 strerror(-err));
	}
	return 0;
}

struct search {
	struct producers *producers;
	const struct log *log;
	uint32_t pid;
	bool found;
};

static bool is_known(const struct search *search, int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return false;
	array_foreach(&search->producers->items, producer) {
		if (producer->device == status.st_dev && producer->inode == status.st_ino)
			return true;
	}
	return false;
}

static void search_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct search *search = context;
	char path[96];
	int fd, err;

	if (!(mapping->protection & 4) || mapping->path[0] != '/')
		return;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", search->pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	err = is_known(search, fd) ? -EEXIST : add(search->producers, fd);
	search->found |= !err || err == -EEXIST;
	if (err)
		close(fd);
	if (err == -EPERM)
		log_warning(
			search->log,
			"%s of pid %u tells of allocations, but is not read: a probe on its nops "
			"of five bytes would kill processes that it forks",
			mapping->path, search->pid);
}

int producers_add_process(struct producers *producers, uint32_t pid, const struct log *log,
			  struct error *error)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct search search = {.producers = producers, .log = log, .pid = pid};
	int err = proc < 0 ? -errno : procfs_maps_read(proc, pid, search_mapping, &search);

	if (err < 0)
		return error_set(error, -err, "cannot read the mappings of pid %u: %s", pid,
				 strerror(-err));
	return search.found;
}

static int attach_site(const struct producer *producer, const struct bpf_program *program,
		       const struct usdt_site *site, struct bpf_link **ret_link,
		       struct error *error)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site->semaphore_offset);
	struct bpf_link *link;
	char path[64];

	/* The file itself, whatever its name leads to by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", producer->fd);
	link = bpf_program__attach_uprobe_opts(program, -1, path, site->offset, &options);
	if (!link)
		return error_set(error, errno,
				 "cannot attach to the allocation sampler: %s; its kernel needs "
				 "CONFIG_UPROBE_EVENTS",
				 strerror(errno));
	*ret_link = link;
	return 0;
}

/* Frees first: without them every allocation would seem to stay. */
int producers_attach(struct producers *producers, const struct bpf_program *alloc,
		     const struct bpf_program *free, struct error *error)
{
	int err = 0;

	array_foreach(&producers->items, producer) {
		err = err ? err
			  : attach_site(producer, free, &producer->free_site, &producer->free_link,
					error);
		err = err ? err
			  : attach_site(producer, alloc, &producer->alloc_site,
					&producer->alloc_link, error);
	}
	return err;
}

void producers_detach(struct producers *producers)
{
	array_foreach(&producers->items, producer) {
		bpf_link__destroy(producer->alloc_link);
		bpf_link__destroy(producer->free_link);
		producer->alloc_link = producer->free_link = NULL;
	}
}

void producers_done(struct producers *producers)
{
	producers_detach(producers);
	array_foreach(&producers->items, producer)
		close(producer->fd);
	array_free(&producers->items);
}
