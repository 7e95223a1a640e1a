/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files whose code tells of sampled allocations at the USDT sites otel_memory:alloc(address, size,
 * weight) and otel_memory:free(address): our sampler, and allocators that do the same. A probe on
 * them is in all processes that map the file; programs tell targets from others.
 */
#ifndef PKBPF_SOURCE_ALLOC_PRODUCERS_H
#define PKBPF_SOURCE_ALLOC_PRODUCERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "elf/usdt_site.h"

struct bpf_link;
struct bpf_program;
struct log;

struct producer {
	int fd;
	dev_t device;
	ino_t inode;
	struct usdt_site alloc_site, free_site;
	struct bpf_link *alloc_link, *free_link;
};

struct producers { /* zero-initialized: none */
	ARRAY_OF(struct producer) items;
};

/* A file that has to be one. */
int producers_add_file(struct producers *producers, const char *path, struct error *error);
/* Those that a process has mapped. Returns whether it has one, or a negative errno with the
 * sentence. A site that must not be probed is refused with a warning. */
int producers_add_process(struct producers *producers, uint32_t pid, const struct log *log,
			  struct error *error);
int producers_attach(struct producers *producers, const struct bpf_program *alloc,
		     const struct bpf_program *free, struct error *error);
void producers_detach(struct producers *producers);
void producers_done(struct producers *producers);

#endif
