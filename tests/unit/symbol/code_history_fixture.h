/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of a fake machine whose /tmp is a folder of the test's own, and what names its
 * generated code. */
#ifndef PKBPF_TEST_CODE_HISTORY_FIXTURE_H
#define PKBPF_TEST_CODE_HISTORY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_machine.h"
#include "symbol/jit/code_history.h"

static char root[] = "/tmp/pkbpf-jit-XXXXXX";
static struct mapped_file_table *files;
static struct process_table *processes;
static struct string_pool *strings;
static struct symbolizer_options options;
static struct code_history *code;
static struct symbolizer *symbolizer;
static uint32_t process_id;

static void run_in_root(const char *verb, const char *paths)
{
	char command[1024];

	snprintf(command, sizeof(command), "cd '%s' && %s %s", root, verb, paths);
	assert_int_equal(system(command), 0);
}

static void write_file(const char *path, const char *text, const char *mode)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void start_history(void)
{
	code = code_history_new(&options, processes, strings);
	symbolizer = code_history_symbolizer_new(code);
}

static void stop_history(void)
{
	symbolizer_free(symbolizer);
	code_history_free(code);
}

static int start(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct event_sink sink;

	strcpy(root, "/tmp/pkbpf-jit-XXXXXX");
	assert_non_null(mkdtemp(root));
	run_in_root("mkdir -p", "proc/4711/root/tmp tmp");
	files = mapped_file_table_new(root);
	processes = process_table_new(files);
	strings = string_pool_new();
	fake_process(machine, 4711, 1, "node");
	sink = process_table_sink(processes);
	fake_play(machine, &sink);
	fake_machine_free(machine);
	process_id = process_table_find(processes, 4711)->id;
	options = (struct symbolizer_options){.root = root};
	start_history();
	return symbolizer ? 0 : -1;
}

static int stop(void **state)
{
	stop_history();
	process_table_free(processes);
	mapped_file_table_free(files);
	string_pool_free(strings);
	run_in_root("rm -rf", "proc tmp target");
	assert_int_equal(rmdir(root), 0);
	return 0;
}

static void write_status(uint32_t uid, const char *pids)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "Name:\tnode\nPid:\t4711\nUid:\t%u\t%u\t%u\t%u\nGid:\t0\t0\t0\t0\nNSpid:\t%"
		 "s\nThreads:\t1\n",
		 uid, uid, uid, uid, pids);
	write_file("/proc/4711/status", text, "w");
}

static inline struct symbol resolve(uint64_t address)
{
	struct frame_location location = {
		.space = FRAME_ANONYMOUS, .object = process_id, .address = address};
	struct symbol symbol;

	assert_true(symbolizer->ops->resolve(symbolizer, &location, &symbol));
	assert_int_equal(symbol.flags, SYMBOL_IS_JIT);
	return symbol;
}

static inline void assert_name(uint64_t address, const char *name)
{
	struct symbol symbol = resolve(address);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, name);
}

#endif
