// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer
// COUNT processes, LIVING at a time, write a perf map of 40,000 lines each and then run code that
// it names after their pid, each place for MILLISECONDS until the code there is replaced. Maps are
// removed some time after their process has ended.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 40000, KEPT = 100 };

static volatile unsigned int sink;

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void calls(void (*function)(void), double seconds)
{
	for (double end = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;
	     now(CLOCK_PROCESS_CPUTIME_ID) < end;)
		function();
	sink++;
}

static void path_of(char path[64], pid_t pid)
{
	snprintf(path, 64, "/tmp/perf-%d.map", (int)pid);
}

static int one(double seconds)
{
	/* push %rbp; mov %rsp,%rbp; mov $300000,%ecx; 1: dec %rcx; jnz 1b; pop %rbp; ret */
	static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0xe0, 0x93, 0x04,
					     0,	   0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};
	char *code = mmap((void *)0x600000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	char path[64];
	FILE *map;

	path_of(path, getpid());
	map = fopen(path, "w");
	if (code == MAP_FAILED || !map)
		return 3;
	for (int i = 0; i < LINES; i++)
		fprintf(map, "%llx 40 js:function_%d file%d.js\n",
			0x500000000000ULL + 64ULL * (unsigned)i, i, i % 99);
	for (int i = 0; i < 2; i++) {
		memcpy(code, loop, sizeof(loop));
		fprintf(map, "%lx 40 code_%s_%d\n", (unsigned long)code, i ? "second" : "first",
			(int)getpid());
		fflush(map);
		calls((void (*)(void))code, seconds);
	}
	fclose(map);
	return 0;
}

static void take_one(pid_t *kept, int count)
{
	char path[64];
	pid_t pid = wait(NULL);

	if (kept[count % KEPT]) {
		path_of(path, kept[count % KEPT]);
		unlink(path);
	}
	kept[count % KEPT] = pid;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100, living = argc > 2 ? atoi(argv[2]) : 4;
	static pid_t kept[KEPT];
	int ended = 0;

	if (argc > 2 && !strcmp(argv[1], "one"))
		return one(atof(argv[2]) / 1000);
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			execl(argv[0], argv[0], "one", argc > 3 ? argv[3] : "100", (char *)NULL);
			_exit(3);
		}
		if (i >= living)
			take_one(kept, ended++);
	}
	while (ended < count)
		take_one(kept, ended++);
	sleep(1);
	for (int i = 0; i < KEPT; i++) {
		char path[64];

		path_of(path, kept[i]);
		unlink(path);
	}
	return 0;
}
