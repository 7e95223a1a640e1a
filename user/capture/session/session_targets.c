// SPDX-License-Identifier: BSD-2-Clause
/* The targets of a session: processes given, processes followed, and their earlier mappings. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/session/session_private.h"
#include "capture/session/target_entry.h"
#include "capture/session/target_tree.h"
#include "process/cgroup/cgroup.h"
#include "process/procfs_status.h"
#include "process/snapshot.h"

#include "pkbpf.skel.h"

int session_copy_options(struct session *session, const struct session_options *options)
{
	session->options = *options;
	session->pids.items = calloc(options->pid_count + 1, sizeof(*session->pids.items));
	session->pids.capacity = options->pid_count + 1;
	session->tids = calloc(options->tid_count + 1, sizeof(*session->tids));
	session->comm = options->comm ? strdup(options->comm) : NULL;
	if (!session->pids.items || !session->tids || (options->comm && !session->comm))
		return -ENOMEM;
	if (options->pid_count)
		memcpy(session->pids.items, options->pids,
		       options->pid_count * sizeof(*options->pids));
	session->pids.count = options->pid_count;
	if (options->tid_count)
		memcpy(session->tids, options->tids, options->tid_count * sizeof(*session->tids));
	session->options.pids = session->pids.items;
	session->options.tids = session->tids;
	session->options.comm = session->comm;
	return 0;
}

/* Adds the pids from index `first` of the list on. */
static int add_target_pids(const struct session *session, size_t first,
			   enum pkbpf_target_reason reason, struct error *error)
{
	int fd = bpf_map__fd(session->skeleton->maps.target_pids);

	for (size_t i = first; i < session->pids.count; i++) {
		uint32_t pid = session->pids.items[i];
		struct pkbpf_target target = target_entry_of("/proc", pid, reason);

		if (bpf_map_update_elem(fd, &pid, &target, BPF_ANY))
			return error_set(error, errno, "cannot add pid %u to the targets: %s", pid,
					 strerror(errno));
	}
	__atomic_fetch_add(&session->skeleton->bss->process_generation, 1, __ATOMIC_SEQ_CST);
	return 0;
}

/* A place that is used again had another one. */
static int note_cgroup_id(struct session *session, size_t place, uint64_t id)
{
	int fd = bpf_map__fd(session->skeleton->maps.target_cgroup_ids);
	uint8_t one = 1;

	if (session->cgroup_ids[place])
		bpf_map_delete_elem(fd, &session->cgroup_ids[place]);
	session->cgroup_ids[place] = id;
	return bpf_map_update_elem(fd, &id, &one, BPF_ANY) ? -errno : 0;
}

int session_set_cgroup(struct session *session, size_t place, const char *path, struct error *error)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct pkbpf_bpf__bss *bss = session->skeleton->bss;
	uint32_t key = (uint32_t)place;
	struct stat status;
	int err;

	if (place >= PKBPF_TARGET_CGROUPS_MAX)
		return error_set(error, ERANGE,
				 "cannot watch cgroup %s: more than %d cgroups are chosen", path,
				 PKBPF_TARGET_CGROUPS_MAX);
	if (fd < 0 || fstat(fd, &status))
		return error_set(error, errno,
				 "cannot open cgroup %s: %s; use the path of its directory", path,
				 strerror(errno));
	if (bpf_map_update_elem(bpf_map__fd(session->skeleton->maps.target_cgroup), &key, &fd,
				BPF_ANY))
		return error_set(error, errno,
				 "cannot watch cgroup %s: %s; use a directory of the cgroup v2 "
				 "hierarchy (/sys/fs/cgroup, or "
				 "/sys/fs/cgroup/unified)",
				 path, strerror(errno));
	err = note_cgroup_id(session, place, status.st_ino);
	if (err)
		return error_set(error, -err, "cannot watch cgroup %s: %s", path, strerror(-err));
	if (bss->target_cgroup_count <= place)
		__atomic_store_n(&bss->target_cgroup_count, (uint32_t)place + 1, __ATOMIC_RELEASE);
	return 0;
}

