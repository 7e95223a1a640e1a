// SPDX-License-Identifier: BSD-2-Clause
#include "capture/session/table_scout.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "process/procfs_maps.h"
#include "unwind/table/table_cache.h"

#include <pkbpf/event.h>

struct table_scout {
	struct table_cache *tables;
	pthread_t thread;
	atomic_bool stopped;
	uint64_t time_ns;
	uint32_t pid; /* process whose mappings are being read */
};

static void take_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct table_scout *scout = context;
	struct mapping_view view = {
		.time_ns = scout->time_ns,
		.pid = scout->pid,
		.tid = scout->pid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.protection = mapping->protection,
		.from_snapshot = true,
		.path = mapping->path,
	};

	if ((mapping->protection & PKBPF_PROT_EXEC) && !atomic_load(&scout->stopped))
		table_cache_add(scout->tables, &view);
}

static void *run(void *context)
{
	struct table_scout *scout = context;
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	if (!folder)
		return NULL;
	while (!atomic_load(&scout->stopped) && (entry = readdir(folder))) {
		scout->pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (!scout->pid)
			continue;
		/* An exited process has no code that could be sampled. */
		procfs_maps_read(dirfd(folder), scout->pid, take_mapping, scout);
	}
	closedir(folder);
	return NULL;
}

struct table_scout *table_scout_start(struct table_cache *tables)
{
	struct table_scout *scout = calloc(1, sizeof(*scout));
	sigset_t all, before;
	int err;

	if (!scout)
		return NULL;
	scout->tables = tables;
	scout->time_ns = clock_now_ns();
	/* Only the main thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&scout->thread, NULL, run, scout);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		return scout;
	free(scout);
	return NULL;
}

void table_scout_stop(struct table_scout *scout)
{
	if (!scout)
		return;
	atomic_store(&scout->stopped, true);
	pthread_join(scout->thread, NULL);
	free(scout);
}
