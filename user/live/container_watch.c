// SPDX-License-Identifier: BSD-2-Clause
/* Watches all directories of the cgroup hierarchy by inotify: containers are created by mkdir(). */
#include "live/container_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <pkbpf/config.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/near_match.h"
#include "base/text_append.h"
#include "process/cgroup/cgroup_tree.h"
#include "process/cgroup/container_match.h"

/* A watch costs about 1 KiB of kernel memory. */
#define WATCHES_MAX 16384
/* Containers without a name are asked for it again so often and so long. */
#define NAME_STEP_MS	  20
#define NAME_LIMIT_NS	  (2 * NS_PER_SECOND)
#define NAMES_AWAITED_MAX 64
/* Labels kept for the error when nothing matches. */
#define LABELS_MAX    4096
#define LABELS_LISTED 5

struct unnamed {
	char *path;
	uint64_t until_ns;
};

struct container_watch {
	const char *text, *root;
	struct cgroup_root *cgroups;
	struct cgroup_paths *targets;
	const struct log *log;
	int inotify_fd;
	struct hash_map folders; /* watch descriptor -> char *, path below the root */
	bool is_partial;	 /* some directories are not watched */
	bool by_id;		 /* chosen by the prefix of an id */
	ARRAY_OF(struct unnamed) unnamed;
	/* of the first search */
	struct cgroup_paths by_prefix, labels, prefix_labels;
	bool has_started;
	container_found_fn found; /* during a look */
	void *context;
};

static void free_paths(struct cgroup_paths *paths)
{
	array_foreach(paths, path)
		free(*path);
	array_free(paths);
}

static int add_text(struct cgroup_paths *list, const char *text)
{
	char *copy = strdup(text), **item = copy ? array_add(list) : NULL;

	if (!item) {
		free(copy);
		return -ENOMEM;
	}
	*item = copy;
	return 0;
}

static void watch_folder(struct container_watch *watch, const char *path)
{
	char full[PATH_MAX], *copy;
	uint64_t *known;
	int number;

	if (watch->inotify_fd < 0)
		return;
	snprintf(full, sizeof(full), "%s%s", cgroup_root_folder(watch->cgroups), path);
	number = watch->folders.count < WATCHES_MAX
			 ? inotify_add_watch(watch->inotify_fd, full, IN_CREATE | IN_ONLYDIR)
			 : -1;
	if (number < 0) {
		watch->is_partial |= watch->folders.count >= WATCHES_MAX || errno != ENOENT;
		return;
	}
	known = hash_map_find(&watch->folders, (uint64_t)number);
	copy = known ? NULL : strdup(path);
	if (copy && !hash_map_put(&watch->folders, (uint64_t)number, (uintptr_t)copy))
		free(copy);
}

/* ---- targets ---- */

/* Is the directory one of the targets, or below one? */
static bool is_below_target(const struct container_watch *watch, const char *full)
{
	array_foreach(watch->targets, target) {
		size_t length = strlen(*target);

		if (strncmp(full, *target, length) == 0 && (!full[length] || full[length] == '/'))
			return true;
	}
	return false;
}

/* The place of a target that was removed, else one more. */
static int put_target(struct container_watch *watch, const char *full, size_t *ret_place)
{
	for (size_t i = 0; i < watch->targets->count; i++) {
		char **target = &watch->targets->items[i], *copy;

		if (access(*target, F_OK) == 0 || errno != ENOENT)
			continue;
		copy = strdup(full);
		if (!copy)
			return -ENOMEM;
		free(*target);
		*target = copy;
		*ret_place = i;
		return 0;
	}
	*ret_place = watch->targets->count;
	if (*ret_place >= PKBPF_TARGET_CGROUPS_MAX)
		return -ERANGE;
	return add_text(watch->targets, full);
}

static int add_target(struct container_watch *watch, const char *full, const char *label)
{
	size_t place;
	int err;

	if (is_below_target(watch, full))
		return 0;
	err = put_target(watch, full, &place);
	if (err == -ERANGE && watch->has_started) {
		log_warning(watch->log,
			    "%s is not profiled: already %d containers are; use --cgroup for one "
			    "that has them all",
			    label, PKBPF_TARGET_CGROUPS_MAX);
		return 0;
	}
	if (err)
		return err;
	log_info(watch->log, "%s %s", watch->has_started ? "started:" : "profiles", label);
	return watch->found ? watch->found(watch->context, place, watch->targets->items[place]) : 0;
}

