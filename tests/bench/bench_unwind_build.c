// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures how fast unwind tables are built, next to libdw producing the same rows, in processor
 * time.
 *
 *	bench_unwind_build [--no-libdw] [--each] [--repeat N] [FILE or FOLDER…]
 *
 * Without arguments: every x86-64 ELF file below /usr and /lib.
 */
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/elf_program.h"
#include "elf_walk.h"
#include "unwind/cfi/eh_frame.h"
#include "unwind/table/unwind_table.h"

struct options {
	bool libdw;
	bool each;
	unsigned int repeat;
};

struct measurement {
	uint64_t files;
	uint64_t functions;
	uint64_t raw_rows;
	uint64_t rows;
	uint64_t unsupported;
	uint64_t dropped;
	uint64_t special;
	uint64_t table_bytes;
	uint64_t section_bytes;
	uint64_t own_ns;
	uint64_t libdw_ns;
	uint64_t libdw_rows;
};

/* Processor time: other work on the machine does not count. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

struct libdw_walk {
	Dwarf_CFI *cfi;
	uint64_t text_start;
	uint64_t rows;
};

static void ask_libdw(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct libdw_walk *walk = context;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;

	walk->rows++;
	if (dwarf_cfi_addrframe(walk->cfi, walk->text_start + offset, &frame) != 0)
		return;
	dwarf_frame_cfa(frame, &ops, &count);
	dwarf_frame_register(frame, 6, memory, &ops, &count);
	dwarf_frame_register(frame, 16, memory, &ops, &count);
	free(frame);
}

static void measure_libdw(int fd, const struct elf_file *image, struct measurement *m)
{
	struct libdw_walk walk = {0};
	struct eh_frame *frame;
	uint64_t begin;
	Elf *elf;

	if (eh_frame_load(image, &frame, NULL) < 0)
		return;
	begin = now_ns();
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	walk.cfi = dwarf_getcfi_elf(elf);
	walk.text_start = eh_frame_text_start(frame);
	if (walk.cfi) {
		for (size_t i = 0; i < eh_frame_count(frame); i++)
			eh_frame_run(frame, i, ask_libdw, &walk);
		dwarf_cfi_end(walk.cfi);
		m->libdw_ns += now_ns() - begin;
		m->libdw_rows += walk.rows;
	}
	elf_end(elf);
	eh_frame_free(frame);
}

static void measure_file(const char *path, const struct options *options, struct rule_set *rules,
			 struct measurement *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table *table = NULL;
	uint64_t best = UINT64_MAX;

	if (fd < 0)
		return;
	for (unsigned int i = 0; i < options->repeat; i++) {
		struct elf_file *image;
		uint64_t begin = now_ns();

		if (elf_program_open(fd, &image) < 0)
			break;
		unwind_table_free(table);
		table = NULL;
		if (unwind_table_build(image, false, rules, &table, NULL) == 0) {
			uint64_t spent = now_ns() - begin;

			if (spent < best)
				best = spent;
			if (i == 0 && options->libdw)
				measure_libdw(fd, image, m);
		}
		elf_program_free(image);
	}
	close(fd);
	if (!table)
		return;
	m->files++;
	m->own_ns += best;
	m->functions += table->stats.function_count;
	m->raw_rows += table->stats.raw_row_count;
	m->unsupported += table->stats.unsupported_count;
	m->dropped += table->stats.dropped_count;
	m->special += table->stats.special_count;
	m->rows += table->row_count;
	m->table_bytes += unwind_table_size_bytes(table);
	unwind_table_free(table);
}

static void print(const char *name, const struct measurement *m)
{
	printf("%s: %lu functions, %lu raw rows, %lu rows, %.2f MB, %lu unsupported, %lu dropped, "
	       "%lu special, %.2f ms, %.1f M rows/s",
	       name, m->functions, m->raw_rows, m->rows, (double)m->table_bytes / 1e6,
	       m->unsupported, m->dropped, m->special, (double)m->own_ns / 1e6,
	       (double)m->raw_rows * 1e3 / (double)m->own_ns);
	if (m->libdw_rows)
		printf("; libdw %.1f M rows/s, %.1f times slower",
		       (double)m->libdw_rows * 1e3 / (double)m->libdw_ns,
		       ((double)m->libdw_ns / (double)m->libdw_rows) /
			       ((double)m->own_ns / (double)m->raw_rows));
	printf("\n");
}

static void add_to(struct measurement *sum, const struct measurement *m)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)m;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"no-libdw", no_argument, NULL, 'n'},
		{"each", no_argument, NULL, 'e'},
		{"repeat", required_argument, NULL, 'r'},
		{0},
	};
	struct options options = {.libdw = true, .repeat = 3};
	struct rule_set *rules = rule_set_new();
	struct measurement sum = {0};
	struct elf_walk walk = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'n')
			options.libdw = false;
		else if (option == 'e')
			options.each = true;
		else if (option == 'r')
			options.repeat = (unsigned int)atoi(optarg);
		else
			return 2;
	}
	if (optind == argc) {
		elf_walk_add(&walk, "/usr");
		elf_walk_add(&walk, "/lib");
	}
	for (int i = optind; i < argc; i++)
		elf_walk_add(&walk, argv[i]);
	elf_walk_sort(&walk);
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < walk.count; i++) {
		struct measurement m = {0};

		measure_file(walk.paths[i], &options, rules, &m);
		if (m.files == 0)
			continue;
		if (options.each)
			print(walk.paths[i], &m);
		add_to(&sum, &m);
	}
	printf("%lu files, %u distinct rules, %lu refused\n", sum.files, rule_set_count(rules),
	       rule_set_refused(rules));
	if (sum.files == 0)
		errx(1, "no ELF file with unwind information found");
	print("all", &sum);
	elf_walk_done(&walk);
	rule_set_free(rules);
	return 0;
}
