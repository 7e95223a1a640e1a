// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/cgroup_namer.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "process/cgroup/cgroup.h"
#include "process/cgroup/cgroup_name.h"
#include "process/cgroup/container_name.h"

enum cgroup_state { SEEN = 1, NAMED = 2 };

struct new_cgroup {
	uint64_t id;
	char *path; /* from the kernel side; NULL: none */
};

struct cgroup_namer {
	struct cgroup_root *root;
	struct hash_map states; /* cgroup id -> enum cgroup_state */
	ARRAY_OF(struct new_cgroup) new;
	size_t bytes; /* of all names together */
	size_t named;
	bool is_full; /* more cgroups or names than fit */
};

struct cgroup_namer *cgroup_namer_new(struct cgroup_root *root)
{
	struct cgroup_namer *namer = calloc(1, sizeof(*namer));

	if (namer)
		namer->root = root;
	else
		cgroup_root_close(root);
	return namer;
}

static void forget_new(struct cgroup_namer *namer)
{
	array_foreach(&namer->new, cgroup)
		free(cgroup->path);
	namer->new.count = 0;
}

void cgroup_namer_free(struct cgroup_namer *namer)
{
	if (!namer)
		return;
	forget_new(namer);
	array_free(&namer->new);
	hash_map_done(&namer->states);
	cgroup_root_close(namer->root);
	free(namer);
}

/* Takes the path. A cgroup without a name is retried when the kernel side reports its path. */
static int add(struct cgroup_namer *namer, uint64_t id, char *path)
{
	_cleanup_free_ char *left = path;
	struct new_cgroup *cgroup;
	uint64_t *state;
	bool added;

	state = hash_map_find(&namer->states, id);
	if (state && (!path || *state == NAMED))
		return 0;
	if (!state && namer->states.count >= CGROUP_NAMER_CGROUPS_MAX) {
		namer->is_full = true;
		return 0;
	}
	if (!hash_map_get(&namer->states, id, SEEN, &added))
		return -ENOMEM;
	cgroup = array_add(&namer->new);
	if (!cgroup)
		return -ENOMEM;
	*cgroup = (struct new_cgroup){id, take_pointer(left)};
	return 0;
}

int cgroup_namer_look(struct cgroup_namer *namer, uint64_t cgroup_id)
{
	return cgroup_id ? add(namer, cgroup_id, NULL) : 0;
}

int cgroup_namer_take(struct cgroup_namer *namer, const struct pkbpf_event_header *record)
{
	char path[PATH_MAX], *copy;
	uint64_t id;
	int err = cgroup_names_event_decode(record, &id, path, sizeof(path));

	if (err)
		return err;
	copy = strdup(path);
	return copy ? add(namer, id, copy) : -ENOMEM;
}

static int append(struct cgroup_namer *namer, uint64_t id, const char *path,
		  struct event_buffer *buffer)
{
	char name[CGROUP_NAME_SIZE];
	struct cgroup_name cgroup;
	int err;

	if (namer->bytes + strlen(path) > CGROUP_NAMER_BYTES_MAX)
		return 0;
	namer->bytes += strlen(path);
	namer->named++;
	err = cgroup_event_encode(buffer, clock_now_ns(), id, path);
	cgroup_name_parse(path, &cgroup);
	if (!err && container_name_find("", &cgroup, name, sizeof(name)))
		err = container_event_encode(buffer, clock_now_ns(), id, name);
	return err == -ENOMEM ? err : 0;
}

static int name_cgroup(struct cgroup_namer *namer, const struct new_cgroup *cgroup,
		       struct event_buffer *buffer)
{
	char found[PATH_MAX];
	const char *path = cgroup_root_path(namer->root, cgroup->id, found, sizeof(found))
				   ? cgroup->path
				   : found;

	/* Removed already, or not visible to us: it stays a number. */
	if (!path)
		return 0;
	/* The same path may be reported twice before it is taken. */
	if (*hash_map_find(&namer->states, cgroup->id) == NAMED)
		return 0;
	return hash_map_put(&namer->states, cgroup->id, NAMED)
		       ? append(namer, cgroup->id, path, buffer)
		       : -ENOMEM;
}

int cgroup_namer_names(struct cgroup_namer *namer, struct event_buffer *buffer)
{
	int err = 0;

	array_foreach(&namer->new, cgroup)
		err = err ? err : name_cgroup(namer, cgroup, buffer);
	forget_new(namer);
	return err;
}

uint64_t cgroup_namer_unnamed(const struct cgroup_namer *namer)
{
	return namer->states.count - namer->named + namer->is_full;
}
