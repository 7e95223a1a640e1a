// SPDX-License-Identifier: BSD-2-Clause
/* Reads program headers, sections and bytes of an ELF file without trusting a single number in it.
 */
#include "unwind/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/large_memory.h"

#define MAX_SECTION_NAMES_BYTES (256U << 10)
#define MAX_DYNAMIC_ITEMS	64
/* deflate cannot do better than 1032:1, so a larger claim is a lie told to make us allocate. */
#define MAX_DEFLATE_RATIO 1032

struct named_section {
	struct elf_section section;
	uint32_t name;
};

struct elf_image {
	int fd;	      /* -1: memory */
	bool is_copy; /* of a file that somebody else serves: fd is of memory that we have filled */
	const uint8_t *memory;
	uint64_t size;
	enum elf_image_layout layout;
	uint64_t load_address; /* ELF_IMAGE_LOADED: ELF address of memory[0] */
	uint16_t machine;
	uint64_t entry;
	struct elf_segment *segments;
	size_t segment_count;
	struct named_section *sections;
	size_t section_count;
	char *names; /* NUL-terminated */
	size_t names_size;
};

DEFINE_CLEANUP(struct elf_image *, elf_image_free)

void elf_image_free(struct elf_image *image)
{
	if (!image)
		return;
	if (image->fd >= 0)
		close(image->fd);
	free(image->segments);
	free(image->sections);
	free(image->names);
	free(image);
}

/* Position in the backing store, whatever its layout. */
static int read_position(const struct elf_image *image, uint64_t position, void *buffer,
			 size_t size)
{
	size_t done = 0;

	if (position > image->size || size > image->size - position)
		return -ERANGE;
	if (image->memory) {
		memcpy(buffer, image->memory + position, size);
		return 0;
	}
	while (done < size) {
		ssize_t got = pread(image->fd, (char *)buffer + done, size - done,
				    (off_t)(position + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ERANGE;
		done += (size_t)got;
	}
	return 0;
}

int elf_image_read(const struct elf_image *image, uint64_t offset, void *buffer, size_t size)
{
	if (image->layout == ELF_IMAGE_FILE)
		return read_position(image, offset, buffer, size);
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (segment->type == PT_LOAD && offset >= segment->offset &&
		    offset - segment->offset < segment->file_size)
			return elf_image_read_address(
				image, segment->address + (offset - segment->offset), buffer, size);
	}
	return -ERANGE;
}

static const struct elf_segment *find_load(const struct elf_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (segment->type == PT_LOAD && address >= segment->address &&
		    address - segment->address < segment->file_size)
			return segment;
	}
	return NULL;
}

uint64_t elf_image_bytes_after(const struct elf_image *image, uint64_t address)
{
	const struct elf_segment *segment = find_load(image, address);

	return segment ? segment->file_size - (address - segment->address) : 0;
}

int elf_image_read_address(const struct elf_image *image, uint64_t address, void *buffer,
			   size_t size)
{
	const struct elf_segment *segment = find_load(image, address);
	uint64_t offset;

	if (!segment || size > segment->file_size - (address - segment->address))
		return -ERANGE;
	if (image->layout == ELF_IMAGE_LOADED)
		return read_position(image, address - image->load_address, buffer, size);
	if (__builtin_add_overflow(segment->offset, address - segment->address, &offset))
		return -ERANGE;
	return read_position(image, offset, buffer, size);
}

/* Program headers; PN_XNUM files keep the count in section 0, and no executable has that many. */
static int read_segments(struct elf_image *image, const Elf64_Ehdr *header)
{
	size_t count = header->e_phnum;
	_cleanup_free_ Elf64_Phdr *raw = NULL;

	if (count == 0 || header->e_phentsize != sizeof(*raw))
		return 0;
	if (count > ELF_IMAGE_MAX_SEGMENTS)
		count = ELF_IMAGE_MAX_SEGMENTS;
	raw = calloc(count, sizeof(*raw));
	image->segments = calloc(count, sizeof(*image->segments));
	if (!raw || !image->segments)
		return -ENOMEM;
	if (read_position(image, header->e_phoff, raw, count * sizeof(*raw)) < 0)
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		struct elf_segment *segment = &image->segments[image->segment_count];

		*segment = (struct elf_segment){
			.offset = raw[i].p_offset,
			.file_size = raw[i].p_filesz,
			.address = raw[i].p_vaddr,
			.memory_size = raw[i].p_memsz,
			.type = raw[i].p_type,
			.flags = raw[i].p_flags,
		};
		/* From here on address + size and offset + size never wrap. */
		if (segment->address > INT64_MAX || segment->memory_size > INT64_MAX ||
		    segment->offset > INT64_MAX || segment->file_size > INT64_MAX)
			continue;
		image->segment_count++;
	}
	return 0;
}