/* The files that name it may be written after its cgroup was made. */
static int await_name(struct container_watch *watch, const char *path)
{
	struct unnamed *unnamed;

	array_foreach(&watch->unnamed, each)
		if (strcmp(each->path, path) == 0)
			return 0;
	unnamed = watch->unnamed.count < NAMES_AWAITED_MAX ? array_add(&watch->unnamed) : NULL;
	if (!unnamed)
		return 0;
	unnamed->path = strdup(path);
	unnamed->until_ns = clock_now_ns() + NAME_LIMIT_NS;
	if (!unnamed->path)
		watch->unnamed.count--;
	return 0;
}

/* Of a directory that is there at the start, or that was made since. */
static int look_at(struct container_watch *watch, const char *path)
{
	enum container_match match;
	struct container container;
	char full[PATH_MAX];
	int err = 0;

	watch_folder(watch, path);
	if (!container_at(watch->root, path, &container))
		return 0;
	match = container_match(watch->text, &container);
	snprintf(full, sizeof(full), "%s%s", cgroup_root_folder(watch->cgroups), path);
	if (match == CONTAINER_IS_NAMED || (match == CONTAINER_HAS_ID_PREFIX && watch->by_id))
		return add_target(watch, full, container.label);
	if (watch->has_started)
		return container.cgroup.runtime && !container.name[0] ? await_name(watch, path) : 0;
	if (match == CONTAINER_HAS_ID_PREFIX) {
		err = add_text(&watch->by_prefix, full);
		err = err ? err : add_text(&watch->prefix_labels, container.label);
	} else if (watch->labels.count < LABELS_MAX) {
		err = add_text(&watch->labels, container.label);
	}
	return err;
}

static int ask_again(struct container_watch *watch)
{
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	for (size_t i = 0; i < watch->unnamed.count && !err;) {
		struct unnamed *unnamed = &watch->unnamed.items[i];
		struct container container;
		bool has_name =
			container_at(watch->root, unnamed->path, &container) && container.name[0];

		if (!has_name && now_ns < unnamed->until_ns) {
			i++;
			continue;
		}
		if (has_name)
			err = look_at(watch, unnamed->path);
		free(unnamed->path);
		*unnamed = watch->unnamed.items[--watch->unnamed.count];
	}
	return err;
}

static int visit(void *context, const char *path, uint64_t id)
{
	(void)id;
	return look_at(context, path);
}

/* ---- the first search ---- */

static void list_labels(const struct cgroup_paths *labels, char *text, size_t size)
{
	size_t listed = labels->count < LABELS_LISTED ? labels->count : LABELS_LISTED;

	for (size_t i = 0; i < listed; i++)
		text_append(text, size, "%s%.100s", i ? ", " : "", labels->items[i]);
	if (listed < labels->count)
		text_append(text, size, " and %zu more", labels->count - listed);
}

/* A label without its runtime. */
static const char *bare(const char *label)
{
	const char *colon = strchr(label, ':');

	return colon ? colon + 1 : label;
}

static int nothing_matches(const struct container_watch *watch, struct error *error)
{
	struct cgroup_paths containers = {0};
	struct near_match near = {0};
	char text[ERROR_TEXT_SIZE] = "";

	array_foreach(&watch->labels, label) {
		near_match_offer(&near, watch->text, *label);
		near_match_offer(&near, watch->text, bare(*label));
	}
	/* Containers first, then units. */
	for (int is_unit = 0; is_unit < 2; is_unit++) {
		array_foreach(&watch->labels, label) {
			if ((strchr(*label, ':') == NULL) == is_unit &&
			    array_reserve(&containers, containers.count + 1))
				containers.items[containers.count++] = *label;
		}
	}
	if (near.word)
		text_append(text, sizeof(text), "did you mean %s?", near.word);
	else if (containers.count) {
		text_append(text, sizeof(text), "running: ");
		list_labels(&containers, text, sizeof(text));
	} else {
		text_append(
			text, sizeof(text),
			"no container or unit found (cgroups of version 1 are not searched); for "
			"one that starts later use a pattern such as '%s*'",
			watch->text);
	}
	array_free(&containers);
	return error_set(error, ESRCH,
			 "cannot profile container %s: no container or unit has this name or id; "
			 "%s",
			 watch->text, text);
}

