/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes call frame information by hand, with absolute addresses. */
#ifndef PKBPF_TESTS_CFI_BYTES_H
#define PKBPF_TESTS_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool is_debug_frame;
	size_t last_cie;
};

void cfi_bytes_put(struct cfi_bytes *bytes, const void *data, size_t size);
void cfi_bytes_done(struct cfi_bytes *bytes);
/* augmentation "zR", "zRS", "" …; the usual x86-64 or arm64 opening: CFA = sp + 8, return address
 * at cfa-8; or CFA = sp. */
void cfi_bytes_cie(struct cfi_bytes *bytes, const char *augmentation);
void cfi_bytes_cie_arm64(struct cfi_bytes *bytes);
/* A CIE with fields and program as given. */
void cfi_bytes_raw_cie(struct cfi_bytes *bytes, const char *augmentation, uint8_t version,
		       uint8_t return_address, const void *program, size_t program_size);
/* A function of the last CIE. */
void cfi_bytes_fde(struct cfi_bytes *bytes, uint64_t start, uint64_t size, const void *program,
		   size_t program_size);

/* A program as a string literal: CFI_FDE(&bytes, start, size, "\x41\x0e\x10"). */
#define CFI_FDE(bytes, start, size, program)                                                       \
	cfi_bytes_fde((bytes), (start), (size), (program), sizeof(program) - 1)

#endif
