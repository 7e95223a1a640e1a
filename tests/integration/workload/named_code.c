// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -D_GNU_SOURCE
// Generated code that a perf map names, in the ways in which run-times write those: prints its pid
// as its namespace has it.
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned int sink;
static char *code;
static char map_path[64];

__attribute__((noinline)) int burn(void)
{
	for (int i = 0; i < 300000; i++)
		sink = sink * 5 + 1;
	return 0;
}

/* A function that calls burn(), at the offset `at` of the code. */
static void generate(char *to, size_t at)
{
	/* push %rbp; mov %rsp,%rbp; movabs $burn,%rax; call *%rax; pop %rbp; ret */
	unsigned char call[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,	  0,	0,
				0,    0,    0,	  0,	0,    0xff, 0xd0, 0x5d, 0xc3};
	int (*function)(void) = burn;

	memcpy(call + 6, &function, sizeof(function));
	memcpy(to + at, call, sizeof(call));
}

__attribute__((noinline)) static void calls(size_t at, double seconds)
{
	int (*function)(void) = (int (*)(void))(code + at);

	for (clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC); clock() < end;)
		sink += (unsigned int)function();
}

static char *map_memory(const char *folder)
{
	const int write_flags = PROT_READ | PROT_WRITE;
	char path[256], *write_at;
	int fd;

	if (!folder)
		return code = mmap(NULL, 65536, write_flags | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "%s/code-XXXXXX", folder);
	fd = strcmp(folder, "memfd") ? mkstemp(path) : memfd_create("code", 0);
	if (fd < 0 || ftruncate(fd, 65536))
		exit(3);
	unlink(path);
	write_at = mmap(NULL, 65536, write_flags, MAP_SHARED, fd, 0);
	code = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	return write_at;
}

static void write_map(const char *mode, const char *format, ...)
{
	FILE *map = fopen(map_path, mode);
	va_list arguments;

	if (!map)
		exit(3);
	va_start(arguments, format);
	vfprintf(map, format, arguments);
	va_end(arguments);
	fclose(map);
}

static void write_name(const char *mode, const char *name)
{
	write_map(mode, "%lx 20 %s\n", (unsigned long)code, name);
}

static void set_path(const char *format)
{
	snprintf(map_path, sizeof(map_path), format, (int)getpid());
}

/* ---- ways ---- */

static void replaced(void)
{
	write_name("w", "code_first");
	calls(0, 0.6);
	write_name("a", "code_second");
	calls(0, 0.6);
}

static void rewritten(void)
{
	write_map("w", "%lx 20 code_first\n%lx 20 not_called_with_a_long_name\n",
		  (unsigned long)code, (unsigned long)code + 256);
	calls(0, 0.6);
	write_name("w", "code_second");
	calls(0, 0.6);
}

static void late(void)
{
	calls(0, 0.8);
	write_name("w", "code_late");
}

/* The child goes on in its parent's code, and then writes a map of its own. */
static void forked(void)
{
	write_name("w", "code_of_parent");
	if (fork() == 0) {
		calls(0, 0.6);
		set_path("/tmp/perf-%d.map");
		printf("%d\n", (int)getpid());
		write_name("w", "code_of_child");
		calls(0, 0.6);
		fflush(stdout);
		_exit(0);
	}
	calls(0, 0.6);
	wait(NULL);
}

/* What the image before has written is not about this one's code. */
static void executed(char *program)
{
	write_name("w", "code_before");
	calls(0, 0.3);
	fflush(stdout);
	execl(program, program, "unnamed", (char *)NULL);
}

/* The least that a jitdump has; the code moves after half of the time. */
struct record {
	uint32_t id, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t words[5];
};

static void write_record(int fd, struct record record, size_t words, const char *name)
{
	struct timespec now;
	size_t size = 24 + 8 * words;

	clock_gettime(CLOCK_MONOTONIC, &now);
	record.time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	record.size = (uint32_t)(size + (name ? strlen(name) + 1 + 32 : 0));
	record.pid = record.tid = (uint32_t)getpid();
	if (write(fd, &record, size) < 0 ||
	    (name && (write(fd, name, strlen(name) + 1) < 0 || write(fd, code, 32) < 0)))
		exit(3);
}

static void dumped(void)
{
	const uint32_t header[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
	uint64_t start = (uint64_t)(uintptr_t)code;
	int fd;

	set_path("jit-%d.dump");
	fd = open(map_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, header, sizeof(header)) < 0)
		exit(3);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	write_record(fd, (struct record){.words = {start, start, 32, 7}}, 4, "code_dumped");
	calls(0, 0.6);
	generate(code, 512);
	write_record(fd,
		     (struct record){.id = 1, .words = {start + 512, start, start + 512, 32, 7}}, 5,
		     NULL);
	calls(512, 0.6);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "replaced";
	char *write_at = map_memory(strcmp(way, "file") ? NULL : argv[2]);

	if (write_at == MAP_FAILED || code == MAP_FAILED)
		return 3;
	generate(write_at, 0);
	set_path("/tmp/perf-%d.map");
	printf("%d\n", (int)getpid());
	if (!strcmp(way, "replaced"))
		replaced();
	else if (!strcmp(way, "rewritten"))
		rewritten();
	else if (!strcmp(way, "late"))
		late();
	else if (!strcmp(way, "forked"))
		forked();
	else if (!strcmp(way, "executed"))
		executed(argv[0]);
	else if (!strcmp(way, "dumped"))
		dumped();
	else if (!strcmp(way, "unnamed"))
		calls(0, 0.6);
	else {
		write_name("w", "code_there");
		calls(0, strcmp(way, "stays") ? 0.8 : 30);
	}
	return 0;
}
