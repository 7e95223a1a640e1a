// SPDX-License-Identifier: BSD-2-Clause
/* Finds the stubs of pkbpf.h by their notes, and sys.audit() of Python interpreters. */
#include "source/regions/region_sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/elf_functions.h"
#include "elf/usdt_notes.h"
#include "elf/usdt_operand.h"
#include "elf/usdt_site.h"
#include "instruction/function_exits.h"
#include "instruction/x86_instruction.h"
#include "instruction/x86_probe.h"
#include "python/python_builtin.h"
#include "python/python_image.h"
#include "source/regions/function_match.h"
#include "source/regions/library_marks.h"

#define PROVIDER "pkbpf"
/* A file has one stub of each kind, or one in each of its parts that were linked apart. */
#define MAX_SITES 256
/* The longest functions known, interpreters and generated parsers, have about 200 KB. */
#define MAX_FUNCTION_BYTES (1U << 20)
/* sys.audit() came with 3.8. */
#define FIRST_PYTHON 0x03080000U

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

struct finding {
	const struct elf_file *file;
	struct region_sites *sites;
	const struct region_pairs *pairs;
	struct elf_functions functions;
	bool failed;
};

static const char *const stub_names[] = {
	[REGION_ENTER] = "v1_enter", [REGION_LEAVE] = "v1_leave", [REGION_ITEMS] = "v1_items",
	[REGION_BEGIN] = "v1_begin", [REGION_END] = "v1_end",
};

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
	struct region_site *item;
	struct usdt_site site;

	if (!usdt_site_at(finding->file, address, semaphore, &site))
		return true;
	finding->sites->shadowed += site.semaphore_is_shadowed;
	item = array_add(&finding->sites->items);
	finding->failed = !item;
	if (item)
		*item = (struct region_site){.role = role,
					     .offset = site.offset,
					     .semaphore_offset = site.semaphore_offset};
	return item && finding->sites->items.count < MAX_SITES;
}

#if defined(__x86_64__)
/* Does decoding from the function's start lead to this address? A probe inside of an instruction
 * would change it. */
static bool is_instruction(struct finding *finding, uint64_t address)
{
	struct x86_instruction instruction;
	_cleanup_free_ uint8_t *code = NULL;
	uint64_t start;
	size_t size, at = 0;

	if (elf_functions_find(&finding->functions, finding->file, address, &start) < 0)
		return true; /* nothing is known about it; it looks like a probe */
	size = address - start;
	if (size > MAX_FUNCTION_BYTES)
		return false;
	code = malloc(size + 1);
	if (!code || elf_file_read_address(finding->file, start, code, size + 1) < 0)
		return false;
	while (at < size && x86_decode(code + at, size - at, &instruction))
		at += instruction.size;
	return at == size;
}
#endif

/*
 * Probes go on nops of one byte only, as <sys/sdt.h> writes them. Since 6.18 the kernel replaces a
 * nop of five bytes by a call: that destroys what a leaf function has below its stack pointer, and
 * the memory that it leads to is missing in a forked child, which it kills.
 */
static bool is_probe(struct finding *finding, uint64_t address)
{
#if defined(__x86_64__)
	uint8_t code;

	return elf_file_read_address(finding->file, address, &code, sizeof(code)) == 0 &&
	       code == 0x90 && is_instruction(finding, address);
#else
	uint32_t code;

	return elf_file_read_address(finding->file, address, &code, sizeof(code)) == 0 &&
	       code == 0xd503201f;
#endif
}

static bool add_pair_site(struct finding *finding, size_t number, enum usdt_role role,
			  const struct usdt_note *note)
{
	const struct usdt_pair *pair = &finding->pairs->items.items[number];
	size_t count = finding->sites->items.count;
	struct pkbpf_span_site *site;
	bool go_on;

	if (!is_probe(finding, note->address)) {
		finding->sites->refused++;
		return true;
	}
	go_on = add_site(finding, REGION_SITE, note->address, note->semaphore);
	if (finding->sites->items.count == count)
		return go_on;
	site = &finding->sites->items.items[count].description;
	site->pair = (uint32_t)number + 1;
	snprintf(site->name, sizeof(site->name), "%s", pair->region);
	if (pair->id == USDT_THREAD) {
		site->role = role == USDT_BEGIN ? PKBPF_SITE_ENTER : PKBPF_SITE_LEAVE;
	} else {
		site->role = role == USDT_BEGIN ? PKBPF_SITE_BEGIN : PKBPF_SITE_END;
		site->id = usdt_operand_parse(note->arguments, pair->id);
	}
	return go_on;
}

