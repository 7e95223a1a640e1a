// SPDX-License-Identifier: BSD-2-Clause
/* Looks where run-times write what they generate. */
#include "symbol/jit/code_file_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "process/file/file_servers.h"
#include "process/file/file_time.h"
#include "process/procfs_status.h"

/* File times go on by ticks of 10 ms at most; and half a process's first one is the kernel's. */
#define SLACK_NS (20 * NS_PER_MS)

/* ---- times ---- */

static uint64_t read_start_ns(const char *root, uint32_t pid)
{
	char procfs[4096];
	long hz = sysconf(_SC_CLK_TCK);

	snprintf(procfs, sizeof(procfs), "%s/proc", root);
	return hz <= 0 ? 0 : procfs_start_ticks(procfs, pid) * (NS_PER_SECOND / (uint64_t)hz);
}

/* CLOCK_MONOTONIC, which leaves out the time that the machine slept. */
static uint64_t boottime_to_monotonic(uint64_t time_ns)
{
	uint64_t asleep_ns = clock_read_ns(CLOCK_BOOTTIME) - clock_now_ns();

	return time_ns > asleep_ns ? time_ns - asleep_ns : 0;
}

static uint64_t start_of(const struct code_file_search *search, const char *root, bool lives)
{
	uint64_t start_ns = search->process->start_ns;

	if (!start_ns && lives)
		start_ns = boottime_to_monotonic(read_start_ns(root, search->process->pid));
	return start_ns;
}

/* A pid is used again, and what another program wrote under it may still lie there. The time of the
 * last change of the file or its name tells, since nobody can set it back. */
static bool is_of_this_program(const struct code_file_search *search, const char *root, bool lives,
			       const struct stat *st)
{
	uint64_t start_ns = start_of(search, root, lives), end_ns = search->process->end_ns;
	uint64_t changed_ns = file_time_ns(&st->st_ctim), modified_ns = file_time_ns(&st->st_mtim);

	/* In doubt, it is. */
	if (start_ns && changed_ns && changed_ns + SLACK_NS < start_ns)
		return false;
	return !end_ns || modified_ns <= end_ns + SLACK_NS;
}

/* ---- places ---- */

struct candidate {
	uint32_t root_pid;		  /* 0: our own root */
	const struct file_rights *rights; /* NULL: those of root_pid, or our own */
	const uint32_t *uids;
	const char *path;
	bool lives;
};

static bool is_believed(const struct stat *st, const uint32_t uids[2])
{
	return st->st_uid == uids[0] || st->st_uid == uids[1] || st->st_uid == 0;
}

static int open_candidate(const struct code_file_search *search, const char *root,
			  const struct candidate *candidate, struct stat *ret_stat)
{
	struct file_servers *servers =
		mapped_file_table_servers(process_table_files(search->processes));
	const struct named_file file = {
		.root = root,
		.pid = candidate->root_pid,
		.rights = candidate->rights,
		.path = candidate->path,
	};
	int fd = file_servers_open_named(servers, &file, ret_stat);

	if (fd < 0)
		return fd;
	if (is_believed(ret_stat, candidate->uids)) {
		if (is_of_this_program(search, root, candidate->lives, ret_stat))
			return fd;
		close(fd);
		return -ESTALE;
	}
	close(fd);
	return -EPERM;
}

/* The first one that is good; else why the most promising one is not. */
static int open_first(const struct code_file_search *search, const char *root,
		      const struct candidate *candidates, size_t count, struct stat *ret_stat)
{
	int reason = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		int fd = candidates[i].path[0]
				 ? open_candidate(search, root, &candidates[i], ret_stat)
				 : -ENOENT;

		if (fd >= 0)
			return fd;
		if (reason == -ENOENT && fd != -ENOTDIR)
			reason = fd;
	}
	return reason;
}

/* Programs map the dumps of others, and older ones, to read them. */
static bool is_dump_of(const char *name, uint32_t pid)
{
	char expected[32];

	snprintf(expected, sizeof(expected), "/jit-%u.dump", pid);
	return strcmp(name, expected) == 0;
}

/* A run-time maps its jitdump so that profilers see it. */
static void find_mapped_dump(const struct code_file_search *search, uint32_t inner_pid, char *path,
			     size_t size)
{
	const struct address_space *space =
		process_table_mappings(search->processes, search->process);
	const struct mapping_list *mappings = space ? address_space_mappings(space) : NULL;

	path[0] = '\0';
	for (size_t i = 0; mappings && i < mappings->count; i++) {
		const struct mapped_file *file;
		const char *name;

		if (!mapping_has_file(&mappings->items[i]))
			continue;
		file = mapped_file_table_get(process_table_files(search->processes),
					     mappings->items[i].file);
		name = file ? strrchr(file->path, '/') : NULL;
		if (name &&
		    (is_dump_of(name, search->process->pid) || is_dump_of(name, inner_pid))) {
			snprintf(path, size, "%s", file->path);
			return;
		}
	}
}

static bool read_rights(const char *procfs, uint32_t pid, struct file_rights *ret_rights)
{
	_cleanup_close_ int fd = -1;
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%u", procfs, pid) >= (int)sizeof(path))
		return false;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && file_rights_read(fd, ret_rights) == 0;
}

int code_file_find(const struct code_file_search *search, struct stat *ret_stat)
{
	const char *root = search->options->root ? search->options->root : "";
	const uint32_t ours[] = {geteuid(), search->options->user_uid};
	uint32_t pid = search->process->pid, theirs[2];
	char map[64], dump[64], inner_map[64], inner_dump[64], mapped_dump[4096], procfs[4096];
	bool lives = !search->process->end_ns;
	struct procfs_status status;
	struct file_rights rights;

	snprintf(map, sizeof(map), "/tmp/perf-%u.map", pid);
	snprintf(dump, sizeof(dump), "/tmp/jit-%u.dump", pid);
	snprintf(procfs, sizeof(procfs), "%s/proc", root);
	if (!lives || !procfs_status_read(procfs, pid, &status) ||
	    !read_rights(procfs, pid, &rights)) {
		const struct candidate candidates[] = {
			{0, NULL, ours, map, false},
			{0, NULL, ours, dump, false},
		};

		return open_first(search, root, candidates, 2, ret_stat);
	}
	theirs[0] = status.real_uid;
	theirs[1] = status.effective_uid;
	snprintf(inner_map, sizeof(inner_map), "/tmp/perf-%u.map", status.inner_pid);
	snprintf(inner_dump, sizeof(inner_dump), "/tmp/jit-%u.dump", status.inner_pid);
	find_mapped_dump(search, status.inner_pid, mapped_dump, sizeof(mapped_dump));
	const struct candidate candidates[] = {
		{pid, NULL, theirs, inner_map, true},  {pid, NULL, theirs, mapped_dump, true},
		{pid, NULL, theirs, inner_dump, true}, {0, &rights, theirs, map, true},
		{0, &rights, theirs, dump, true},
	};
	return open_first(search, root, candidates, 5, ret_stat);
}
