// SPDX-License-Identifier: BSD-2-Clause
/* Finds the stubs of pkbpf.h by their notes, and sys.audit() of Python interpreters. */
#include "source/regions/region_sites.h"

#include <errno.h>
#include <string.h>

#include "elf/usdt_notes.h"
#include "python/python_builtin.h"
#include "python/python_image.h"

#define PROVIDER "pkbpf"
/* A file has one stub of each kind, or one in each of its parts that were linked apart. */
#define MAX_SITES 256
/* sys.audit() came with 3.8. */
#define FIRST_PYTHON 0x03080000U

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

struct finding {
	const struct elf_file *file;
	struct region_sites *sites;
	bool failed;
};

static const char *const stub_names[] = {
	[REGION_ENTER] = "v1_enter", [REGION_LEAVE] = "v1_leave", [REGION_ITEMS] = "v1_items",
	[REGION_BEGIN] = "v1_begin", [REGION_END] = "v1_end",
};

static bool file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t size;

	return elf_segments_offset(&file->segments, address, ret_offset, &size);
}

/* The code of a stub, as pkbpf.h has it. A note may say anything, and probes in the middle of an
 * instruction or on a nop of five bytes break programs (see pkbpf.h). */
static bool is_stub(const struct elf_file *file, uint64_t address)
{
#if defined(__x86_64__)
	static const uint8_t stub[] = {0x90, 0xc3};
#else
	static const uint8_t stub[] = {0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6};
#endif
	uint8_t code[sizeof(stub)];

	return elf_file_read_address(file, address, code, sizeof(code)) == 0 &&
	       memcmp(code, stub, sizeof(code)) == 0;
}

static bool add_site(struct finding *finding, enum region_role role, uint64_t address,
		     uint64_t semaphore)
{
	struct region_site site = {.role = role}, *item;

	if (!file_offset(finding->file, address, &site.offset) ||
	    (semaphore && !file_offset(finding->file, semaphore, &site.semaphore_offset)))
		return true;
	item = array_add(&finding->sites->items);
	finding->failed = !item;
	if (item)
		*item = site;
	return item && finding->sites->items.count < MAX_SITES;
}

static bool take_note(void *context, const struct usdt_note *note)
{
	struct finding *finding = context;

	if (strcmp(note->provider, PROVIDER) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(stub_names); i++)
		if (strcmp(note->name, stub_names[i]) == 0 && is_stub(finding->file, note->address))
			return add_site(finding, (enum region_role)i, note->address,
					note->semaphore);
	return true;
}

/* The kernel has to step over an endbr64, which takes ten times as long as what follows it: the
 * push of a function's start. No code jumps between the two. */
static uint64_t function_site(const struct elf_file *file, uint64_t address)
{
	uint8_t code[sizeof(endbr64)];

	if (elf_file_read_address(file, address, code, sizeof(code)) == 0 &&
	    memcmp(code, endbr64, sizeof(code)) == 0)
		return address + sizeof(endbr64);
	return address;
}

static int find_python(struct finding *finding, const char *path)
{
	struct python_image image = {0};
	uint64_t address;
	int err = python_image_find(finding->file, path, &image);

	if (err == -ENOTSUP)
		err = image.version ? 0 : -ENOENT;
	if (!err && image.version < FIRST_PYTHON)
		err = -ENOENT;
	err = err ? err : python_builtin_find(finding->file, "audit", &address);
	if (!err)
		add_site(finding, REGION_PYTHON, function_site(finding->file, address), 0);
	return err == -ENOENT ? 0 : err;
}

int region_sites_find(const struct elf_file *file, const char *path, struct region_sites *sites)
{
	struct finding finding = {.file = file, .sites = sites};
	int err = usdt_notes_read(file, take_note, &finding);

	err = err == -EBADMSG || err == -EFBIG || err == -ENODATA || err == -EOPNOTSUPP ? 0 : err;
	err = err ? err : find_python(&finding, path);
	return finding.failed ? -ENOMEM : err;
}

void region_sites_done(struct region_sites *sites)
{
	array_free(&sites->items);
}
