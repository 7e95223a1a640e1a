// SPDX-License-Identifier: BSD-2-Clause
// shifting_stacks SECONDS [DEPTH [sleeping]]: runs, or sleeps, in generated code below made-up
// frames, new ones each millisecond. cflags: -O2 -mno-red-zone
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CODE_SIZE (256UL << 20)
#define MAX_DEPTH 1000

/* dec %rdi; jne; ret */
static const unsigned char spin[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
/* mov $35 (nanosleep), %eax; xor %esi, %esi; syscall; ret */
static const unsigned char rest[] = {0xb8, 0x23, 0, 0, 0, 0x31, 0xf6, 0x0f, 0x05, 0xc3};

static uint64_t random_state = 0x9e3779b97f4a7c15ULL;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Calls code(argument) with the frame pointer at these frames. */
static void call_below(uint64_t *frames, unsigned char *code, uint64_t argument)
{
#ifdef __x86_64__
	__asm__ volatile("push %%rbp\n\t"
			 "mov %%rax, %%rbp\n\t"
			 "call *%%rdx\n\t"
			 "pop %%rbp"
			 : "+D"(argument), "+a"(frames)
			 : "d"(code)
			 : "rcx", "rsi", "r11", "memory", "cc");
#endif
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	int depth = argc > 2 ? atoi(argv[2]) : MAX_DEPTH;
	uint64_t frames[2 * MAX_DEPTH];
	bool sleeping = argc > 3;
	unsigned char *code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (code == MAP_FAILED || depth < 1 || depth > MAX_DEPTH)
		return 1;
	memcpy(code, sleeping ? rest : spin, sleeping ? sizeof(rest) : sizeof(spin));
	while (time(NULL) < end) {
		struct timespec nap = {.tv_nsec = 100000};
		uint64_t argument = sleeping ? (uint64_t)&nap : 1000000;

		for (int i = 0; i < depth; i++) {
			frames[2 * i] = i + 1 < depth ? (uint64_t)&frames[2 * i + 2] : 0;
			frames[2 * i + 1] = (uint64_t)code + random_next() % CODE_SIZE;
		}
		call_below(frames, code, argument);
	}
	return 0;
}
