// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
/*
 * generated: writes a function to anonymous memory, as libraries of linear algebra do (it saves
 * registers and uses the frame pointer as any other), and works in it for two seconds of CPU time:
 * main -> outer -> inner -> the function. A child does the same as long, after half of that.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const uint8_t kernel[] = {
	0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, /* push of rbx, rbp, r12 to r15
								     */
	0x48, 0x83, 0xec, 0x48,					    /* sub $0x48,%rsp */
	0x31, 0xed,						    /* xor %ebp,%ebp */
	0x89, 0xf9,						    /* mov %edi,%ecx */
	0xff, 0xc5,						    /* inc %ebp */
	0xff, 0xc9,						    /* dec %ecx */
	0x75, 0xfa,						    /* jnz to the inc */
	0x48, 0x83, 0xc4, 0x48,					    /* add $0x48,%rsp */
	0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3,
};

static volatile unsigned int calls;

static __attribute__((noinline)) void inner(void (*function)(unsigned int), volatile char *room)
{
	function(200000);
	room[1]++;
}

static __attribute__((noinline)) void outer(void (*function)(unsigned int))
{
	volatile char room[200];

	inner(function, room);
	calls++;
}

static __attribute__((noinline)) void work(void (*function)(unsigned int), clock_t ticks)
{
	for (clock_t end = clock() + ticks; clock() < end;)
		outer(function);
}

int main(void)
{
	char *memory = mmap(NULL, 512 << 10, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(unsigned int);

	if (memory == MAP_FAILED)
		return 1;
	memory += 256 << 10;
	memcpy(memory, kernel, sizeof(kernel));
	memcpy(&function, &memory, sizeof(function));
	work(function, CLOCKS_PER_SEC);
	if (fork() == 0) {
		work(function, 2 * CLOCKS_PER_SEC);
		_exit(0);
	}
	work(function, CLOCKS_PER_SEC);
	wait(NULL);
	return 0;
}
