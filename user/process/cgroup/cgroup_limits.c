// SPDX-License-Identifier: BSD-2-Clause
#include "process/cgroup/cgroup_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/hash_map.h"
#include "base/named_line.h"
#include "process/cgroup/cgroup_tree.h"

#define FILE_MAX_BYTES 65536
#define NS_PER_US      1000
/* cgroup v1 says the highest multiple of a page where there is no limit. */
#define NO_MEMORY_LIMIT (1ULL << 62)

struct known_cgroup {
	uint64_t id;
	char *path;
};

/* Where a hierarchy of version 1 is, besides the folder of its own name. */
static const struct controller {
	const char *name, *other_folder, *file_v1;
	/* false: no limit */
	bool (*read)(const struct cgroup_limits *limits, const char *folder,
		     struct cgroup_limit *limit);
} controllers[CGROUP_CONTROLLERS];

struct cgroup_limits {
	const struct controller *controller;
	char hierarchy[PATH_MAX]; /* its mount point */
	char proc[PATH_MAX];
	bool is_v1;
	struct hash_map seen; /* id -> last walk; including cgroups without a limit */
	uint64_t walk;
	ARRAY_OF(struct known_cgroup) limited;
	size_t most;
	uint64_t left_out;
	bool is_cut; /* some cgroups were left out */
};

/* Finds a word in a list such as "cpuset cpu io" or "cpu,cpuacct". */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += strcspn(list, " ,\n"), list += strspn(list, " ,\n"))
		if (strncmp(list, word, length) == 0 && strchr(" ,\n", list[length]))
			return true;
	return false;
}

static char *read_in(const char *folder, const char *name)
{
	char path[PATH_MAX], *text = NULL;
	size_t size;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
	    file_read_all(AT_FDCWD, path, FILE_MAX_BYTES, &text, &size))
		return NULL;
	return text;
}

