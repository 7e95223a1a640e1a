/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds V8 in an ELF file: its version, and what it publishes of its structures. */
#ifndef PKBPF_V8_V8_IMAGE_H
#define PKBPF_V8_V8_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "v8/v8_layout.h"

struct elf_file;

#define V8_MAX_BYTECODES 256

struct v8_image {
	uint32_t major, minor;
	const struct v8_layout *layout; /* NULL: see v8_image_trouble() */
	bool other_machine;		/* not x86-64 */
	bool disagrees;			/* what it publishes does not prove the layout */
	bool is_reported;		/* set by the owner */
};

/* Bytes of each bytecode for operands of one, two and four bytes. */
struct v8_bytecode_sizes {
	uint32_t count; /* 0: not known */
	uint8_t bytes[3][V8_MAX_BYTECODES];
};

/* -ENOENT: the file has no V8 that publishes its structures. One owner thread. */
int v8_image_find(const struct elf_file *file, struct v8_image *ret_image);
/* Why an image has no layout, as part of a message. */
const char *v8_image_trouble(const struct v8_image *image);
/* Where the file has a symbol for them. */
void v8_image_bytecode_sizes(const struct elf_file *file, struct v8_bytecode_sizes *ret_sizes);

#endif