static void set_load_address(struct elf_image *image)
{
	image->load_address = UINT64_MAX;
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (segment->type == PT_LOAD && segment->address < image->load_address)
			image->load_address = segment->address;
	}
	image->load_address &= ~UINT64_C(4095);
}

/* Sections are a convenience: a file without them, or with nonsense, is still usable by its
 * segments. */
static int read_sections(struct elf_image *image, const Elf64_Ehdr *header)
{
	size_t count = header->e_shnum;
	uint32_t names_index = header->e_shstrndx;
	_cleanup_free_ Elf64_Shdr *raw = NULL;
	_cleanup_free_ char *names = NULL;
	Elf64_Shdr first;

	if (header->e_shoff == 0 || header->e_shentsize != sizeof(*raw) ||
	    read_position(image, header->e_shoff, &first, sizeof(first)) < 0)
		return 0;
	if (count == 0)
		count = first.sh_size < ELF_IMAGE_MAX_SECTIONS ? first.sh_size
							       : ELF_IMAGE_MAX_SECTIONS;
	if (names_index == SHN_XINDEX)
		names_index = first.sh_link;
	if (count > ELF_IMAGE_MAX_SECTIONS)
		count = ELF_IMAGE_MAX_SECTIONS;
	if (count == 0 || names_index >= count)
		return 0;
	raw = calloc(count, sizeof(*raw));
	if (!raw)
		return -ENOMEM;
	if (read_position(image, header->e_shoff, raw, count * sizeof(*raw)) < 0)
		return 0;
	image->names_size = raw[names_index].sh_size;
	if (image->names_size == 0 || image->names_size > MAX_SECTION_NAMES_BYTES ||
	    image->names_size > image->size)
		return 0;
	names = malloc(image->names_size + 1);
	image->sections = calloc(count, sizeof(*image->sections));
	if (!names || !image->sections)
		return -ENOMEM;
	if (read_position(image, raw[names_index].sh_offset, names, image->names_size) < 0)
		return 0;
	names[image->names_size] = '\0';
	image->names = take_pointer(names);
	for (size_t i = 0; i < count; i++)
		image->sections[i] = (struct named_section){
			.section =
				{
					.address = raw[i].sh_addr,
					.offset = raw[i].sh_offset,
					.size = raw[i].sh_size,
					.flags = raw[i].sh_flags,
					.type = raw[i].sh_type,
					.link = raw[i].sh_link,
				},
			.name = raw[i].sh_name,
		};
	image->section_count = count;
	return 0;
}

static int read_headers(struct elf_image *image, struct error *error)
{
	Elf64_Ehdr header;
	int ret;

	ret = read_position(image, 0, &header, sizeof(header));
	if (ret == -ERANGE || (ret == 0 && memcmp(header.e_ident, ELFMAG, SELFMAG) != 0))
		return error_set(error, ENOEXEC, "not an ELF file, no unwind table is made");
	if (ret < 0)
		return error_set(error, -ret, "cannot read the ELF header: %s", strerror(-ret));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(error, ENOEXEC, "not a 64-bit little-endian ELF file");
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return error_set(error, ENOEXEC, "ELF machine %u is not supported",
				 header.e_machine);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(error, ENOEXEC, "ELF type %u is not an executable or library",
				 header.e_type);
	image->machine = header.e_machine;
	image->entry = header.e_entry;
	ret = read_segments(image, &header);
	if (ret == 0 && image->layout == ELF_IMAGE_LOADED)
		set_load_address(image);
	else if (ret == 0)
		ret = read_sections(image, &header);
	if (ret < 0)
		return error_set(error, -ret, "cannot read the ELF headers: %s", strerror(-ret));
	return 0;
}