/* Names come before prefixes of ids, of which only one may match. */
static int choose(struct container_watch *watch, struct error *error)
{
	char text[ERROR_TEXT_SIZE] = "";

	if (watch->targets->count || container_is_pattern(watch->text))
		return 0;
	if (!watch->by_prefix.count)
		return nothing_matches(watch, error);
	/* Below a container there may be cgroups of the same one. */
	for (size_t i = 1; i < watch->by_prefix.count; i++) {
		if (strcmp(watch->prefix_labels.items[i], watch->prefix_labels.items[0]) == 0)
			continue;
		list_labels(&watch->prefix_labels, text, sizeof(text));
		return error_set(error, EINVAL,
				 "cannot profile container %s: %zu containers have ids that begin "
				 "so: %s; use more of the id, or the name",
				 watch->text, watch->by_prefix.count, text);
	}
	watch->by_id = true;
	for (size_t i = 0; i < watch->by_prefix.count; i++)
		if (add_target(watch, watch->by_prefix.items[i], watch->prefix_labels.items[i]))
			return error_set(error, ENOMEM,
					 "cannot profile container %s: out of memory", watch->text);
	return 0;
}

static int search(struct container_watch *watch, struct error *error)
{
	int err = cgroup_tree_walk(cgroup_root_folder(watch->cgroups), visit, watch);

	if (err == -ERANGE)
		return error_set(error, ERANGE,
				 "cannot profile container %s: more than %d containers match; use "
				 "--cgroup for one that has them all",
				 watch->text, PKBPF_TARGET_CGROUPS_MAX);
	if (err == -ENOMEM || err == -EMFILE || err == -ENFILE)
		return error_set(error, -err, "cannot profile container %s: %s", watch->text,
				 strerror(-err));
	return choose(watch, error);
}

static void forget_search(struct container_watch *watch)
{
	free_paths(&watch->by_prefix);
	free_paths(&watch->prefix_labels);
	free_paths(&watch->labels);
}

int container_watch_new(const struct container_choice *choice, struct cgroup_root *cgroups,
			struct container_watch **ret_watch, struct error *error)
{
	struct container_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch) {
		cgroup_root_close(cgroups);
		return error_set(error, ENOMEM, "cannot profile container %s: out of memory",
				 choice->text);
	}
	*watch = (struct container_watch){.text = choice->text,
					  .root = choice->root,
					  .cgroups = cgroups,
					  .targets = choice->targets,
					  .log = choice->log};
	watch->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	watch->is_partial = watch->inotify_fd < 0;
	err = search(watch, error);
	forget_search(watch);
	if (err) {
		container_watch_free(watch);
		return err;
	}
	if (watch->is_partial)
		log_warning(watch->log,
			    "some containers that start later will not be profiled: too many "
			    "cgroups, or inotify watches, to watch them all");
	watch->has_started = true;
	*ret_watch = watch;
	return 0;
}

int container_watch_rest_ms(const struct container_watch *watch)
{
	return watch->unnamed.count ? NAME_STEP_MS : -1;
}

int container_watch_fd(const struct container_watch *watch)
{
	return watch->inotify_fd;
}

/* ---- later ---- */

static int take_event(struct container_watch *watch, const struct inotify_event *event)
{
	uint64_t *folder = hash_map_find(&watch->folders, (uint64_t)event->wd);
	char below[PATH_MAX];

	/* More at once than the kernel keeps. */
	if (event->mask & IN_Q_OVERFLOW)
		return cgroup_tree_walk(cgroup_root_folder(watch->cgroups), visit, watch);
	if (!folder)
		return 0;
	if (event->mask & IN_IGNORED) { /* removed */
		free((char *)(uintptr_t)*folder);
		hash_map_remove(&watch->folders, (uint64_t)event->wd);
		return 0;
	}
	if (!(event->mask & IN_ISDIR) || !event->len ||
	    snprintf(below, sizeof(below), "%s/%s", (char *)(uintptr_t)*folder, event->name) >=
		    (int)sizeof(below))
		return 0;
	/* What is in it by now was made before it is watched. */
	return cgroup_tree_walk_below(cgroup_root_folder(watch->cgroups), below, visit, watch);
}

int container_watch_look(struct container_watch *watch, container_found_fn found, void *context)
{
	char buffer[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t size;
	int err = 0;

	watch->found = found;
	watch->context = context;
	while (!err && watch->inotify_fd >= 0 &&
	       (size = read(watch->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < size && !err;) {
			const struct inotify_event *event = (void *)(buffer + at);

			err = take_event(watch, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	err = err ? err : ask_again(watch);
	watch->found = NULL;
	return err == -E2BIG ? 0 : err;
}

void container_watch_free(struct container_watch *watch)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	if (!watch)
		return;
	while ((slot = hash_map_next(&watch->folders, &cursor)))
		free((char *)(uintptr_t)slot->value);
	hash_map_done(&watch->folders);
	array_foreach(&watch->unnamed, unnamed)
		free(unnamed->path);
	array_free(&watch->unnamed);
	if (watch->inotify_fd >= 0)
		close(watch->inotify_fd);
	cgroup_root_close(watch->cgroups);
	free(watch);
}
