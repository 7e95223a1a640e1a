/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the CPython runtime in an ELF file. */
#ifndef PKBPF_PYTHON_PYTHON_IMAGE_H
#define PKBPF_PYTHON_PYTHON_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/python.h>

#include "python/python_loop.h"

struct elf_file;

struct python_image {
	uint64_t runtime; /* ELF address of _PyRuntime */
	uint32_t version; /* 0xMMmmppRS */
	struct pkbpf_python_layout layout;
	struct python_loop_part loop[PKBPF_PYTHON_LOOP_PARTS]; /* 3.8 and 3.9 */
	char unknown[16]; /* what it is if there is no layout for it: "Python 3.16", "PyPy" */
	bool is_told;	  /* set by the owner */
};

/* -ENOENT: the file has no runtime; -ENOTSUP: a version without a layout (ret_image->version has
 * it, 0: unknown), or another interpreter; ret_image->unknown says which. path: of the file, for
 * versions before 3.11, which keep their version in the name or in a string. One owner thread. */
int python_image_find(const struct elf_file *file, const char *path,
		      struct python_image *ret_image);

#endif
