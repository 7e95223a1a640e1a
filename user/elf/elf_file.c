// SPDX-License-Identifier: BSD-2-Clause
/* Reads the headers of an ELF file of either class without trusting any number in it. */
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/large_memory.h"
#include "elf/elf_packing.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_BYTE_ORDER ELFDATA2LSB
#else
#define NATIVE_BYTE_ORDER ELFDATA2MSB
#endif

struct table_place {
	uint64_t offset;
	uint64_t entry_size;
	uint64_t count;
};

int elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	size_t done = 0;

	if (offset > file->size || size > file->size - offset)
		return -EIO;
	if (file->memory) {
		memcpy(buffer, file->memory + offset, size);
		return 0;
	}
	while (done < size) {
		ssize_t n =
			pread(file->fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int elf_file_read_address(const struct elf_file *file, uint64_t address, void *buffer, size_t size)
{
	uint64_t offset, available;

	if (!elf_segments_offset(&file->segments, address, &offset, &available) || size > available)
		return -EIO;
	return elf_file_read(file, offset, buffer, size);
}

uint64_t elf_file_bytes_after(const struct elf_file *file, uint64_t address)
{
	uint64_t offset, available;

	return elf_segments_offset(&file->segments, address, &offset, &available) ? available : 0;
}

uint64_t elf_file_unpacked_size(const struct elf_file *file, const struct elf_section *section)
{
	struct elf_packing packing;

	return elf_packing_read(file, section, &packing) ? packing.size : UINT64_MAX;
}

/* Takes the place of the packed bytes. */
static int unpack(char **data, size_t size, const struct elf_packing *packing)
{
	_cleanup_free_ char *packed = *data;

	*data = large_malloc(packing->size + 1);
	return *data ? elf_packing_unpack(packing, packed, size, *data) : -ENOMEM;
}

int elf_file_read_section(const struct elf_file *file, const struct elf_section *section,
			  size_t max_size, void **ret_data, size_t *ret_size)
{
	_cleanup_free_ char *data = NULL;
	struct elf_packing packing;
	int err;

	if (section->type == SHT_NOBITS)
		return -ENODATA;
	if (!elf_packing_read(file, section, &packing))
		return -EBADMSG;
	if (packing.kind == ELF_PACKING_UNKNOWN)
		return -EOPNOTSUPP;
	if (section->size > max_size || packing.size > max_size ||
	    !elf_packing_is_possible(&packing, section->size))
		return -EFBIG;
	data = large_malloc(section->size + 1);
	if (!data)
		return -ENOMEM;
	err = elf_file_read(file, section->offset, data, section->size);
	if (!err && packing.kind != ELF_PACKING_NONE)
		err = unpack(&data, section->size, &packing);
	if (err)
		return err;
	data[packing.size] = '\0';
	*ret_data = take_pointer(data);
	*ret_size = packing.size;
	return 0;
}

int elf_file_read_string(const struct elf_file *file, uint64_t section_offset,
			 uint64_t section_size, uint64_t offset, char *buffer, size_t size)
{
	size_t done = 0;

	if (size == 0 || offset >= section_size)
		return -EINVAL;
	/* Most names are short: small steps save reading kilobytes for a dozen of them. */
	for (size_t step = 128; done < size - 1 && offset + done < section_size; step *= 4) {
		uint64_t left = section_size - offset - done;
		int err;

		if (step > size - 1 - done)
			step = size - 1 - done;
		if (step > left)
			step = left;
		err = elf_file_read(file, section_offset + offset + done, buffer + done, step);
		if (err)
			return err;
		if (memchr(buffer + done, '\0', step))
			return 0;
		done += step;
	}
	buffer[done] = '\0';
	return 0;
}

const struct elf_section *elf_file_section(const struct elf_file *file, size_t index)
{
	if (index >= file->section_count || file->sections[index].type == SHT_NULL ||
	    file->sections[index].type == SHT_NOBITS)
		return NULL;
	return &file->sections[index];
}

const struct elf_section *elf_file_find_section(const struct elf_file *file, const char *name)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (strcmp(file->sections[i].name, name) == 0)
			return elf_file_section(file, i);
	return NULL;
}

const struct elf_section *elf_file_find_section_type(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == type)
			return &file->sections[i];
	return NULL;
}

