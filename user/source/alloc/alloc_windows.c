// SPDX-License-Identifier: BSD-2-Clause
/* Attaches probes for a while, and takes them off again. */
#include "source/alloc/alloc_windows.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pkbpf/config.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "capture/kernel/kernel_types.h"
#include "process/procfs_maps.h"
#include "source/alloc/allocator_sites.h"
#include "source/uprobe_links.h"

#include "pkbpf.skel.h"

#define WINDOW_NS	 (20 * NS_PER_MS)
#define PERIOD_NS	 NS_PER_SECOND
#define JITTER_NS	 (PERIOD_NS / 5)
#define DEFAULT_INTERVAL (16 << 10)
/* A breakpoint each while a window is open. */
#define MOST_FILES 64
#define STEPS	   256
/* Looks for what was mapped since take a hundredth of a CPU at most. */
#define LOOK_REST 99
/* Files of processes that map new ones all the time. */
#define MOST_SEEN 65536

struct probed_file {
	int fd;
	uint32_t pid;
	dev_t device;
	ino_t inode;
	struct allocator_sites sites;
};

struct alloc_windows {
	struct bpf_program *programs[PKBPF_ALLOC_SHAPES];
	struct pkbpf_alloc_control *control;
	struct uprobe_links links;
	ARRAY_OF(struct probed_file) files;
	ARRAY_OF(uint32_t) pids;
	struct hash_map seen; /* hashes of process and file: those that were looked at */
	uint64_t seed, next_look_ns;
	const struct log *log;
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop; /* under lock */
	bool warned;
	uint64_t count;
};

static void choose_programs(struct alloc_windows *windows, struct pkbpf_bpf *skeleton)
{
	struct bpf_program *const programs[PKBPF_ALLOC_SHAPES] = {
		[PKBPF_ALLOC_FIRST] = skeleton->progs.alloc_call_first,
		[PKBPF_ALLOC_SECOND] = skeleton->progs.alloc_call_second,
		[PKBPF_ALLOC_THIRD] = skeleton->progs.alloc_call_third,
		[PKBPF_ALLOC_PRODUCT] = skeleton->progs.alloc_call_product,
		[PKBPF_ALLOC_AGAIN] = skeleton->progs.alloc_call_again,
	};
	bool multi = windows->links.uses_multi;

	bpf_map__set_autocreate(skeleton->maps.alloc_countdowns, true);
	bpf_program__set_autoload(skeleton->progs.alloc_call, multi);
	uprobe_links_prepare(&windows->links, skeleton->progs.alloc_call);
	for (size_t i = 0; i < PKBPF_ALLOC_SHAPES; i++) {
		windows->programs[i] = multi ? skeleton->progs.alloc_call : programs[i];
		bpf_program__set_autoload(programs[i], !multi);
	}
}

int alloc_windows_new(struct pkbpf_bpf *skeleton, const struct kernel_types *types,
		      uint64_t interval_bytes, struct alloc_windows **ret_windows)
{
	struct alloc_windows *windows = calloc(1, sizeof(*windows));
	pthread_condattr_t clock;

	if (!windows)
		return -ENOMEM;
	windows->control = &skeleton->bss->alloc_control;
	windows->seed = hash_random_seed();
	windows->links.uses_multi =
		kernel_types_find(types, BTF_KIND_STRUCT, KERNEL_TYPE_UPROBE_MULTI);
	choose_programs(windows, skeleton);
	for (size_t i = 0; i < STEPS; i++)
		skeleton->rodata->alloc_logarithms[i] =
			(uint32_t)(-log(((double)i + 0.5) / STEPS) * 65536);
	skeleton->rodata->alloc_interval = interval_bytes ? interval_bytes : DEFAULT_INTERVAL;
	pthread_mutex_init(&windows->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&windows->wake, &clock);
	pthread_condattr_destroy(&clock);
	*ret_windows = windows;
	return 0;
}

struct search {
	struct alloc_windows *windows;
	uint32_t pid;
	int found;
	unsigned int left_out;
};

