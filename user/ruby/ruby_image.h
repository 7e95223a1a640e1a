/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds CRuby in an ELF file: libruby, or an executable that it is linked into. */
#ifndef PKBPF_RUBY_RUBY_IMAGE_H
#define PKBPF_RUBY_RUBY_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/ruby.h>

struct elf_file;

/* ELF addresses. */
struct ruby_image {
	uint64_t vm;			/* the variable with the address of the VM */
	uint64_t object;		/* the variable with the class Object */
	uint64_t loop_start, loop_size; /* of the function that runs Ruby code */
	uint64_t data_start, data_size; /* where the symbol table lies */
	char version[12];		/* "3.1.2" */
	struct pkbpf_ruby_layout layout;
	char unknown[24]; /* what it is if there is no layout for it: "Ruby 3.5" */
	/* set by the owner: its trouble, and how often it was seen in processes, were reported */
	bool is_told;
	uint32_t mismatches;
};

/* -ENOENT: the file has no Ruby; -ENOTSUP: a version without a layout, or without the symbols that
 * are needed; ret_image->unknown says which. path: files whose name does not have "ruby" are not
 * searched. One owner thread. */
int ruby_image_find(const struct elf_file *file, const char *path, struct ruby_image *ret_image);

#endif
