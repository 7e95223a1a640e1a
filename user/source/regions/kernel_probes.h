/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes on functions of the kernel: one link for many of them where the kernel can (5.18 with
 * fprobes), else a kprobe for each. */
#ifndef PKBPF_SOURCE_REGIONS_KERNEL_PROBES_H
#define PKBPF_SOURCE_REGIONS_KERNEL_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct bpf_link;
struct bpf_program;

struct kernel_probe {
	uint64_t address, cookie;
	struct bpf_link *link; /* NULL: in the one for many */
};

struct kernel_probes {
	bool uses_multi, is_return;
	const struct bpf_program *program;
	int multi; /* -1: none */
	ARRAY_OF(struct kernel_probe) items;
};

/* Before the program is loaded. */
void kernel_probes_init(struct kernel_probes *probes, struct bpf_program *program, bool is_return,
			bool uses_multi);
/* Adds a probe, which is what its program finds as the cookie. Negative errno: the kernel takes
 * none there. Where there is one link for many, -ENOMEM alone. */
int kernel_probes_add(struct kernel_probes *probes, uint64_t address, uint64_t cookie);
/* Takes one off. */
void kernel_probes_drop(struct kernel_probes *probes, uint64_t cookie);
/* Makes the link for many of what was added and not dropped; calls in between are not seen. */
int kernel_probes_update(struct kernel_probes *probes);
/* Takes all off. */
void kernel_probes_remove(struct kernel_probes *probes);

#endif
