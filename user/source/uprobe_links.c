// SPDX-License-Identifier: BSD-2-Clause
/* Makes and closes links of uprobes. */
#include "source/uprobe_links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/bpf.h since 6.6 */
#define LINK_CREATE	    28
#define ATTACH_UPROBE_MULTI ((enum bpf_attach_type)48)

struct multi_link_attr {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphore_offsets, cookies;
	uint32_t count, multi_flags, pid, reserved;
};

void uprobe_links_prepare(const struct uprobe_links *links, struct bpf_program *program)
{
	if (links->uses_multi)
		bpf_program__set_expected_attach_type(program, ATTACH_UPROBE_MULTI);
}

static int add_multi(struct uprobe_links *links, const struct bpf_program *program,
		     const struct uprobe_places *places, const char *path)
{
	struct multi_link_attr attr = {
		.program_fd = (uint32_t)bpf_program__fd(program),
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)places->offsets,
		.semaphore_offsets = (uint64_t)(uintptr_t)places->semaphores,
		.cookies = (uint64_t)(uintptr_t)places->cookies,
		.count = (uint32_t)places->count,
		.pid = places->pid,
	};
	int *link = array_add(&links->descriptors);

	if (!link)
		return -ENOMEM;
	*link = (int)syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr));
	if (*link >= 0)
		return 0;
	links->descriptors.count--;
	return -errno;
}

int uprobe_links_add(struct uprobe_links *links, const struct bpf_program *program,
		     const struct uprobe_places *places)
{
	char path[64];

	/* The file itself, whatever its name leads to by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", places->fd);
	if (links->uses_multi)
		return add_multi(links, program, places, path);
	for (size_t i = 0; i < places->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options);
		struct bpf_link **link = array_add(&links->events);

		if (!link)
			return -ENOMEM;
		options.ref_ctr_offset = places->semaphores ? places->semaphores[i] : 0;
		options.bpf_cookie = places->cookies ? places->cookies[i] : 0;
		*link = bpf_program__attach_uprobe_opts(program,
							places->pid ? (int)places->pid : -1, path,
							places->offsets[i], &options);
		if (!*link) {
			links->events.count--;
			return -errno;
		}
	}
	return 0;
}

static void *close_link(void *descriptor)
{
	close(*(int *)descriptor);
	return NULL;
}

static void *destroy_link(void *link)
{
	bpf_link__destroy(*(struct bpf_link **)link);
	return NULL;
}

struct closing {
	pthread_t thread;
	bool started;
};

/* closing: NULL without memory, then it is done here. */
static void begin(struct closing *closing, void *(*close_one)(void *), void *link)
{
	if (closing)
		closing->started = !pthread_create(&closing->thread, NULL, close_one, link);
	if (!closing || !closing->started)
		close_one(link);
}

void uprobe_links_remove(struct uprobe_links *links)
{
	size_t count = links->descriptors.count + links->events.count, next = 0;
	struct closing *closings = calloc(count + 1, sizeof(*closings));

	array_foreach(&links->descriptors, link)
		begin(closings ? &closings[next++] : NULL, close_link, link);
	array_foreach(&links->events, link)
		begin(closings ? &closings[next++] : NULL, destroy_link, link);
	for (size_t i = 0; closings && i < count; i++)
		if (closings[i].started)
			pthread_join(closings[i].thread, NULL);
	free(closings);
	array_free(&links->descriptors);
	array_free(&links->events);
}
