// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_slots: in memory on paper, and in an interpreter that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "pkbpf/unwind_state.h"

#include "base/process_memory.h"
#include "elf/elf_file.h"
#include "interpreters.h"
#include "python/python_image.h"
#include "python/python_slots.h"

#define BASE	    0x100000ULL
#define RUNTIME	    BASE
#define INTERPRETER (BASE + 0x100)
#define STATE_1	    (BASE + 0x200)
#define STATE_2	    (BASE + 0x300)
#define THREAD_1    (BASE + 0x4000)
#define THREAD_2    (BASE + 0x8000)

static const struct pkbpf_python_layout layout = {
	.runtime_interpreters_head = 8,
	.interpreter_next = 16,
	.interpreter_threads = 24,
	.thread_next = 32,
	.thread_id = 40,
};

struct paper {
	uint64_t words[0xa000 / 8];
	size_t reads;
};

static int read_paper(void *context, uint64_t address, void *buffer, size_t size)
{
	struct paper *paper = context;

	paper->reads++;
	if (address < BASE || address - BASE > sizeof(paper->words) ||
	    size > sizeof(paper->words) - (address - BASE))
		return -EFAULT;
	memcpy(buffer, (const char *)paper->words + (address - BASE), size);
	return 0;
}

static void put(struct paper *paper, uint64_t address, uint64_t value)
{
	paper->words[(address - BASE) / 8] = value;
}

/* Two threads of one interpreter, whose control blocks are as those of glibc and of musl. */
static struct paper *make_paper(void)
{
	static struct paper paper;

	paper = (struct paper){.reads = 0};
	put(&paper, RUNTIME + 8, INTERPRETER);
	put(&paper, INTERPRETER + 24, STATE_1);
	put(&paper, STATE_1 + 32, STATE_2);
	put(&paper, STATE_1 + 40, THREAD_1);
	put(&paper, STATE_2 + 40, THREAD_2);
	put(&paper, THREAD_1 + 16, THREAD_1);
	put(&paper, THREAD_2, THREAD_2);
	return &paper;
}

static size_t find(struct paper *paper, int32_t slots[PKBPF_PYTHON_SLOTS])
{
	return python_slots_find(read_paper, paper, RUNTIME, &layout, slots);
}

static void finds_where_every_thread_has_its_state(void **state)
{
	struct paper *paper = make_paper();
	int32_t slots[PKBPF_PYTHON_SLOTS];

	if (PKBPF_UNWIND_ARM64)
		skip();
	assert_int_equal(find(paper, slots), 0);
	assert_int_equal(slots[0], 0);
	put(paper, THREAD_1 + 0x310, STATE_1);
	put(paper, THREAD_2 + 0x310, STATE_2);
	put(paper, THREAD_1 - 0x18, STATE_1);
	put(paper, THREAD_2 - 0x18, STATE_2);
	/* One has it; one has the other's. */
	put(paper, THREAD_1 - 0x40, STATE_1);
	put(paper, THREAD_1 + 0x80, STATE_1);
	put(paper, THREAD_2 + 0x80, STATE_1);
	assert_int_equal(find(paper, slots), 2);
	assert_int_equal(slots[0], 0x310);
	assert_int_equal(slots[1], -0x18);
}

/* The memory below the thread pointer may end. */
static void memory_above_is_enough(void **state)
{
	struct paper *paper = make_paper();
	int32_t slots[PKBPF_PYTHON_SLOTS];

	if (PKBPF_UNWIND_ARM64)
		skip();
	put(paper, STATE_1 + 32, 0);
	put(paper, STATE_1 + 40, BASE + 0x1000);
	put(paper, BASE + 0x1000, BASE + 0x1000);
	put(paper, BASE + 0x1000 + 0x310, STATE_1);
	put(paper, BASE + 0x1000 - 0x18, STATE_1);
	assert_int_equal(find(paper, slots), 1);
	assert_int_equal(slots[0], 0x310);
}

static void more_places_than_there_are_slots_are_left_out(void **state)
{
	struct paper *paper = make_paper();
	int32_t slots[PKBPF_PYTHON_SLOTS + 1];

	if (PKBPF_UNWIND_ARM64)
		skip();
	slots[PKBPF_PYTHON_SLOTS] = 4711;
	for (uint64_t at = 24; at < 0x200; at += 8) {
		put(paper, THREAD_1 + at, STATE_1);
		put(paper, THREAD_2 + at, STATE_2);
	}
	assert_int_equal(find(paper, slots), PKBPF_PYTHON_SLOTS);
	for (int32_t i = 0; i < PKBPF_PYTHON_SLOTS; i++)
		assert_int_equal(slots[i], 24 + 8 * i);
	assert_int_equal(slots[PKBPF_PYTHON_SLOTS], 4711);
}

/* What is no control block of a thread proves nothing. */
static void other_memory_is_no_thread(void **state)
{
	struct paper *paper = make_paper();
	int32_t slots[PKBPF_PYTHON_SLOTS];

	put(paper, THREAD_1 + 16, 0);
	put(paper, THREAD_2, 0);
	put(paper, THREAD_1 + 0x310, STATE_1);
	put(paper, THREAD_2 + 0x310, STATE_2);
	assert_int_equal(find(paper, slots), 0);
	paper = make_paper();
	put(paper, STATE_1 + 40, UINT64_MAX);
	put(paper, STATE_2 + 40, 0);
	assert_int_equal(find(paper, slots), 0);
}