int elf_image_open(int fd, struct elf_image **ret_image, struct error *error)
{
	_cleanup_(elf_image_free_cleanup) struct elf_image *image = calloc(1, sizeof(*image));
	struct stat info;
	int ret, seals;

	if (!image)
		return error_set(error, ENOMEM, "out of memory for an ELF image");
	image->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (image->fd < 0)
		return error_set(error, errno, "cannot keep an ELF file open: %s", strerror(errno));
	if (fstat(image->fd, &info) < 0)
		return error_set(error, errno, "cannot stat an ELF file: %s", strerror(errno));
	if (!S_ISREG(info.st_mode))
		return error_set(error, ENOEXEC, "not a regular file, no unwind table is made");
	image->size = (uint64_t)info.st_size;
	seals = fcntl(image->fd, F_GET_SEALS);
	image->is_copy = seals >= 0 && (seals & F_SEAL_WRITE);
	ret = read_headers(image, error);
	if (ret < 0)
		return ret;
	*ret_image = take_pointer(image);
	return 0;
}

int elf_image_open_memory(const void *data, size_t size, enum elf_image_layout layout,
			  struct elf_image **ret_image, struct error *error)
{
	_cleanup_(elf_image_free_cleanup) struct elf_image *image = calloc(1, sizeof(*image));
	int ret;

	if (!image)
		return error_set(error, ENOMEM, "out of memory for an ELF image");
	image->fd = -1;
	image->memory = data;
	image->size = size;
	image->layout = layout;
	ret = read_headers(image, error);
	if (ret < 0)
		return ret;
	*ret_image = take_pointer(image);
	return 0;
}

uint16_t elf_image_machine(const struct elf_image *image)
{
	return image->machine;
}

uint64_t elf_image_entry(const struct elf_image *image)
{
	return image->entry;
}

uint64_t elf_image_written_ns(const struct elf_image *image)
{
	struct stat info;

	if (image->fd < 0 || fstat(image->fd, &info) < 0)
		return 0;
	return (uint64_t)info.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)info.st_mtim.tv_nsec;
}

size_t elf_image_kept_bytes(const struct elf_image *image)
{
	return (image->is_copy ? image->size : 0) + sizeof(*image) +
	       image->segment_count * sizeof(*image->segments) +
	       image->section_count * sizeof(*image->sections) +
	       (image->names ? image->names_size : 0);
}

uint64_t elf_image_size(const struct elf_image *image)
{
	return image->size;
}

size_t elf_image_segment_count(const struct elf_image *image)
{
	return image->segment_count;
}

const struct elf_segment *elf_image_segment(const struct elf_image *image, size_t index)
{
	return index < image->segment_count ? &image->segments[index] : NULL;
}

const struct elf_segment *elf_image_find_segment(const struct elf_image *image, uint32_t type)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].type == type)
			return &image->segments[i];
	return NULL;
}

size_t elf_image_section_count(const struct elf_image *image)
{
	return image->section_count;
}

static bool section_has_bytes(const struct elf_image *image, const struct elf_section *section)
{
	return section->type != SHT_NULL && section->type != SHT_NOBITS &&
	       section->offset <= image->size && section->size <= image->size - section->offset;
}

bool elf_image_section_at(const struct elf_image *image, size_t index,
			  struct elf_section *ret_section)
{
	if (index >= image->section_count ||
	    !section_has_bytes(image, &image->sections[index].section))
		return false;
	*ret_section = image->sections[index].section;
	return true;
}

bool elf_image_find_section(const struct elf_image *image, const char *name,
			    struct elf_section *ret_section)
{
	for (size_t i = 0; i < image->section_count; i++) {
		const struct named_section *each = &image->sections[i];

		if (each->name < image->names_size && strcmp(image->names + each->name, name) == 0)
			return elf_image_section_at(image, i, ret_section);
	}
	return false;
}