static bool take_pairs(struct finding *finding, const struct usdt_note *note)
{
	for (size_t i = 0; i < finding->pairs->items.count; i++) {
		enum usdt_role role =
			usdt_pair_role(&finding->pairs->items.items[i], note->provider, note->name);

		if (role != USDT_NONE && !add_pair_site(finding, i, role, note))
			return false;
	}
	return true;
}

static bool take_note(void *context, const struct usdt_note *note)
{
	struct finding *finding = context;

	if (strcmp(note->provider, PROVIDER) != 0)
		return take_pairs(finding, note);
	for (size_t i = 0; i < ARRAY_SIZE(stub_names); i++)
		if (strcmp(note->name, stub_names[i]) == 0 && is_stub(finding->file, note->address))
			return add_site(finding, (enum region_role)i, note->address,
					note->semaphore);
	return true;
}

#if defined(__x86_64__)
struct entry {
	uint64_t address;
	bool is_emulated;
};

/* Where the probe of a call goes; false: nowhere. Arguments are where callers have put them at the
 * very first instruction alone. */
static bool find_entry(const struct elf_file *file, const struct matched_function *matched,
		       bool with_argument, struct entry *ret_entry)
{
	_cleanup_free_ struct function_probes *probes = malloc(sizeof(*probes));
	bool is_sized = matched->size <= MAX_FUNCTION_BYTES;
	_cleanup_free_ uint8_t *code = malloc(is_sized ? matched->size + 1 : 1);
	struct x86_instruction first;

	if (!probes || !code || !is_sized ||
	    elf_file_read_address(file, matched->address, code, matched->size) < 0)
		return false;
	function_probes_find(code, matched->size, probes);
	ret_entry->address = matched->address + (with_argument ? 0 : probes->entry);
	ret_entry->is_emulated = with_argument ? x86_decode(code, matched->size, &first) &&
							 x86_probe_is_emulated(code, &first)
					       : probes->is_emulated;
	/* One that jumps to its first instruction would begin again there. */
	return function_probes_has_entry(probes) &&
	       !(with_argument && (probes->has_loop || x86_probe_is_refused(code, matched->size) ||
				   x86_probe_breaks_forks(code, matched->size)));
}

static struct pkbpf_span_operand argument_of(uint8_t number)
{
	/* Words of struct pt_regs: rdi, rsi, rdx, rcx, r8, r9. */
	static const uint8_t words[] = {14, 13, 12, 11, 9, 8};

	return (struct pkbpf_span_operand){
		.kind = PKBPF_OPERAND_REGISTER, .size = 8, .word = words[number]};
}

/* ret_site: NULL if there is none. false: no more of them. */
static bool add_entry(struct finding *finding, const struct matched_function *matched,
		      bool with_argument, struct pkbpf_span_site **ret_site)
{
	size_t count = finding->sites->items.count;
	struct region_site *item;
	struct entry entry;
	bool go_on;

	*ret_site = NULL;
	if (!find_entry(finding->file, matched, with_argument, &entry)) {
		finding->sites->refused_functions++;
		return true;
	}
	go_on = add_site(finding, REGION_SITE, entry.address, 0);
	if (finding->sites->items.count == count)
		return go_on;
	item = &finding->sites->items.items[count];
	item->is_emulated = entry.is_emulated;
	item->is_stepped = !entry.is_emulated;
	*ret_site = &item->description;
	return go_on;
}