/* Lists of a process that is hostile, or changes meanwhile. */
static void lists_without_an_end_are_given_up(void **state)
{
	static const struct {
		uint64_t at, value;
	} lies[] = {
		{STATE_2 + 32, STATE_1},
		{INTERPRETER + 16, INTERPRETER},
		{STATE_1 + 32, 1},
		{INTERPRETER + 24, 8},
		{RUNTIME + 8, UINT64_MAX},
		{INTERPRETER + 16, 3},
		{INTERPRETER + 24, UINT64_MAX - 4},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct paper *paper = make_paper();
		int32_t slots[PKBPF_PYTHON_SLOTS];

		put(paper, lies[i].at, lies[i].value);
		assert_int_equal(find(paper, slots), 0);
		assert_true(paper->reads < 1000);
	}
}

static void a_runtime_is_used_when_it_has_an_interpreter(void **state)
{
	struct paper *paper = make_paper();

	assert_true(python_runtime_is_used(read_paper, paper, RUNTIME, &layout));
	put(paper, RUNTIME + 8, 0);
	assert_false(python_runtime_is_used(read_paper, paper, RUNTIME, &layout));
	assert_false(python_runtime_is_used(read_paper, paper, 0, &layout));
}

static void reads_memory_of_processes(void **state)
{
	uint32_t self = (uint32_t)getpid(), nobody = INT32_MAX;
	uint64_t here = 0x123456789, there = 0;

	assert_int_equal(process_memory_read(&self, (uintptr_t)&here, &there, sizeof(there)), 0);
	assert_int_equal(there, here);
	assert_int_equal(process_memory_read(&self, 8, &there, sizeof(there)), -EFAULT);
	assert_int_equal(process_memory_read(&nobody, (uintptr_t)&here, &there, sizeof(there)),
			 -ESRCH);
}

/* What is added to addresses of the program's file; false: it is not mapped. */
static bool find_bias(pid_t pid, const char *path, const struct elf_file *file, uint64_t *ret_bias)
{
	char name[64], real[4096], line[5000];
	bool found = false;
	uint64_t start;
	FILE *maps;

	*ret_bias = 0;
	if (!realpath(path, real))
		return false;
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, real) && sscanf(line, "%" SCNx64, &start) == 1;
	if (maps)
		fclose(maps);
	for (size_t i = 0; found && i < file->segments.count; i++)
		if (file->segments.items[i].type == PT_LOAD && !file->segments.items[i].offset) {
			*ret_bias = start - file->segments.items[i].address;
			break;
		}
	return found;
}

static void write_script(char *path)
{
	static const char text[] = "import threading, time\n"
				   "for i in range(2):\n"
				   "    threading.Thread(target=time.sleep, args=(60,)).start()\n"
				   "print('ready', flush=True)\n"
				   "time.sleep(60)\n";
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
}

/* Each thread has its state there, as the interpreter's own list of threads says. */
static void assert_slots(uint32_t pid, uint64_t runtime, const struct pkbpf_python_layout *real,
			 const int32_t *slots, size_t count)
{
	uint64_t interpreter, thread, id, value;
	size_t threads = 0;

	assert_int_equal(process_memory_read(&pid, runtime + real->runtime_interpreters_head,
					     &interpreter, 8),
			 0);
	assert_int_equal(
		process_memory_read(&pid, interpreter + real->interpreter_threads, &thread, 8), 0);
	for (; thread; threads++) {
		assert_int_equal(process_memory_read(&pid, thread + real->thread_id, &id, 8), 0);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(process_memory_read(&pid, id + (uint64_t)(int64_t)slots[i],
							     &value, 8),
					 0);
			assert_int_equal(value, thread);
		}
		assert_int_equal(process_memory_read(&pid, thread + real->thread_next, &thread, 8),
				 0);
	}
	assert_int_equal(threads, 3);
}

static void finds_slots_of_an_interpreter(void **state)
{
	struct interpreters interpreters;
	char path[] = "/tmp/pkbpf-slots-XXXXXX", line[16];

	if (PKBPF_UNWIND_ARM64)
		skip();
	write_script(path);
	interpreters_find(&interpreters);
	for (size_t i = 0; i < interpreters.count; i++) {
		int fd = open(interpreters.paths[i], O_RDONLY | O_CLOEXEC);
		struct script script = script_start(interpreters.paths[i], path);
		int32_t slots[PKBPF_PYTHON_SLOTS];
		uint32_t pid = (uint32_t)script.pid;
		struct python_image image;
		struct elf_file file;
		uint64_t bias;

		assert_non_null(fgets(line, sizeof(line), script.out));
		assert_int_equal(elf_file_open(&file, fd), 0);
		/* The runtime may be in a library. */
		if (!python_image_find(&file, interpreters.paths[i], &image) &&
		    find_bias(script.pid, interpreters.paths[i], &file, &bias)) {
			uint64_t runtime = image.runtime + bias;
			size_t count = python_slots_find(process_memory_read, &pid, runtime,
							 &image.layout, slots);

			assert_true(python_runtime_is_used(process_memory_read, &pid, runtime,
							   &image.layout));
			assert_in_range(count, 1, PKBPF_PYTHON_SLOTS);
			assert_slots(pid, runtime, &image.layout, slots, count);
		}
		elf_file_done(&file);
		close(fd);
		script_end(&script);
	}
	interpreters_done(&interpreters);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_where_every_thread_has_its_state),
		cmocka_unit_test(memory_above_is_enough),
		cmocka_unit_test(more_places_than_there_are_slots_are_left_out),
		cmocka_unit_test(other_memory_is_no_thread),
		cmocka_unit_test(lists_without_an_end_are_given_up),
		cmocka_unit_test(a_runtime_is_used_when_it_has_an_interpreter),
		cmocka_unit_test(reads_memory_of_processes),
		cmocka_unit_test(finds_slots_of_an_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
