/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes by which a library in the program reports kernels with their time on the device.
 *
 * Source: github.com/parca-dev/parcagpu, src/probes.d: provider "parcagpu", probes cuda_correlation
 * (correlation, callback, name) and kernel_executed(start, end, correlation, device, stream, graph,
 * node of it, name), in nanoseconds.
 */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_REPORTS_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_REPORTS_H

#include <pkbpf/gpu_call.h>

#include "elf/elf_file.h"
#include "source/uprobe_links.h"

struct bpf_program;

struct gpu_report_site {
	uint64_t offset, semaphore_offset; /* in the file; 0: it has none */
	struct pkbpf_gpu_report report;
};

struct gpu_report_sites { /* zero-initialized: empty */
	ARRAY_OF(struct gpu_report_site) items;
};

/* Finds the probes of a file; path: as the kernel shows it. 0 also without any; -ENOMEM, -EIO. */
int gpu_report_sites_find(const struct elf_file *file, const char *path,
			  struct gpu_report_sites *sites);
void gpu_report_sites_done(struct gpu_report_sites *sites);

/* Sets the probes. *count: of reports that the map has, which grows. -ENOSPC: it is full. */
int gpu_report_sites_attach(const struct gpu_report_sites *sites, int fd, int map_fd,
			    const struct bpf_program *program, uint32_t *count,
			    struct uprobe_links *links);

#endif
