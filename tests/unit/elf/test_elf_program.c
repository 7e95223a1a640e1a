// SPDX-License-Identifier: BSD-2-Clause
/* Tests for programs and libraries: bias, reading by address, refusal of nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_program.h"
#include "elf_recipe.h"

static uint8_t *make(size_t *ret_size)
{
	static const uint8_t eh_frame[4];
	struct elf_recipe recipe = {
		.text_size = 0x3000, .eh_frame = eh_frame, .eh_frame_size = sizeof(eh_frame)};
	uint8_t *file = elf_recipe_make(&recipe, ret_size);

	assert_non_null(file);
	return file;
}

static Elf64_Phdr *segments_of(uint8_t *file)
{
	return (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
}

static struct elf_file *open_memory(const uint8_t *file, size_t size)
{
	struct elf_file *image = NULL;

	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	return image;
}

static void tells_what_is_in_a_file(void **state)
{
	const struct elf_section *section;
	struct elf_file *image;
	size_t size;
	uint8_t *file = make(&size);

	image = open_memory(file, size);
	assert_int_equal(image->machine, EM_X86_64);
	assert_int_equal(image->segments.count, 3);
	section = elf_file_find_section(image, ".text");
	assert_non_null(section);
	assert_int_equal(section->address, ELF_RECIPE_TEXT_ADDRESS);
	assert_null(elf_file_find_section(image, ".debug_frame"));
	assert_null(elf_file_find_section(image, ".tex"));
	assert_int_equal(elf_file_bytes_after(image, ELF_RECIPE_TEXT_ADDRESS + 0x2fff), 1);
	assert_int_equal(elf_file_bytes_after(image, ELF_RECIPE_TEXT_ADDRESS + 0x3000), 0);
	elf_program_free(image);
	free(file);
}

static void reads_only_what_exists(void **state)
{
	struct elf_file *image;
	uint8_t bytes[16];
	size_t size;
	uint8_t *file = make(&size);

	image = open_memory(file, size);
	assert_int_equal(elf_file_read_address(image, ELF_RECIPE_TEXT_ADDRESS, bytes, 16), 0);
	assert_int_equal(bytes[0], 0xcc);
	assert_int_equal(elf_file_read_address(image, ELF_RECIPE_TEXT_ADDRESS + 0x2ff1, bytes, 16),
			 -EIO);
	assert_int_equal(elf_file_read_address(image, 0, bytes, 1), -EIO);
	assert_int_equal(elf_file_read(image, size - 1, bytes, 1), 0);
	assert_int_equal(elf_file_read(image, size - 1, bytes, 2), -EIO);
	assert_int_equal(elf_file_read(image, UINT64_MAX, bytes, 2), -EIO);
	elf_program_free(image);
	free(file);
}

static void takes_the_bias_from_the_executable_segment(void **state)
{
	struct elf_file *image;
	uint64_t bias = 0;
	size_t size;
	uint8_t *file = make(&size);
	Elf64_Phdr *segments = segments_of(file);

	/* As lld lays files out: read-only and executable segments share a page of the file. */
	segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_flags = PF_R,
				   .p_offset = 0,
				   .p_vaddr = 0x200000,
				   .p_filesz = 0x1100,
				   .p_memsz = 0x1100};
	segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = 0x1100,
				   .p_vaddr = 0x202100,
				   .p_filesz = 0x1000,
				   .p_memsz = 0x1000};
	image = open_memory(file, size);
	assert_true(elf_segments_bias(&image->segments, 0x7f0000001000, 0, 0x1000, &bias));
	assert_int_equal(bias, 0x7f0000001000 - 0x202000);
	/* A later part of the same segment, mapped by itself. */
	assert_true(elf_segments_bias(&image->segments, 0x7f0000002000, 0, 0x2000, &bias));
	assert_int_equal(bias, 0x7f0000002000 - 0x203000);
	bias = 42;
	assert_false(elf_segments_bias(&image->segments, 0x7f0000000000, 0, 0, &bias));
	assert_false(elf_segments_bias(&image->segments, 0x7f0000000000, 0, 0x10000, &bias));
	assert_int_equal(bias, 42);
	elf_program_free(image);
	free(file);
}

static void a_page_with_two_executable_segments_belongs_to_the_one_mapped(void **state)
{
	struct elf_file *image;
	uint64_t bias = 1;
	size_t size;
	uint8_t *file = make(&size);
	Elf64_Phdr *segments = segments_of(file);

	segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x200000, .p_filesz = 0x900};
	segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = 0x900,
				   .p_vaddr = 0x400900,
				   .p_filesz = 0x600};
	image = open_memory(file, size);
	assert_true(elf_segments_bias(&image->segments, 0x200000, 0, 0, &bias));
	assert_int_equal(bias, 0);
	assert_true(elf_segments_bias(&image->segments, 0x400000, 0, 0, &bias));
	assert_int_equal(bias, 0);
	elf_program_free(image);
	/* What is mapped anywhere has as many pages as its segment. */
	((Elf64_Ehdr *)file)->e_type = ET_DYN;
	segments[1].p_filesz = 0x1600;
	image = open_memory(file, size);
	assert_true(elf_segments_bias(&image->segments, 0x7f0000200000, 0x7f0000201000, 0, &bias));
	assert_int_equal(bias, 0x7f0000000000);
	assert_true(elf_segments_bias(&image->segments, 0x7f0000400000, 0x7f0000402000, 0, &bias));
	assert_int_equal(bias, 0x7f0000000000);
	elf_program_free(image);
	free(file);
}

