// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures how fast addresses are named, next to libdwfl naming the same addresses in the same run.
 *
 *	bench_symbol_lookup [ELF-FILE]
 *
 * Without an argument: the largest shared library the compiler brings.
 */
#include <elfutils/libdwfl.h>
#include <err.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process_table.h"
#include "elf/elf_file.h"
#include "symbol/symbolizer.h"

#define ADDRESSES 20000U
#define ROUNDS	  50U

struct text {
	uint64_t offset, address, size;
};

static double milliseconds_since(uint64_t start_ns)
{
	return (double)(clock_now_ns() - start_ns) / 1e6;
}

static size_t heap_kib(void)
{
	struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd) / 1024;
}

static struct text find_text(int fd)
{
	struct elf_file file;
	const struct elf_section *section;
	struct text text;

	if (elf_file_open(&file, fd))
		errx(1, "not an ELF file");
	section = elf_file_find_section(&file, ".text");
	if (!section)
		errx(1, "no .text in the file");
	text = (struct text){section->offset, section->address, section->size};
	elf_file_done(&file);
	return text;
}

static uint32_t add_file(struct mapped_file_table *files, const char *path)
{
	struct mapped_file *file;
	struct stat st;

	if (stat(path, &st) < 0)
		err(1, "%s", path);
	if (mapped_file_table_add(files,
				  &(struct mapping_view){
					  .pid = (uint32_t)getpid(),
					  .start = 0x10000000,
					  .end = 0x10001000,
					  .inode = st.st_ino,
					  .device_major = major(st.st_dev),
					  .device_minor = minor(st.st_dev),
					  .protection = PROT_READ | PROT_EXEC,
					  .path = path,
				  },
				  &file) ||
	    !file)
		errx(1, "cannot add %s", path);
	return file->id;
}

static uint64_t pick(const struct text *text, uint32_t number)
{
	return (uint64_t)number * 2654435761U % text->size;
}

static size_t resolve_all(struct symbolizer *symbolizer, const struct frame_location *locations)
{
	size_t found = 0;

	for (uint32_t i = 0; i < ADDRESSES; i++) {
		struct symbol symbol;

		symbolizer_resolve(symbolizer, &locations[i], &symbol);
		found += symbol.result == SYMBOL_FOUND;
	}
	return found;
}

static void measure_kernel(struct symbolizer *symbolizer)
{
	struct frame_location location = {.space = FRAME_KERNEL};
	size_t heap = heap_kib();
	static char buffer[1 << 16];
	struct symbol symbol;
	double read_ms, resolve_ms;
	uint64_t start;
	int fd;

	start = clock_now_ns();
	fd = open("/proc/kallsyms", O_RDONLY);
	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
	read_ms = milliseconds_since(start);
	start = clock_now_ns();
	symbolizer_resolve(symbolizer, &location, &symbol);
	resolve_ms = milliseconds_since(start);
	printf("kallsyms: first look-up %.1f ms, of which the kernel printing it %.1f ms; %zu "
	       "KiB\n",
	       resolve_ms, read_ms, heap_kib() - heap);
	if (symbol.result == SYMBOL_NO_KALLSYMS)
		printf("kallsyms: hidden from this user\n");
}

static double measure_ours(struct symbolizer *symbolizer, uint32_t file, const struct text *text)
{
	struct frame_location *locations = calloc(ADDRESSES, sizeof(*locations));
	size_t found, heap = heap_kib();
	double first_ms, cold_ms, cached_ns;
	struct symbol symbol;
	uint64_t start;

	if (!locations)
		errx(1, "out of memory");
	for (uint32_t i = 0; i < ADDRESSES; i++)
		locations[i] = (struct frame_location){
			.space = FRAME_FILE,
			.object = file,
			.address = text->offset + pick(text, i),
		};
	start = clock_now_ns();
	symbolizer_resolve(symbolizer, &locations[0], &symbol);
	first_ms = milliseconds_since(start);
	printf("first look-up in the file %.1f ms, %zu KiB\n", first_ms, heap_kib() - heap);
	start = clock_now_ns();
	found = resolve_all(symbolizer, locations);
	cold_ms = milliseconds_since(start);
	printf("distinct addresses: %.0f look-ups/s, %zu of %u named\n", ADDRESSES / cold_ms * 1e3,
	       found, ADDRESSES);
	start = clock_now_ns();
	for (unsigned int i = 0; i < ROUNDS; i++)
		found += resolve_all(symbolizer, locations);
	cached_ns = milliseconds_since(start) * 1e6 / ((double)ROUNDS * ADDRESSES);
	printf("known addresses: %.0f ns each (%.1f million/s)\n", cached_ns, 1e3 / cached_ns);
	free(locations);
	return first_ms + cold_ms;
}

static int find_no_debug(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **ret_name)
{
	return -1;
}

static double measure_libdwfl(const char *path, const struct text *text)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_no_debug,
		.section_address = dwfl_offline_section_address,
	};
	uint64_t start = clock_now_ns();
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Addr bias = 0;
	size_t found = 0;
	double elapsed;

	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, "file", path, -1, 0x100000000ULL, false);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module || !dwfl_module_getelf(module, &bias))
		errx(1, "libdwfl: %s", dwfl_errmsg(-1));
	for (uint32_t i = 0; i < ADDRESSES; i++)
		found += dwfl_module_addrname(module, bias + text->address + pick(text, i)) != NULL;
	elapsed = milliseconds_since(start);
	printf("libdwfl, not demangling: %.1f ms in all, %zu of %u named\n", elapsed, found,
	       ADDRESSES);
	dwfl_end(dwfl);
	return elapsed;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1";
	char *real_path = realpath(path, NULL);
	struct symbolizer_options options = {.debug_dir = "/usr/lib/debug"};
	struct mapped_file_table *files = mapped_file_table_new("");
	struct process_table *processes = process_table_new(files);
	struct symbolizer *symbolizer = symbolizer_chain_new(&options, processes);
	double ours_ms, libdwfl_ms;
	struct text text;
	int fd;

	if (!real_path)
		err(1, "%s", path);
	fd = open(real_path, O_RDONLY);
	text = find_text(fd);
	close(fd);
	measure_kernel(symbolizer);
	printf("%s\n", real_path);
	ours_ms = measure_ours(symbolizer, add_file(files, real_path), &text);
	libdwfl_ms = measure_libdwfl(real_path, &text);
	printf("loading and naming %u addresses: %.1f ms, libdwfl %.1f ms, ratio %.2f\n", ADDRESSES,
	       ours_ms, libdwfl_ms, libdwfl_ms / ours_ms);
	symbolizer_free(symbolizer);
	process_table_free(processes);
	mapped_file_table_free(files);
	free(real_path);
	return 0;
}
