// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fno-omit-frame-pointer -rdynamic
// ldflags: -rdynamic
/* Says that it is an interpreter, CPython 3.11 by its file's name ("python3.11"), and has
 * structures that no interpreter has, or, with "sound", those of three functions in its stack.
 * usage: fake_python WHICH SECONDS (of CPU time) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#define KERNEL 0xffffffff81000000ULL
#define HUGE   (1ULL << 62)

/* Offsets of 3.11. */
enum {
	RUNTIME_INTERPRETERS = 40,
#ifdef __aarch64__
	RUNTIME_CURRENT = 592,
#else
	RUNTIME_CURRENT = 576,
#endif
	INTERPRETER_THREADS = 16,
	THREAD_NEXT = 8,
	THREAD_CFRAME = 56,
	THREAD_ID = 152,
	CFRAME_FRAME = 8,
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_INSTRUCTION = 56,
	FRAME_IS_ENTRY = 68,
	CODE_FIRST_LINE = 72,
	CODE_FILE = 112,
	CODE_NAME = 120,
	CODE_QUALIFIED_NAME = 128,
	CODE_LINES = 136,
	CODE_INSTRUCTIONS = 184,
	STRING_LENGTH = 16,
	STRING_STATE = 32,
	STRING_TEXT = 48,
	BYTES_SIZE = 16,
	FRAME_BYTES = 80,
	CODE_BYTES = 192,
	COMPACT_ASCII = 1 << 2 | 1 << 5 | 1 << 6,
};

unsigned char _PyRuntime[2048] __attribute__((section(".PyRuntime"), aligned(16))) = {1};

static unsigned char interpreter[4096], thread[4096], cframe[64], lines[64];
static unsigned char *frames, *codes;

static void put(void *object, size_t offset, uint64_t value)
{
	memcpy((unsigned char *)object + offset, &value, sizeof(value));
}

static uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* A str object; length: what it says. */
static void *string(const char *text, uint64_t length)
{
	unsigned char *object = calloc(1, STRING_TEXT + strlen(text) + 1);

	if (!object)
		abort();
	put(object, STRING_LENGTH, length ? length : strlen(text));
	put(object, STRING_STATE, COMPACT_ASCII);
	memcpy(object + STRING_TEXT, text, strlen(text));
	return object;
}

static void *make_code(size_t at, void *name, void *file)
{
	unsigned char *code = codes + at * CODE_BYTES;

	put(code, CODE_FIRST_LINE, 1);
	put(code, CODE_NAME, address_of(name));
	put(code, CODE_QUALIFIED_NAME, address_of(name));
	put(code, CODE_FILE, address_of(file));
	put(code, CODE_LINES, address_of(lines));
	return code;
}

static void make_frame(size_t at, const void *code, uint64_t previous)
{
	unsigned char *frame = frames + at * FRAME_BYTES;

	put(frame, FRAME_CODE, address_of(code));
	put(frame, FRAME_PREVIOUS, previous);
	put(frame, FRAME_INSTRUCTION, address_of(code) + CODE_INSTRUCTIONS);
}

static uint64_t frame_at(size_t at)
{
	return address_of(frames + at * FRAME_BYTES);
}

static void *pages(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

#define COUNT 100000

static void endless(void)
{
	void *code = make_code(0, string("endless", 0), string("fake.py", 0));

	for (size_t i = 0; i < COUNT; i++)
		make_frame(i, code, frame_at((i + 1) % COUNT));
}

static void cycle(void)
{
	make_frame(0, make_code(0, string("cycle", 0), string("fake.py", 0)), frame_at(0));
	put(interpreter, 0, address_of(interpreter));
	put(thread, THREAD_NEXT, address_of(thread));
	/* Nor is it found at once. */
	put(_PyRuntime, RUNTIME_CURRENT, 0);
}

static void lengths(void)
{
	make_frame(0, make_code(0, string("lengths", HUGE), string("fake.py", HUGE)), frame_at(1));
	make_frame(1, make_code(1, string("lengths", 1 << 20), string("\x1b[31m<b>;\nfake.py", 0)),
		   0);
	put(lines, BYTES_SIZE, HUGE);
}

static void kernel(void)
{
	make_frame(0, make_code(0, (void *)KERNEL, (void *)KERNEL), frame_at(1));
	make_frame(1, (void *)KERNEL, frame_at(2));
	make_frame(2, make_code(2, string("kernel", 0), string("fake.py", 0)), KERNEL);
}

/* Each function has another name whenever it is looked at. */
static void names(void)
{
	for (size_t i = 0; i < 64; i++)
		make_frame(i, make_code(i, string("names", 0), string("fake.py", 0)),
			   frame_at(i + 1));
}

static void rename_all(void)
{
	static uint64_t number;
	char text[32];

	for (size_t i = 0; i < 64; i++) {
		unsigned char *name;

		memcpy(&name, codes + i * CODE_BYTES + CODE_NAME, sizeof(name));
		snprintf(text, sizeof(text), "n%04llx", (unsigned long long)(number++ & 0xffff));
		memcpy(name + STRING_TEXT, text, 5);
		put(name, 24, number); /* the hash */
	}
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(double seconds, int rename)
{
	while (cpu_seconds() < seconds)
		if (rename)
			rename_all();
}

/* The interpreter's loop, by what lies in its frame. */
__attribute__((noinline)) static void sound(double seconds)
{
	static const char *const functions[] = {"inner", "middle", "outer"};
	unsigned char anchor[64] = {0};

	for (size_t i = 0; i < 3; i++)
		make_frame(i, make_code(i, string(functions[i], 0), string("fake.py", 0)),
			   i < 2 ? frame_at(i + 1) : 0);
	frames[2 * FRAME_BYTES + FRAME_IS_ENTRY] = 1;
	put(anchor, CFRAME_FRAME, frame_at(0));
	put(thread, THREAD_CFRAME, address_of(anchor));
	burn(seconds, 0);
	put(thread, THREAD_CFRAME, address_of(cframe));
}

int main(int argc, char **argv)
{
	const char *which = argc > 2 ? argv[1] : "";

	frames = pages((size_t)COUNT * FRAME_BYTES);
	codes = pages(64 * CODE_BYTES);
	put(_PyRuntime, RUNTIME_INTERPRETERS, address_of(interpreter));
	put(_PyRuntime, RUNTIME_CURRENT, address_of(thread));
	put(interpreter, INTERPRETER_THREADS, address_of(thread));
	put(thread, THREAD_ID, (uint64_t)pthread_self());
	put(thread, THREAD_CFRAME, address_of(cframe));
	put(cframe, CFRAME_FRAME, frame_at(0));
	if (!strcmp(which, "sound"))
		sound(atof(argv[2]));
	else if (!strcmp(which, "endless"))
		endless();
	else if (!strcmp(which, "cycle"))
		cycle();
	else if (!strcmp(which, "lengths"))
		lengths();
	else if (!strcmp(which, "kernel"))
		kernel();
	else if (!strcmp(which, "names"))
		names();
	else
		return 2;
	burn(atof(argv[2]), !strcmp(which, "names"));
	return 0;
}
