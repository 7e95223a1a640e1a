// SPDX-License-Identifier: BSD-2-Clause
/* Parses CIEs and FDEs. */
#include "unwind/cfi/cfi_section.h"

#include <string.h>

#include "elf/cfi_reader.h"

bool cfi_section_next(const struct cfi_section *section, size_t *offset,
		      struct cfi_entry *ret_entry)
{
	struct cfi_reader reader = {.at = section->data + *offset,
				    .end = section->data + section->size};
	bool is_64_bit = false;
	struct cfi_entry entry = {.offset = *offset};
	size_t id_offset;
	uint64_t length;
	uint64_t id;

	/* A zero length ends .eh_frame, but some linkers leave those of their inputs in the
	 * middle. */
	do
		length = cfi_read_u32(&reader);
	while (length == 0 && !reader.failed && !section->ends_by_zero);
	if (length == UINT32_MAX) {
		is_64_bit = true;
		length = cfi_read_u64(&reader);
	}
	if (reader.failed || length == 0 || length > cfi_reader_left(&reader))
		return false;
	id_offset = (size_t)(reader.at - section->data);
	entry.end = id_offset + length;
	reader.end = section->data + entry.end;
	if (section->is_debug_frame) {
		id = is_64_bit ? cfi_read_u64(&reader) : cfi_read_u32(&reader);
		entry.is_cie = id == (is_64_bit ? UINT64_MAX : UINT32_MAX);
		entry.cie_offset = id;
	} else {
		/* The CIE pointer has four bytes even after a 64-bit length. */
		id = cfi_read_u32(&reader);
		entry.is_cie = id == 0;
		entry.cie_offset = id_offset - id; /* may wrap: no CIE has such an offset */
	}
	if (reader.failed)
		return false;
	entry.body = (size_t)(reader.at - section->data);
	*offset = entry.end;
	*ret_entry = entry;
	return true;
}

/* Reads the augmentation data. Returns false for an unknown letter or encoding. */
static bool read_augmentation(struct cfi_cie *cie, const char *letters, struct cfi_reader *reader)
{
	for (; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			cie->pointer_encoding = cfi_read_u8(reader);
			break;
		case 'L':
			cfi_read_u8(reader);
			break;
		case 'P':
			encoding = cfi_read_u8(reader);
			if ((encoding & CFI_POINTER_BASE_MASK) == CFI_POINTER_BASE_MASK)
				return false;
			cfi_read_value(reader, encoding);
			break;
		case 'S':
			cie->context.is_signal = true;
			break;
		case 'B': /* arm64: return addresses signed with key B */
		case 'G': /* arm64: tagged stack */
			break;
		default:
			return false;
		}
	}
	return !reader->failed;
}

bool cfi_cie_parse(const struct cfi_machine *machine, const struct cfi_section *section,
		   const struct cfi_entry *entry, bool is_go, struct cfi_cie *cie)
{
	struct cfi_reader reader = {.at = section->data + entry->body,
				    .end = section->data + entry->end};
	uint8_t version = cfi_read_u8(&reader);
	const char *letters = (const char *)reader.at;
	const uint8_t *terminator = memchr(reader.at, '\0', cfi_reader_left(&reader));
	uint64_t return_address;

	if ((version != 1 && version != 3 && version != 4) || !terminator)
		return false;
	reader.at = terminator + 1;
	if (version == 4 && (cfi_read_u8(&reader) != 8 || cfi_read_u8(&reader) != 0))
		return false; /* address size, segment selector size */
	cie->context.code_align = cfi_read_uleb128(&reader);
	cie->context.data_align = cfi_read_sleb128(&reader);
	return_address = version == 1 ? cfi_read_u8(&reader) : cfi_read_uleb128(&reader);
	/* Real files have code alignment 1 or 4 and data alignment -8 or -4. The bound keeps
	 * products within 64 bits. */
	if (reader.failed || cie->context.code_align > UINT8_MAX ||
	    return_address != machine->return_address)
		return false;
	if (letters[0] == 'z') {
		uint64_t size = cfi_read_uleb128(&reader);
		struct cfi_reader data = {.at = reader.at};

		cie->has_augmentation_data = true;
		cfi_skip(&reader, size);
		data.end = reader.at;
		if (reader.failed || !read_augmentation(cie, letters + 1, &data))
			return false;
	} else if (letters[0] != '\0') {
		return false;
	}
	cie->context.pointer_encoding = cie->pointer_encoding;
	cie->context.go_frame_pointer = is_go && section->is_debug_frame;
	return cfi_program_run_initial(machine, &cie->context, reader.at, cfi_reader_left(&reader));
}

bool cfi_function_parse(const struct cfi_section *section, const struct cfi_cie *cie,
			const struct cfi_entry *entry, struct cfi_function *ret_function)
{
	struct cfi_reader reader = {.at = section->data + entry->body,
				    .end = section->data + entry->end};
	uint64_t start =
		cfi_read_pointer(&reader, cie->pointer_encoding, section->address + entry->body, 0);
	uint64_t size = cfi_read_value(&reader, cie->pointer_encoding);

	if (cie->has_augmentation_data)
		cfi_skip(&reader, cfi_read_uleb128(&reader));
	if (reader.failed || size == 0)
		return false;
	*ret_function = (struct cfi_function){
		.start = start,
		.size = size,
		.program = (size_t)(reader.at - section->data),
		.program_size = cfi_reader_left(&reader),
	};
	return true;
}
