// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the places for probes on every function of every ELF file, and checks that decoding from
 * the function's start leads to each of them, that none is on a nop of five bytes, and that no code
 * jumps to between a function's start and its entry probe.
 *
 *	oracle_function_exits [FILE or FOLDER…]
 *
 * Exit status 1: a place where no probe may be, or nothing was found.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "elf/elf_functions.h"
#include "elf_walk.h"
#include "instruction/function_exits.h"
#include "instruction/x86_flow.h"

#define MAX_FUNCTION_BYTES (1U << 20)

struct counts {
	unsigned long files, functions, entries, emulated, measured, exits, wrong;
};

/* Marks where instructions begin, and counts what jumps to each byte. */
static void mark(const uint8_t *code, size_t size, uint8_t *begins, uint8_t *targets)
{
	struct x86_instruction instruction;

	memset(begins, 0, size);
	memset(targets, 0, size);
	for (size_t at = 0; at < size; at += instruction.size) {
		enum x86_flow flow;
		int64_t target;

		if (!x86_decode(code + at, size - at, &instruction))
			return;
		begins[at] = 1;
		flow = x86_flow_of(&instruction);
		target = (int64_t)at + instruction.size + instruction.immediate;
		if ((flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP) && target >= 0 &&
		    target < (int64_t)size)
			targets[target] = 1;
	}
}

static bool is_wrong(const uint8_t *code, size_t size, const uint8_t *begins, size_t at)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return at >= size || !begins[at] ||
	       (size - at >= sizeof(nop) && memcmp(code + at, nop, sizeof(nop)) == 0);
}

static void check_function(const char *path, uint64_t address, const uint8_t *code, size_t size,
			   struct counts *counts)
{
	static uint8_t begins[MAX_FUNCTION_BYTES], targets[MAX_FUNCTION_BYTES];
	static struct function_probes probes;
	bool wrong;

	counts->functions++;
	function_probes_find(code, size, &probes);
	if (!function_probes_has_entry(&probes))
		return;
	mark(code, size, begins, targets);
	wrong = is_wrong(code, size, begins, probes.entry);
	for (size_t i = 1; i <= probes.entry; i++)
		wrong |= targets[i];
	for (size_t i = 0; i < probes.exit_count; i++)
		wrong |= is_wrong(code, size, begins, probes.exits[i].at);
	counts->entries++;
	counts->emulated += probes.is_emulated;
	counts->measured += probes.refusal == FUNCTION_IS_KNOWN;
	counts->exits += probes.exit_count;
	if (wrong && counts->wrong++ < 10)
		printf("%s: 0x%llx: a probe is where none may be\n", path,
		       (unsigned long long)address);
}

static void check_file(const char *path, struct counts *counts)
{
	static uint8_t code[MAX_FUNCTION_BYTES];
	struct elf_functions functions = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file file;

	if (fd < 0 || elf_file_open(&file, fd) < 0) {
		close(fd);
		return;
	}
	counts->files += elf_functions_load(&functions, &file) == 0;
	for (size_t i = 0; i < functions.count; i++) {
		uint64_t address = functions.base + (uint64_t)(int64_t)functions.entries[i].start;
		uint64_t end = elf_functions_end(&functions, &file, address);

		if (end > address && end - address <= sizeof(code) &&
		    elf_file_read_address(&file, address, code, end - address) == 0)
			check_function(path, address, code, end - address, counts);
	}
	elf_functions_done(&functions);
	elf_file_done(&file);
	close(fd);
}

int main(int argc, char **argv)
{
	struct counts counts = {0};
	struct elf_walk walk = {0};

	for (int i = 1; i < argc; i++)
		elf_walk_add(&walk, argv[i]);
	if (argc == 1) {
		elf_walk_add(&walk, "/usr/bin");
		elf_walk_add(&walk, "/usr/sbin");
		elf_walk_add(&walk, "/usr/lib");
		elf_walk_thin(&walk);
	}
	for (size_t i = 0; i < walk.count; i++)
		check_file(walk.paths[i], &counts);
	elf_walk_done(&walk);
	printf("%lu files, %lu functions: %lu can be counted (%lu on emulated instructions), %lu "
	       "measured at %lu exits; %lu wrong\n",
	       counts.files, counts.functions, counts.entries, counts.emulated, counts.measured,
	       counts.exits, counts.wrong);
	return counts.wrong || !counts.measured;
}