static int inflate_section(const uint8_t *data, size_t size, size_t max_size, uint8_t **ret_data,
			   size_t *ret_size)
{
	_cleanup_free_ uint8_t *plain = NULL;
	Elf64_Chdr header;
	uLongf plain_size;

	if (size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	size -= sizeof(header);
	if (header.ch_type != ELFCOMPRESS_ZLIB)
		return -EOPNOTSUPP;
	if (header.ch_size > max_size || header.ch_size / MAX_DEFLATE_RATIO > size)
		return -EFBIG;
	plain = malloc(header.ch_size ? header.ch_size : 1);
	if (!plain)
		return -ENOMEM;
	plain_size = header.ch_size;
	if (uncompress(plain, &plain_size, data, size) != Z_OK)
		return -EBADMSG;
	*ret_data = take_pointer(plain);
	*ret_size = plain_size;
	return 0;
}

int elf_image_load_section(const struct elf_image *image, const struct elf_section *section,
			   size_t max_size, uint8_t **ret_data, size_t *ret_size)
{
	_cleanup_free_ uint8_t *data = NULL;
	int ret;

	if (section->size > max_size)
		return -EFBIG;
	if (!section_has_bytes(image, section))
		return -ERANGE;
	data = large_malloc(section->size ? section->size : 1);
	if (!data)
		return -ENOMEM;
	ret = read_position(image, section->offset, data, section->size);
	if (ret < 0)
		return ret;
	if (section->flags & SHF_COMPRESSED)
		return inflate_section(data, section->size, max_size, ret_data, ret_size);
	*ret_data = take_pointer(data);
	*ret_size = section->size;
	return 0;
}

/* What there is from an address on, at most size bytes; 0 also when it cannot be read. */
static size_t read_some(const struct elf_image *image, uint64_t address, void *buffer, size_t size)
{
	uint64_t available = elf_image_bytes_after(image, address);

	if (available < size)
		size = (size_t)available;
	return elf_image_read_address(image, address, buffer, size) < 0 ? 0 : size;
}

void elf_image_soname(const struct elf_image *image, char *buffer, size_t size)
{
	const struct elf_segment *segment = elf_image_find_segment(image, PT_DYNAMIC);
	Elf64_Dyn items[MAX_DYNAMIC_ITEMS];
	uint64_t names = 0, soname = UINT64_MAX;
	size_t count = segment ? read_some(image, segment->address, items, sizeof(items)) /
					 sizeof(items[0])
			       : 0;

	for (size_t i = 0; i < count && items[i].d_tag != DT_NULL; i++) {
		if (items[i].d_tag == DT_STRTAB)
			names = items[i].d_un.d_ptr;
		else if (items[i].d_tag == DT_SONAME)
			soname = items[i].d_un.d_val;
	}
	buffer[soname == UINT64_MAX ? 0 : read_some(image, names + soname, buffer, size - 1)] =
		'\0';
}

enum elf_role elf_image_role(const struct elf_image *image)
{
	char soname[8];

	elf_image_soname(image, soname, sizeof(soname));
	/* glibc's can be run, and names an interpreter as programs do. */
	if (strncmp(soname, "libc.", 5) == 0 || strncmp(soname, "ld-", 3) == 0)
		return ELF_ROLE_C_LIBRARY;
	if (elf_image_find_segment(image, PT_INTERP))
		return ELF_ROLE_PROGRAM;
	return soname[0] == '\0' ? ELF_ROLE_STATIC_PROGRAM : ELF_ROLE_LIBRARY;
}

bool elf_image_bias(const struct elf_image *image, uint64_t map_start, uint64_t map_offset,
		    uint64_t *ret_bias)
{
	/* The kernel maps whole pages of its own size: 64 KiB on some arm64 systems. */
	uint64_t page_mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		/* Two segments may share a file page (lld); only the executable one counts. */
		if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
		    map_offset < (segment->offset & ~page_mask) ||
		    map_offset >= ((segment->offset + segment->file_size + page_mask) & ~page_mask))
			continue;
		*ret_bias = map_start - (map_offset - segment->offset + segment->address);
		return true;
	}
	return false;
}