/* Entries of both classes differ only in the width and order of their fields. */
#define SECTION_OF(header)                                                                         \
	((struct elf_section){                                                                     \
		.type = (header).sh_type,                                                          \
		.link = (header).sh_link,                                                          \
		.info = (header).sh_info,                                                          \
		.flags = (header).sh_flags,                                                        \
		.address = (header).sh_addr,                                                       \
		.offset = (header).sh_offset,                                                      \
		.size = (header).sh_size,                                                          \
		.entry_size = (header).sh_entsize,                                                 \
	})

#define SEGMENT_OF(header)                                                                         \
	((struct elf_segment){                                                                     \
		.type = (header).p_type,                                                           \
		.flags = (header).p_flags,                                                         \
		.offset = (header).p_offset,                                                       \
		.address = (header).p_vaddr,                                                       \
		.file_size = (header).p_filesz,                                                    \
		.memory_size = (header).p_memsz,                                                   \
	})

static void decode_section(const struct elf_file *file, const void *raw, struct elf_section *ret)
{
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	if (file->is_64) {
		memcpy(&wide, raw, sizeof(wide));
		*ret = SECTION_OF(wide);
	} else {
		memcpy(&narrow, raw, sizeof(narrow));
		*ret = SECTION_OF(narrow);
	}
}

static void decode_segment(const struct elf_file *file, const void *raw, struct elf_segment *ret)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (file->is_64) {
		memcpy(&wide, raw, sizeof(wide));
		*ret = SEGMENT_OF(wide);
	} else {
		memcpy(&narrow, raw, sizeof(narrow));
		*ret = SEGMENT_OF(narrow);
	}
}

/* What the file says is nonsense; not that it could not be read, which may be different the next
 * time. */
static bool is_damage(int err)
{
	return err == -ENOEXEC || err == -EBADMSG || err == -EFBIG || err == -ENODATA ||
	       err == -EOPNOTSUPP;
}

static int read_table(const struct elf_file *file, const struct table_place *place,
		      size_t expected_entry_size, uint64_t max_count, void **ret_data)
{
	void *data;
	int err;

	if (place->entry_size != expected_entry_size || place->count > max_count ||
	    place->offset > file->size ||
	    place->count * expected_entry_size > file->size - place->offset)
		return -ENOEXEC;
	data = large_malloc(place->count * expected_entry_size);
	if (!data)
		return -ENOMEM;
	err = elf_file_read(file, place->offset, data, place->count * expected_entry_size);
	if (err) {
		free(data);
		return err;
	}
	*ret_data = data;
	return 0;
}

static int name_sections(struct elf_file *file, const uint32_t *name_offsets, uint32_t name_section)
{
	void *names = NULL;
	int err = 0;

	if (name_section < file->section_count)
		err = elf_file_read_section(file, &file->sections[name_section],
					    ELF_FILE_MAX_NAME_BYTES, &names, &file->names_size);
	file->names = names;
	for (size_t i = 0; i < file->section_count; i++)
		file->sections[i].name =
			name_offsets[i] < file->names_size ? file->names + name_offsets[i] : "";
	return is_damage(err) ? 0 : err;
}

/* More than 65,279 sections: the real numbers are in the first section header. */
static int read_real_numbers(const struct elf_file *file, struct table_place *place,
			     uint32_t *name_section)
{
	struct table_place first = {place->offset, place->entry_size, 1};
	size_t entry_size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct elf_section zero;
	void *raw;
	int err;

	if (place->count != 0 && *name_section != SHN_XINDEX)
		return 0;
	err = read_table(file, &first, entry_size, 1, &raw);
	if (err)
		return err;
	decode_section(file, raw, &zero);
	free(raw);
	if (place->count == 0)
		place->count = zero.size;
	if (*name_section == SHN_XINDEX)
		*name_section = zero.link;
	return 0;
}

static int read_sections(struct elf_file *file, struct table_place place, uint32_t name_section)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint32_t *name_offsets = NULL;
	void *raw = NULL;
	int err;

	if (place.offset == 0)
		return 0;
	err = read_real_numbers(file, &place, &name_section);
	err = err ? err : read_table(file, &place, entry_size, ELF_FILE_MAX_SECTIONS, &raw);
	if (err)
		return err;
	file->sections = calloc(place.count + 1, sizeof(*file->sections));
	name_offsets = calloc(place.count + 1, sizeof(*name_offsets));
	if (!file->sections || !name_offsets) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < place.count; i++) {
		struct elf_section *section = &file->sections[i];
		const char *entry = (const char *)raw + i * entry_size;

		decode_section(file, entry, section);
		memcpy(&name_offsets[i], entry, sizeof(name_offsets[i]));
		/* A section that claims bytes beyond the end has none. */
		if (section->type != SHT_NOBITS && (section->offset > file->size ||
						    section->size > file->size - section->offset)) {
			section->type = SHT_NULL;
			section->offset = section->size = 0;
		}
	}
	file->section_count = place.count;
	err = name_sections(file, name_offsets, name_section);