static void refuses_what_is_no_x86_64_or_arm64_program(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} changes[] = {{0, 'X'},     {EI_CLASS, ELFCLASS32}, {EI_DATA, ELFDATA2MSB},
		       {16, ET_REL}, {16, ET_CORE},	     {18, EM_386}};
	struct elf_file *image = NULL;
	size_t size;
	uint8_t *file = make(&size);

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t before = file[changes[i].offset];

		file[changes[i].offset] = changes[i].value;
		assert_int_equal(elf_program_open_memory(file, size, &image), -ENOEXEC);
		file[changes[i].offset] = before;
	}
	for (size_t cut = 0; cut < sizeof(Elf64_Ehdr); cut++)
		assert_int_equal(elf_program_open_memory(file, cut, &image), -ENOEXEC);
	assert_null(image);
	free(file);
}

static void survives_sizes_that_wrap(void **state)
{
	struct elf_file *image;
	uint8_t bytes[16];
	uint64_t bias;
	size_t size;
	uint8_t *file = make(&size);
	Elf64_Phdr *segments = segments_of(file);

	segments[0].p_filesz = UINT64_MAX;
	segments[1].p_vaddr = INT64_MAX;
	segments[1].p_filesz = INT64_MAX;
	segments[1].p_offset = INT64_MAX;
	segments[1].p_flags = PF_X;
	image = open_memory(file, size);
	assert_int_equal(image->segments.count, 2); /* the first is nonsense */
	assert_true(elf_file_read_address(image, (uint64_t)INT64_MAX + 100, bytes, 16) < 0);
	elf_segments_bias(&image->segments, 0, 0, UINT64_MAX, &bias);
	elf_program_free(image);
	free(file);
}

static void notices_a_file_that_shrinks(void **state)
{
	struct elf_file *image = NULL;
	uint8_t bytes[16];
	size_t size;
	uint8_t *file = make(&size);
	int fd = memfd_create("shrinking", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, size), (ssize_t)size);
	assert_int_equal(elf_program_open(fd, &image), 0);
	assert_int_equal(elf_file_read_address(image, ELF_RECIPE_TEXT_ADDRESS, bytes, 16), 0);
	assert_int_equal(ftruncate(fd, 0x1008), 0);
	assert_int_equal(elf_file_read_address(image, ELF_RECIPE_TEXT_ADDRESS, bytes, 16), -EIO);
	close(fd); /* the image has its own */
	assert_int_equal(elf_file_read(image, 0, bytes, 16), 0);
	elf_program_free(image);
	free(file);
}

struct loaded {
	const char *part; /* of the name that is looked for */
	char path[256];
};

static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *loaded = context;

	if (!strstr(info->dlpi_name, loaded->part))
		return 0;
	snprintf(loaded->path, sizeof(loaded->path), "%s", info->dlpi_name);
	return 1;
}

static enum elf_role role_of(const char *path)
{
	struct elf_file *image;
	enum elf_role role;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_program_open(fd, &image), 0);
	role = elf_program_role(image);
	elf_program_free(image);
	close(fd);
	return role;
}

static void a_sealed_copy_takes_memory_of_ours(void **state)
{
	struct elf_file *file_image = NULL, *copy_image = NULL;
	size_t size, kept_of_file;
	uint8_t *file = make(&size);
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, size), (ssize_t)size);
	assert_int_equal(elf_program_open(fd, &file_image), 0);
	kept_of_file = elf_program_kept_bytes(file_image);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(elf_program_open(fd, &copy_image), 0);
	assert_int_equal(elf_program_kept_bytes(copy_image), kept_of_file + size);
	elf_program_free(file_image);
	elf_program_free(copy_image);
	close(fd);
	free(file);
}

static void knows_programs_from_libraries(void **state)
{
	struct loaded loader = {.part = "/ld-"}, library = {.part = "libcmocka"};
	struct elf_file *image;
	size_t size;
	uint8_t *file = make(&size);

	image = open_memory(file, size);
	assert_int_equal(elf_program_role(image), ELF_ROLE_STATIC_PROGRAM);
	elf_program_free(image);
	free(file);
	assert_int_equal(role_of("/proc/self/exe"), ELF_ROLE_PROGRAM);
	assert_int_equal(dl_iterate_phdr(on_object, &loader), 1);
	assert_int_equal(role_of(loader.path), ELF_ROLE_C_LIBRARY);
	assert_int_equal(dl_iterate_phdr(on_object, &library), 1);
	assert_int_equal(role_of(library.path), ELF_ROLE_LIBRARY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_is_in_a_file),
		cmocka_unit_test(reads_only_what_exists),
		cmocka_unit_test(takes_the_bias_from_the_executable_segment),
		cmocka_unit_test(a_page_with_two_executable_segments_belongs_to_the_one_mapped),
		cmocka_unit_test(refuses_what_is_no_x86_64_or_arm64_program),
		cmocka_unit_test(survives_sizes_that_wrap),
		cmocka_unit_test(notices_a_file_that_shrinks),
		cmocka_unit_test(a_sealed_copy_takes_memory_of_ours),
		cmocka_unit_test(knows_programs_from_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
