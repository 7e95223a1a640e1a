// SPDX-License-Identifier: BSD-2-Clause
/* Finds the variables and the loop of CRuby by their symbols. */
#include "ruby/ruby_image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_file.h"
#include "elf/elf_symbol.h"
#include "python/python_symbol.h"
#include "ruby/ruby_layout.h"

#define MAX_LOOP_BYTES (1U << 20)
#define MAX_DATA_BYTES (1U << 20)

static uint64_t find_variable(const struct elf_file *file, const char *name)
{
	struct elf_symbol symbol;

	return python_symbol_find(file, STT_OBJECT, name, 1, &symbol) ? symbol.address : 0;
}

/* Symbols of executables that keep them, then of those that compilers put the function into. */
static bool find_loop(const struct elf_file *file, struct ruby_image *image)
{
	static const char *const names[] = {"vm_exec", "rb_vm_exec"};
	struct elf_symbol symbol;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!python_symbol_find(file, STT_FUNC, names[i], 64, &symbol) ||
		    symbol.size > MAX_LOOP_BYTES)
			continue;
		image->loop_start = symbol.address;
		image->loop_size = symbol.size;
		return true;
	}
	return false;
}

static bool find_data(const struct elf_file *file, struct ruby_image *image)
{
	const struct elf_section *data = elf_file_find_section(file, ".data");

	if (!data || !data->size)
		return false;
	image->data_start = data->address;
	image->data_size = data->size < MAX_DATA_BYTES ? data->size : MAX_DATA_BYTES;
	return true;
}

static bool is_ruby_name(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	name = name ? name + 1 : path;
	return name && strstr(name, "ruby");
}

/* A text, as its end may be that of the file. */
static bool read_version(const struct elf_file *file, uint64_t address, char version[12])
{
	memset(version, 0, 12);
	return !elf_file_read_address(file, address, version, 8);
}

int ruby_image_find(const struct elf_file *file, const char *path, struct ruby_image *ret_image)
{
	unsigned int major = 0, minor = 0;
	uint64_t version;

	*ret_image = (struct ruby_image){0};
	if (!file->is_64 || !is_ruby_name(path))
		return -ENOENT;
	version = find_variable(file, "ruby_version");
	ret_image->object = find_variable(file, "rb_cObject");
	if (!version || !ret_image->object || !read_version(file, version, ret_image->version) ||
	    sscanf(ret_image->version, "%3u.%3u", &major, &minor) != 2)
		return -ENOENT;
	if (!ruby_layout_of(major, minor, &ret_image->layout)) {
		snprintf(ret_image->unknown, sizeof(ret_image->unknown), "Ruby %u.%u", major,
			 minor);
		return -ENOTSUP;
	}
	ret_image->vm = find_variable(file, "ruby_current_vm_ptr");
	if (!ret_image->vm || !find_loop(file, ret_image) || !find_data(file, ret_image)) {
		snprintf(ret_image->unknown, sizeof(ret_image->unknown), "Ruby %u.%u, stripped",
			 major, minor);
		return -ENOTSUP;
	}
	return 0;
}
