/* SPDX-License-Identifier: BSD-2-Clause */
/* The small ELF file, xz-compressed in .gnu_debugdata, with the names of a stripped file's local
 * functions. */
#ifndef PKBPF_ELF_MINI_DEBUGINFO_H
#define PKBPF_ELF_MINI_DEBUGINFO_H

#include "elf/elf_file.h"

#define MINI_DEBUGINFO_MAX_COMPRESSED_BYTES (16U << 20)
#define MINI_DEBUGINFO_MAX_BYTES	    (64U << 20)
/* xz -9 needs 65 MiB to unpack; the tools that write the section use small dictionaries. */
#define MINI_DEBUGINFO_MAX_DECODER_BYTES (80U << 20)

/* The unpacked image; the caller frees it. -ENOENT: no such section; -EFBIG, -ENOEXEC, -EIO,
 * -ENOMEM. */
int mini_debuginfo_read(const struct elf_file *file, void **ret_image, size_t *ret_size);

#endif
