/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterates over the entries of .eh_frame and .debug_frame. */
#ifndef PKBPF_UNWIND_CFI_CFI_SECTION_H
#define PKBPF_UNWIND_CFI_CFI_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/cfi_program.h"

struct cfi_section {
	uint8_t *data;
	size_t size;
	uint64_t address;
	bool is_debug_frame;
	bool ends_by_zero;  /* its size is not known: a zero length is its end */
	uint32_t first_cie; /* the section's CIEs are consecutive, ordered by offset */
	uint32_t cie_count;
};

struct cfi_cie {
	struct cfi_context context;
	uint32_t offset;
	uint8_t section;
	uint8_t pointer_encoding;
	bool has_augmentation_data;
	bool usable;
};

/* One CIE or FDE. body is the offset of the first byte after the CIE id or CIE pointer. */
struct cfi_entry {
	size_t offset; /* of the length field */
	size_t body;
	size_t end;
	uint64_t cie_offset; /* FDE only: offset of its CIE */
	bool is_cie;
};

/* One parsed FDE. */
struct cfi_function {
	uint64_t start; /* ELF address */
	uint64_t size;	/* never 0 */
	size_t program; /* offset in the section */
	size_t program_size;
};

/* Reads the entry at *offset and advances *offset past it. Returns false at the end of the section,
 * or at an entry with an invalid length. */
bool cfi_section_next(const struct cfi_section *section, size_t *offset,
		      struct cfi_entry *ret_entry);
/* Returns false when the version, augmentation, address size or return address column is
 * unsupported. */
bool cfi_cie_parse(const struct cfi_machine *machine, const struct cfi_section *section,
		   const struct cfi_entry *entry, bool is_go, struct cfi_cie *cie);
bool cfi_function_parse(const struct cfi_section *section, const struct cfi_cie *cie,
			const struct cfi_entry *entry, struct cfi_function *ret_function);

#endif