static bool find_hierarchy(struct cgroup_limits *limits, const char *root)
{
	const struct controller *controller = limits->controller;
	/* A controller is in one hierarchy only, and version 2 can always freeze. */
	const struct {
		const char *folder, *file;
		bool is_v1;
	} places[] = {
		{controller->name, controller->file_v1, true},
		{controller->other_folder, controller->file_v1, true},
		{"", "cgroup.controllers", false},
		{"/unified", "cgroup.controllers", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *text = NULL;

		if (!places[i].folder)
			continue;
		snprintf(limits->hierarchy, sizeof(limits->hierarchy), "%s/sys/fs/cgroup%s%s", root,
			 places[i].is_v1 ? "/" : "", places[i].folder);
		text = read_in(limits->hierarchy, places[i].file);
		limits->is_v1 = places[i].is_v1;
		if (text && (limits->is_v1 || limits->controller == &controllers[CGROUP_FREEZER] ||
			     has_word(text, controller->name)))
			return true;
	}
	return false;
}

struct cgroup_limits *cgroup_limits_open(const char *root, enum cgroup_controller controller,
					 size_t most)
{
	struct cgroup_limits *limits = calloc(1, sizeof(*limits));

	if (!limits)
		return NULL;
	limits->controller = &controllers[controller];
	limits->most = most;
	snprintf(limits->proc, sizeof(limits->proc), "%s/proc", root);
	if (!find_hierarchy(limits, root)) {
		cgroup_limits_close(limits);
		return NULL;
	}
	return limits;
}

void cgroup_limits_close(struct cgroup_limits *limits)
{
	if (!limits)
		return;
	array_foreach(&limits->limited, cgroup)
		free(cgroup->path);
	array_free(&limits->limited);
	hash_map_done(&limits->seen);
	free(limits);
}

static void read_throttling(const char *folder, struct cgroup_limit *limit)
{
	_cleanup_free_ char *text = read_in(folder, "cpu.stat");

	limit->periods = named_number(text, "nr_periods ");
	limit->throttled_periods = named_number(text, "nr_throttled ");
	limit->throttled_ns = named_number(text, "throttled_usec ") * NS_PER_US;
	if (!limit->throttled_ns)
		limit->throttled_ns = named_number(text, "throttled_time ");
}

static bool read_cpu(const struct cgroup_limits *limits, const char *folder,
		     struct cgroup_limit *limit)
{
	_cleanup_free_ char *quota =
		read_in(folder, limits->is_v1 ? "cpu.cfs_quota_us" : "cpu.max");
	_cleanup_free_ char *period = limits->is_v1 ? read_in(folder, "cpu.cfs_period_us") : NULL;
	const char *period_text = period;

	if (!quota || *quota < '0' || *quota > '9') /* "max", -1 */
		return false;
	if (!limits->is_v1)
		period_text = strchr(quota, ' ');
	limit->quota_ns = strtoull(quota, NULL, 10) * NS_PER_US;
	limit->period_ns = period_text ? strtoull(period_text, NULL, 10) * NS_PER_US : 0;
	if (!limit->quota_ns || !limit->period_ns)
		return false;
	read_throttling(folder, limit);
	return true;
}

/* 0: there is no such file, or it says "max". */
static uint64_t number_in(const char *folder, const char *name)
{
	_cleanup_free_ char *text = read_in(folder, name);

	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

static void read_memory_events(const char *folder, struct cgroup_limit *limit)
{
	_cleanup_free_ char *events = read_in(folder, "memory.events");
	_cleanup_free_ char *pressure = read_in(folder, "memory.pressure");
	const char *total = pressure ? strstr(pressure, " total=") : NULL; /* first line: some */

	limit->memory_reached = named_number(events, "max ") + named_number(events, "high ");
	limit->memory_kills = named_number(events, "oom_kill ");
	if (total)
		limit->memory_pressure_ns =
			strtoull(total + strlen(" total="), NULL, 10) * NS_PER_US;
}

static bool read_memory_v1(const char *folder, struct cgroup_limit *limit)
{
	_cleanup_free_ char *oom = read_in(folder, "memory.oom_control");

	limit->memory_limit = number_in(folder, "memory.limit_in_bytes");
	if (!limit->memory_limit || limit->memory_limit >= NO_MEMORY_LIMIT)
		return false;
	limit->memory_used = number_in(folder, "memory.usage_in_bytes");
	limit->memory_peak = number_in(folder, "memory.max_usage_in_bytes");
	limit->memory_reached = number_in(folder, "memory.failcnt");
	limit->memory_kills = named_number(oom, "oom_kill ");
	return true;
}

static bool read_memory(const struct cgroup_limits *limits, const char *folder,
			struct cgroup_limit *limit)
{
	if (limits->is_v1)
		return read_memory_v1(folder, limit);
	limit->memory_limit = number_in(folder, "memory.max");
	limit->memory_high = number_in(folder, "memory.high");
	if (!limit->memory_limit && !limit->memory_high)
		return false;
	limit->memory_used = number_in(folder, "memory.current");
	limit->memory_peak = number_in(folder, "memory.peak");
	read_memory_events(folder, limit);
	return true;
}

static bool read_freezer(const struct cgroup_limits *limits, const char *folder,
			 struct cgroup_limit *limit)
{
	_cleanup_free_ char *text =
		read_in(folder, limits->is_v1 ? "freezer.state" : "cgroup.events");

	limit->frozen = limits->is_v1 ? text && has_word(text, "FROZEN")
				      : named_number(text, "frozen ") == 1;
	return limit->frozen;
}

static const struct controller controllers[CGROUP_CONTROLLERS] = {
	[CGROUP_CPU] = {"cpu", "cpu,cpuacct", "cpu.cfs_quota_us", read_cpu},
	[CGROUP_MEMORY] = {"memory", NULL, "memory.limit_in_bytes", read_memory},
	/* Its root cannot be frozen, and has no state; release_agent is of version 1 alone. */
	[CGROUP_FREEZER] = {"freezer", NULL, "release_agent", read_freezer},
};

static bool make_folder(const struct cgroup_limits *limits, const char *path, char *folder,
			size_t size)
{
	return snprintf(folder, size, "%s%s", limits->hierarchy, path) < (int)size;
}

/* Those of targets are kept where they may be frozen later. */
static bool is_kept(struct cgroup_limits *limits, const char *folder, bool of_target)
{
	struct cgroup_limit limit = {0};

	return (of_target && limits->controller == &controllers[CGROUP_FREEZER]) ||
	       limits->controller->read(limits, folder, &limit);
}

struct visited {
	const char *path, *folder;
	uint64_t id;
	bool of_target;
};

static int add_cgroup(struct cgroup_limits *limits, const struct visited *visited)
{
	struct known_cgroup *cgroup;
	uint64_t id = visited->id, *walk;
	bool added;

	if (limits->seen.count >= CGROUP_WALK_MAX && !hash_map_find(&limits->seen, id)) {
		limits->is_cut = true;
		return 0;
	}
	walk = hash_map_get(&limits->seen, id, 0, &added);
	if (!walk)
		return -ENOMEM;
	*walk = limits->walk;
	if (!added || !is_kept(limits, visited->folder, visited->of_target))
		return 0;
	if (limits->limited.count >= limits->most) {
		limits->left_out++;
		return 0;
	}
	cgroup = array_add(&limits->limited);
	if (!cgroup)
		return -ENOMEM;
	cgroup->id = id;
	cgroup->path = strdup(*visited->path ? visited->path : "/");
	if (!cgroup->path) {
		limits->limited.count--;
		return -ENOMEM;
	}
	return 0;
}

static int add_visited(void *context, const char *path, uint64_t id)
{
	char folder[PATH_MAX];

	return make_folder(context, path, folder, sizeof(folder))
		       ? add_cgroup(context, &(struct visited){path, folder, id, false})
		       : 0;
}

void cgroup_limits_forget_gone(struct cgroup_limits *limits)
{
	size_t kept = 0;

	for (size_t i = 0; i < limits->limited.count; i++) {
		struct known_cgroup *cgroup = &limits->limited.items[i];
		char folder[PATH_MAX];
		struct stat status;

		if (make_folder(limits, cgroup->path, folder, sizeof(folder)) &&
		    stat(folder, &status) == 0 && status.st_ino == cgroup->id) {
			limits->limited.items[kept++] = *cgroup;
			continue;
		}
		hash_map_remove(&limits->seen, cgroup->id);
		free(cgroup->path);
	}
	limits->limited.count = kept;
}

/* All that exist were seen by the walk: others are gone. */
static int keep_walked(struct cgroup_limits *limits)
{
	const struct hash_map_slot *slot;
	struct hash_map walked = {0};
	size_t cursor = 0;

	while ((slot = hash_map_next(&limits->seen, &cursor)))
		if (slot->value == limits->walk && !hash_map_put(&walked, slot->key, slot->value)) {
			hash_map_done(&walked);
			return -ENOMEM;
		}
	hash_map_done(&limits->seen);
	limits->seen = walked;
	return 0;
}

int cgroup_limits_add_all(struct cgroup_limits *limits)
{
	int err;

	limits->walk++;
	err = cgroup_tree_walk(limits->hierarchy, add_visited, limits);
	if (err == -E2BIG)
		limits->is_cut = true;
	if (err)
		return err == -E2BIG ? 0 : err;
	return keep_walked(limits);
}

/* The cgroup of a process from a line "0::/path" or "4:cpu,cpuacct:/path", which is modified.
 * NULL: another hierarchy. */
static char *path_in_line(const struct cgroup_limits *limits, char *line)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return NULL;
	*names++ = '\0';
	*path++ = '\0';
	if (limits->is_v1 ? has_word(names, limits->controller->name) : strcmp(line, "0") == 0)
		return path;
	return NULL;
}

/* path: below the hierarchy, without a slash at its end; "" is the root */
static int add_path(struct cgroup_limits *limits, const char *path)
{
	char folder[PATH_MAX];
	struct stat status;

	if (!make_folder(limits, path, folder, sizeof(folder)) || stat(folder, &status) < 0)
		return 0;
	return add_cgroup(limits, &(struct visited){path, folder, status.st_ino, true});
}

int cgroup_limits_add_of(struct cgroup_limits *limits, uint32_t pid)
{
	_cleanup_free_ char *text = NULL;
	char name[32], *rest = NULL, *path = NULL;
	int err = 0;

	snprintf(name, sizeof(name), "%u/cgroup", pid);
	text = read_in(limits->proc, name);
	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !path;
	     line = strtok_r(NULL, "\n", &rest))
		path = path_in_line(limits, line);
	/* A cgroup above the visible part of the hierarchy. */
	if (!path || (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || !path[3])))
		return 0;
	for (char *slash = path + strlen(path); slash && !err; slash = strrchr(path, '/')) {
		*slash = '\0';
		err = add_path(limits, path);
	}
	return err;
}

size_t cgroup_limits_count(const struct cgroup_limits *limits)
{
	return limits->limited.count;
}

int cgroup_limits_read(struct cgroup_limits *limits, size_t first,
		       int (*callback)(void *context, const struct cgroup_limit *limit),
		       void *context)
{
	char folder[PATH_MAX];
	int err = 0;

	for (size_t i = first; i < limits->limited.count && !err; i++) {
		const struct known_cgroup *cgroup = &limits->limited.items[i];
		struct cgroup_limit limit = {.path = cgroup->path, .cgroup_id = cgroup->id};

		if (!make_folder(limits, cgroup->path, folder, sizeof(folder)) ||
		    !limits->controller->read(limits, folder, &limit))
			continue;
		err = callback(context, &limit);
	}
	return err;
}

uint64_t cgroup_limits_left_out(const struct cgroup_limits *limits)
{
	return limits->left_out + limits->is_cut;
}