static uint64_t key_of(const struct search *search, const struct procfs_mapping *mapping)
{
	uint64_t words[] = {search->pid, mapping->inode,
			    (uint64_t)mapping->device_major << 32 | mapping->device_minor};

	return hash_bytes(words, sizeof(words), search->windows->seed);
}

static bool is_known(const struct search *search, const struct stat *status)
{
	array_foreach(&search->windows->files, file) {
		if (file->pid == search->pid && file->device == status->st_dev &&
		    file->inode == status->st_ino)
			return true;
	}
	return false;
}

static int add_file(struct search *search, int fd, const struct stat *status)
{
	struct allocator_sites sites = {0};
	struct probed_file *added = NULL;
	struct elf_file file;

	if (elf_file_open(&file, fd))
		return -ENOEXEC;
	if (allocator_sites_find(&file, &sites) == 0 && sites.items.count) {
		if (search->windows->files.count < MOST_FILES)
			added = array_add(&search->windows->files);
		else
			search->left_out++;
	}
	elf_file_done(&file);
	if (!added) {
		array_free(&sites.items);
		return -ENOENT;
	}
	*added = (struct probed_file){.fd = fd,
				      .pid = search->pid,
				      .device = status->st_dev,
				      .inode = status->st_ino,
				      .sites = sites};
	search->found += (int)sites.items.count;
	return 0;
}

/* The file itself, whatever its name leads to by now. */
static void search_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct search *search = context;
	struct hash_map *seen = &search->windows->seen;
	uint64_t key = key_of(search, mapping);
	struct stat status;
	char path[96];
	int fd;

	if (!(mapping->protection & 4) || mapping->path[0] != '/' || hash_map_find(seen, key))
		return;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", search->pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	/* What is not remembered is looked at again. */
	if (seen->count < MOST_SEEN)
		hash_map_put(seen, key, 1);
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || is_known(search, &status) ||
	    add_file(search, fd, &status))
		close(fd);
}

static int search_process(struct search *search)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return proc < 0 ? -errno : procfs_maps_read(proc, search->pid, search_mapping, search);
}

static void warn_of_left_out(const struct search *search, const struct log *log)
{
	if (search->left_out)
		log_warning(log,
			    "allocations of pid %u in %u more files with allocators are not "
			    "watched: limit of %d files; choose fewer processes",
			    search->pid, search->left_out, MOST_FILES);
}

int alloc_windows_add(struct alloc_windows *windows, uint32_t pid, const struct log *log,
		      struct error *error)
{
	struct search search = {.windows = windows, .pid = pid};
	uint32_t *added = array_add(&windows->pids);
	int err = added ? search_process(&search) : -ENOMEM;

	if (added)
		*added = pid;
	if (err < 0)
		return error_set(error, -err, "cannot read the mappings of pid %u: %s", pid,
				 strerror(-err));
	if (search.left_out && !search.found)
		return error_set(
			error, ENOSPC,
			"cannot watch allocations of pid %u: %d files with allocators, the "
			"most, are those of processes before it; choose fewer",
			pid, MOST_FILES);
	warn_of_left_out(&search, log);
	return search.found;
}

/* Files that were mapped since the last look: libraries opened late, another program. */
static void look_again(struct alloc_windows *windows)
{
	uint64_t begun_ns = clock_now_ns(), ended_ns;

	if (begun_ns < windows->next_look_ns)
		return;
	array_foreach(&windows->pids, pid) {
		struct search search = {.windows = windows, .pid = *pid};

		/* One that has ended maps nothing any more. */
		if (search_process(&search) < 0)
			continue;
		warn_of_left_out(&search, windows->log);
		if (search.found)
			log_info(windows->log,
				 "pid %u has mapped %d more allocators, which are watched from now "
				 "on",
				 *pid, search.found);
	}
	ended_ns = clock_now_ns();
	windows->next_look_ns = ended_ns + LOOK_REST * (ended_ns - begun_ns);
}

