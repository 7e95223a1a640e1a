/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes in a file's code, for one process or all: one link for many places where the kernel can
 * (6.6), which come off at once. One thread at a time. */
#ifndef PKBPF_SOURCE_UPROBE_LINKS_H
#define PKBPF_SOURCE_UPROBE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct bpf_link;
struct bpf_program;

struct uprobe_links {
	bool uses_multi;
	ARRAY_OF(int) descriptors;
	ARRAY_OF(struct bpf_link *) events; /* where there are no such links */
};

struct uprobe_places {
	int fd;	      /* of the file */
	uint32_t pid; /* 0: all */
	const uint64_t *offsets;
	const uint64_t *cookies; /* of each place (5.15); NULL: none */
	/* Where each place has a counter of tracers, which is raised; 0, NULL: it has none */
	const uint64_t *semaphores;
	size_t count;
};

/* Before the program is loaded. */
void uprobe_links_prepare(const struct uprobe_links *links, struct bpf_program *program);
/* Negative errno; what was added before stays. */
int uprobe_links_add(struct uprobe_links *links, const struct bpf_program *program,
		     const struct uprobe_places *places);
/* All at once: a probe is off when its removal begins, which then takes tens of milliseconds. */
void uprobe_links_remove(struct uprobe_links *links);

#endif