int session_fill_targets(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	int err = add_target_pids(session, 0, PKBPF_TARGET_NAMED, error);

	if (err)
		return err;
	for (size_t i = 0; i < options->tid_count; i++) {
		struct pkbpf_target target =
			target_entry_of("/proc", options->tids[i], PKBPF_TARGET_NAMED);

		if (bpf_map_update_elem(bpf_map__fd(session->skeleton->maps.target_tids),
					&options->tids[i], &target, BPF_ANY))
			return error_set(error, errno, "cannot add thread %u to the targets: %s",
					 options->tids[i], strerror(errno));
	}
	for (size_t i = 0; !err && options->cgroups && i < options->cgroups->count; i++)
		err = session_set_cgroup(session, i, options->cgroups->items[i], error);
	return err;
}

static void forget_if_ended(int map_fd, uint32_t tid)
{
	struct pkbpf_target entry;
	bool has_ended = kill((pid_t)tid, 0) && errno == ESRCH;

	if (bpf_map_lookup_elem(map_fd, &tid, &entry) == 0 &&
	    (has_ended || target_entry_is_stale("/proc", tid, &entry)))
		bpf_map_delete_elem(map_fd, &tid);
}

void session_forget_ended_targets(const struct session *session)
{
	for (size_t i = 0; i < session->pids.count; i++)
		forget_if_ended(bpf_map__fd(session->skeleton->maps.target_pids),
				session->pids.items[i]);
	for (size_t i = 0; i < session->options.tid_count; i++)
		forget_if_ended(bpf_map__fd(session->skeleton->maps.target_tids), session->tids[i]);
	__atomic_fetch_add(&session->skeleton->bss->process_generation, 1, __ATOMIC_SEQ_CST);
}

int session_add_relatives(struct session *session, struct error *error)
{
	size_t named = session->pids.count;
	int err;

	if (session->options.target_mode != PKBPF_TARGET_PROCESS)
		return 0;
	err = target_tree_expand("/proc", session->options.follow, &session->pids);
	session->options.pids = session->pids.items;
	if (err)
		return error_set(error, -err,
				 "cannot find the children of the targets in /proc: %s",
				 strerror(-err));
	return add_target_pids(session, named, PKBPF_TARGET_FOLLOWED, error);
}

int session_targets_now(const struct session *session, struct u32_list *ret_pids)
{
	const struct bpf_map *map = session->skeleton->maps.target_pids;
	uint32_t limit = bpf_map__max_entries(map), key;
	bool more = bpf_map_get_next_key(bpf_map__fd(map), NULL, &key) == 0;

	if (!array_reserve(ret_pids, 1))
		return -ENOMEM;
	/* Bounded: elements deleted meanwhile may restart the iteration. */
	for (uint32_t i = 0; more && i < limit; i++) {
		uint32_t *pid = array_add(ret_pids);

		if (!pid)
			return -ENOMEM;
		*pid = key;
		more = bpf_map_get_next_key(bpf_map__fd(map), &key, &key) == 0;
	}
	return 0;
}

int session_take_snapshot(struct session *session, uint64_t time_ns, struct error *error)
{
	const struct session_options *options = &session->options;
	_cleanup_free_ uint32_t *owners = NULL;
	struct u32_list followed = {0};
	const uint32_t *pids = NULL;
	size_t count = 0;
	struct snapshot_stats stats;
	int err;

	if (options->target_mode == PKBPF_TARGET_PROCESS) {
		err = session_targets_now(session, &followed);
		owners = followed.items;
		if (err)
			return error_set(error, -err,
					 "cannot read the targets back from the kernel: %s",
					 strerror(-err));
		pids = owners;
		count = followed.count;
	} else if (options->target_mode == PKBPF_TARGET_THREAD) {
		owners = calloc(options->tid_count, sizeof(*owners));
		if (!owners)
			return error_set(error, ENOMEM,
					 "cannot read the running processes: out of memory");
		for (size_t i = 0; i < options->tid_count; i++) {
			owners[count] = procfs_process_of_thread(options->tids[i]);
			count += owners[count] != 0;
		}
		pids = owners;
	}
	err = snapshot_processes("/proc", pids, count, time_ns, &session->buffer, &stats);
	if (err)
		return error_set(error, -err, "cannot read the running processes from /proc: %s",
				 strerror(-err));
	log_debug(options->log, "snapshot: %zu processes, %zu mappings, %zu vanished",
		  stats.processes, stats.mappings, stats.vanished);
	return 0;
}