static bool add_function_site(struct finding *finding, size_t number, enum usdt_role role,
			      const struct matched_function *matched)
{
	const struct usdt_pair *pair = &finding->pairs->items.items[number];
	bool by_id = pair->id != USDT_THREAD;
	struct pkbpf_span_site *site;
	bool go_on = add_entry(finding, matched, by_id, &site);

	if (!site)
		return go_on;
	site->pair = (uint32_t)number + 1;
	snprintf(site->name, sizeof(site->name), "%s", pair->region);
	site->role = role == USDT_BEGIN ? by_id ? PKBPF_SITE_BEGIN : PKBPF_SITE_ENTER
		     : by_id		? PKBPF_SITE_END
					: PKBPF_SITE_LEAVE;
	if (by_id)
		site->id = argument_of(pair->id);
	return go_on;
}

/* All of a library are one pair, behind those of the user. */
static bool add_library_mark(struct finding *finding, const struct library_mark *mark,
			     const struct matched_function *matched)
{
	struct pkbpf_span_site *site;
	bool go_on = add_entry(finding, matched, true, &site);

	if (!site)
		return go_on;
	site->pair = (uint32_t)finding->pairs->items.count + 1;
	site->role = mark->role;
	site->nests = true;
	snprintf(site->name, sizeof(site->name), "%s", mark->region);
	if (mark->role == PKBPF_SITE_ENTER) {
		site->value = argument_of(mark->name_argument);
		site->value_is_record = mark->has_attributes;
	}
	return go_on;
}

static int find_library_marks(struct finding *finding, const char *path)
{
	const struct library_mark *mark;
	int err = 0;

	for (size_t i = 0; (mark = library_mark_at(i)) && !err; i++) {
		struct matched_functions matches = {0};

		if (!function_pattern_has_file(&mark->pattern, path))
			continue;
		err = function_match(finding->file, path, &mark->pattern, &matches);
		for (size_t j = 0; j < matches.items.count && !err; j++)
			if (!add_library_mark(finding, mark, &matches.items.items[j]))
				break;
		matched_functions_done(&matches);
	}
	return err;
}

static int add_functions(struct finding *finding, const char *path, size_t number,
			 enum usdt_role role, const char *name)
{
	const struct usdt_pair *pair = &finding->pairs->items.items[number];
	const struct function_pattern pattern = {.library = pair->provider, .glob = name};
	struct matched_functions matches = {0};
	int err;

	if (!function_pattern_has_file(&pattern, path))
		return 0;
	err = function_match(finding->file, path, &pattern, &matches);
	for (size_t i = 0; i < matches.items.count && !err; i++)
		if (!add_function_site(finding, number, role, &matches.items.items[i]))
			break;
	matched_functions_done(&matches);
	return err;
}

static int find_function_pairs(struct finding *finding, const char *path)
{
	int err = 0;

	for (size_t i = 0; i < finding->pairs->items.count && !err; i++) {
		const struct usdt_pair *pair = &finding->pairs->items.items[i];

		if (!pair->of_functions)
			continue;
		err = add_functions(finding, path, i, USDT_BEGIN, pair->begin);
		err = err ? err : add_functions(finding, path, i, USDT_END, pair->ends[0]);
	}
	return err;
}
#else
static int find_function_pairs(struct finding *finding, const char *path)
{
	(void)finding;
	(void)path;
	return 0;
}

static int find_library_marks(struct finding *finding, const char *path)
{
	(void)finding;
	(void)path;
	return 0;
}
#endif

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

int region_sites_find(const struct elf_file *file, const char *path,
		      const struct region_pairs *pairs, struct region_sites *sites)
{
	struct finding finding = {.file = file, .sites = sites, .pairs = pairs};
	int err;

	if (elf_file_find_section(file, ".note.stapsdt"))
		elf_functions_load(&finding.functions, file);
	err = usdt_notes_read(file, take_note, &finding);
	elf_functions_done(&finding.functions);
	err = err == -EBADMSG || err == -EFBIG || err == -ENODATA || err == -EOPNOTSUPP ? 0 : err;
	err = err ? err : find_function_pairs(&finding, path);
	err = err ? err : find_library_marks(&finding, path);
	err = err ? err : find_python(&finding, path);
	return finding.failed ? -ENOMEM : err;
}

void region_sites_done(struct region_sites *sites)
{
	array_free(&sites->items);
}
