// SPDX-License-Identifier: BSD-2-Clause
/* Attaches programs to places in files. */
#include "source/regions/region_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/kernel/kernel_types.h"
#include "capture/session/session.h"

#include "pkbpf.skel.h"

/* One link for many places, closed at once (6.6): include/uapi/linux/bpf.h. */
#define LINK_CREATE	    28
#define ATTACH_UPROBE_MULTI ((enum bpf_attach_type)48)

struct multi_link_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphore_offsets, cookies;
	uint32_t count, multi_flags, pid, reserved;
};

struct region_probes {
	struct bpf_program *programs[REGION_ROLES];
	bool uses_multi;
	ARRAY_OF(int) links;
	ARRAY_OF(struct bpf_link *) events; /* where there are no such links */
};

int region_probes_new(struct pkbpf_bpf *skeleton, const struct kernel_types *types,
		      struct region_probes **ret_probes)
{
	struct region_probes *probes = calloc(1, sizeof(*probes));
	struct bpf_program *const programs[REGION_ROLES] = {
		[REGION_ENTER] = skeleton->progs.span_enter,
		[REGION_LEAVE] = skeleton->progs.span_leave,
		[REGION_ITEMS] = skeleton->progs.span_items,
		[REGION_BEGIN] = skeleton->progs.span_begin,
		[REGION_END] = skeleton->progs.span_end,
		[REGION_PYTHON] = skeleton->progs.span_python,
		[REGION_SITE] = skeleton->progs.span_site,
		[REGION_FUNCTION] = skeleton->progs.span_function,
	};

	if (!probes)
		return -ENOMEM;
	memcpy(probes->programs, programs, sizeof(programs));
	probes->uses_multi = kernel_types_find(types, BTF_KIND_STRUCT, KERNEL_TYPE_UPROBE_MULTI);
	for (int role = 0; role < REGION_ROLES && probes->uses_multi; role++)
		bpf_program__set_expected_attach_type(programs[role], ATTACH_UPROBE_MULTI);
	*ret_probes = probes;
	return 0;
}

/* Places of one file for one program. */
struct places {
	uint64_t *offsets, *semaphores, *cookies;
	size_t count;
};

int region_probes_copy(const struct region_probes *probes, struct region_probes **ret_probes)
{
	struct region_probes *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy->programs, probes->programs, sizeof(copy->programs));
	copy->uses_multi = probes->uses_multi;
	*ret_probes = copy;
	return 0;
}

static int add_multi(struct region_probes *probes, enum region_role role, const char *path,
		     const struct places *places)
{
	struct multi_link_attr attr = {
		.program_fd = (uint32_t)bpf_program__fd(probes->programs[role]),
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)places->offsets,
		.semaphore_offsets = (uint64_t)(uintptr_t)places->semaphores,
		.cookies = (uint64_t)(uintptr_t)places->cookies,
		.count = (uint32_t)places->count,
	};
	int *link = array_add(&probes->links);

	if (!link)
		return -ENOMEM;
	*link = (int)syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr));
	if (*link >= 0)
		return 0;
	probes->links.count--;
	return -errno;
}

static int add_events(struct region_probes *probes, enum region_role role, const char *path,
		      const struct places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = places->semaphores[i],
			    .bpf_cookie = places->cookies[i]);
		struct bpf_link **link = array_add(&probes->events);

		if (!link)
			return -ENOMEM;
		*link = bpf_program__attach_uprobe_opts(probes->programs[role], -1, path,
							places->offsets[i], &options);
		if (!*link) {
			probes->events.count--;
			return -errno;
		}
	}
	return 0;
}

static int add_role(struct region_probes *probes, enum region_role role, const char *path,
		    const struct region_sites *sites)
{
	size_t most = sites->items.count;
	_cleanup_free_ uint64_t *words = calloc(3 * most + 1, sizeof(*words));
	struct places places = {words, words + most, words + 2 * most, 0};

	if (!words)
		return -ENOMEM;
	array_foreach(&sites->items, site) {
		if (site->role != role)
			continue;
		places.offsets[places.count] = site->offset;
		places.semaphores[places.count] = site->semaphore_offset;
		places.cookies[places.count++] = site->cookie;
	}
	if (!places.count)
		return 0;
	return probes->uses_multi ? add_multi(probes, role, path, &places)
				  : add_events(probes, role, path, &places);
}

int region_probes_add(struct region_probes *probes, int fd, const struct region_sites *sites,
		      struct error *error)
{
	char path[64];
	int err = 0;

	/* The file itself, whatever its name leads to by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* What leaves a region first: nothing may be entered that cannot be left. */
	for (int role = REGION_ROLES; role-- > 0 && !err;)
		err = add_role(probes, (enum region_role)role, path, sites);
	return err ? error_set(error, -err, "%s", strerror(-err)) : 0;
}

void region_probes_remove(struct region_probes *probes)
{
	array_foreach(&probes->links, link)
		close(*link);
	array_free(&probes->links);
	array_foreach(&probes->events, link)
		bpf_link__destroy(*link);
	array_free(&probes->events);
}

void region_probes_free(struct region_probes *probes)
{
	if (!probes)
		return;
	region_probes_remove(probes);
	free(probes);
}