out:
	free(raw);
	free(name_offsets);
	return err;
}

static int read_segments(struct elf_file *file, const struct table_place *place)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	void *raw = NULL;
	int err;

	if (place->count == 0)
		return 0;
	err = read_table(file, place, entry_size, ELF_FILE_MAX_SEGMENTS, &raw);
	if (err)
		return err;
	file->segments.items = calloc(place->count, sizeof(*file->segments.items));
	for (size_t i = 0; i < place->count && file->segments.items; i++) {
		struct elf_segment *segment = &file->segments.items[file->segments.count];

		decode_segment(file, (const char *)raw + i * entry_size, segment);
		/* From here on address + size and offset + size never wrap. */
		if (segment->address <= INT64_MAX && segment->memory_size <= INT64_MAX &&
		    segment->offset <= INT64_MAX && segment->file_size <= INT64_MAX)
			file->segments.count++;
	}
	free(raw);
	return file->segments.items ? 0 : -ENOMEM;
}

#define TAKE_HEADER(header)                                                                        \
	do {                                                                                       \
		file->type = (header).e_type;                                                      \
		file->machine = (header).e_machine;                                                \
		file->entry = (header).e_entry;                                                    \
		sections = (struct table_place){(header).e_shoff, (header).e_shentsize,            \
						(header).e_shnum};                                 \
		segments = (struct table_place){(header).e_phoff, (header).e_phentsize,            \
						(header).e_phnum};                                 \
		name_section = (header).e_shstrndx;                                                \
	} while (0)

/* Fills what the header of either class says of the tables. */
static int read_header(struct elf_file *file, struct table_place *ret_sections,
		       struct table_place *ret_segments, uint32_t *ret_name_section)
{
	struct table_place sections, segments;
	uint32_t name_section;
	int err;

	if (file->is_64) {
		Elf64_Ehdr header;

		if (file->size < sizeof(header))
			return -ENOEXEC;
		err = elf_file_read(file, 0, &header, sizeof(header));
		if (err)
			return err;
		TAKE_HEADER(header);
	} else {
		Elf32_Ehdr header;

		err = elf_file_read(file, 0, &header, sizeof(header));
		if (err)
			return err;
		TAKE_HEADER(header);
	}
	*ret_sections = sections;
	*ret_segments = segments;
	*ret_name_section = name_section;
	return 0;
}

static int read_headers(struct elf_file *file)
{
	struct table_place sections, segments;
	unsigned char ident[EI_NIDENT];
	uint32_t name_section;
	int err;

	if (file->size < sizeof(Elf32_Ehdr))
		return -ENOEXEC;
	err = elf_file_read(file, 0, ident, sizeof(ident));
	if (err)
		return err;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != NATIVE_BYTE_ORDER ||
	    (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
		return -ENOEXEC;
	file->is_64 = ident[EI_CLASS] == ELFCLASS64;
	err = read_header(file, &sections, &segments, &name_section);
	if (err)
		return err;
	file->segments.is_fixed = file->type == ET_EXEC;
	err = read_segments(file, &segments);
	if (err)
		return err;
	err = read_sections(file, sections, name_section);
	return is_damage(err) ? 0 : err;
}

static int open_headers(struct elf_file *file)
{
	int err = read_headers(file);

	if (err)
		elf_file_done(file);
	return err;
}

int elf_file_open(struct elf_file *file, int fd)
{
	struct stat st;

	*file = (struct elf_file){.fd = fd};
	if (fstat(fd, &st) < 0)
		return -errno;
	/* pread on anything else could block (FIFO) or have side effects (device). */
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	file->size = (uint64_t)st.st_size;
	return open_headers(file);
}

int elf_file_open_memory(struct elf_file *file, const void *memory, size_t size)
{
	*file = elf_file_of_bytes(memory, size);
	return memory ? open_headers(file) : -ENOEXEC;
}

void elf_file_done(struct elf_file *file)
{
	free(file->sections);
	free(file->segments.items);
	free(file->names);
	*file = (struct elf_file){.fd = -1};
}