/* One link for all of a file, or one for each function. */
static int probe_file(struct alloc_windows *windows, const struct probed_file *file)
{
	uint64_t offsets[ALLOCATOR_SITES_MAX], shapes[ALLOCATOR_SITES_MAX];
	struct uprobe_places places = {.fd = file->fd,
				       .pid = file->pid,
				       .offsets = offsets,
				       .cookies = windows->links.uses_multi ? shapes : NULL};
	int err = 0;

	array_foreach(&file->sites.items, site) {
		offsets[places.count] = site->offset;
		shapes[places.count++] = site->shape;
		if (windows->links.uses_multi)
			continue;
		err = err ? err
			  : uprobe_links_add(&windows->links, windows->programs[site->shape],
					     &places);
		places.count = 0;
	}
	if (places.count)
		err = uprobe_links_add(&windows->links, windows->programs[0], &places);
	/* The process has ended. */
	return err == -ESRCH ? 0 : err;
}

static int open_window(struct alloc_windows *windows)
{
	int err = 0;

	array_foreach(&windows->files, file)
		err = err ? err : probe_file(windows, file);
	return err;
}

static void wait_until(struct alloc_windows *windows, uint64_t time_ns)
{
	struct timespec until = {.tv_sec = (time_t)(time_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(time_ns % NS_PER_SECOND)};
	int err = 0;

	while (!windows->stop && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&windows->wake, &windows->lock, &until);
}

static void watch(struct alloc_windows *windows)
{
	int err;

	pthread_mutex_unlock(&windows->lock);
	look_again(windows);
	err = open_window(windows);
	pthread_mutex_lock(&windows->lock);
	if (!err)
		windows->count++;
	else if (!windows->warned)
		log_warning(
			windows->log,
			"cannot watch allocations: %s; such moments are not counted, it is tried "
			"again each second",
			strerror(-err));
	windows->warned = windows->warned || err;
	__atomic_store_n(&windows->control->window_is_open, !err, __ATOMIC_RELEASE);
	wait_until(windows, clock_now_ns() + WINDOW_NS);
	__atomic_store_n(&windows->control->window_is_open, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&windows->lock);
	uprobe_links_remove(&windows->links);
	pthread_mutex_lock(&windows->lock);
}

/* At times that no program follows. */
static void *run(void *context)
{
	struct alloc_windows *windows = context;
	uint64_t next_ns = clock_now_ns();
	unsigned int seed = (unsigned int)next_ns;

	pthread_mutex_lock(&windows->lock);
	while (!windows->stop) {
		watch(windows);
		next_ns += PERIOD_NS;
		if (next_ns < clock_now_ns())
			next_ns = clock_now_ns() + PERIOD_NS;
		wait_until(windows,
			   next_ns - JITTER_NS + (uint64_t)rand_r(&seed) % (2 * JITTER_NS));
	}
	pthread_mutex_unlock(&windows->lock);
	return NULL;
}

int alloc_windows_start(struct alloc_windows *windows, const struct log *log, struct error *error)
{
	int err;

	windows->log = log;
	err = pthread_create(&windows->thread, NULL, run, windows);
	if (err)
		return error_set(error, err, "cannot watch allocations: %s", strerror(err));
	windows->running = true;
	return 0;
}

uint64_t alloc_windows_stop(struct alloc_windows *windows)
{
	if (!windows || !windows->running)
		return 0;
	pthread_mutex_lock(&windows->lock);
	windows->stop = true;
	pthread_cond_signal(&windows->wake);
	pthread_mutex_unlock(&windows->lock);
	pthread_join(windows->thread, NULL);
	windows->running = false;
	return windows->count;
}

void alloc_windows_free(struct alloc_windows *windows)
{
	if (!windows)
		return;
	alloc_windows_stop(windows);
	array_foreach(&windows->files, file) {
		close(file->fd);
		array_free(&file->sites.items);
	}
	array_free(&windows->files);
	array_free(&windows->pids);
	hash_map_done(&windows->seen);
	pthread_cond_destroy(&windows->wake);
	pthread_mutex_destroy(&windows->lock);
	free(windows);
}
