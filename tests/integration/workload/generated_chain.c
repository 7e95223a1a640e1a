// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
/*
 * generated_chain: writes three functions to anonymous memory that leave the frame pointer alone, and works in them for two seconds of
 * CPU time: main -> work -> outer -> inner -> the functions. The compiled ones keep frame pointers, so there always is a valid one.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define FIRST 48

static const uint8_t code[] = {
	0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
	0x89, 0xf9,		/* mov %edi,%ecx */
	0xff, 0xc0,		/* inc %eax */
	0xff, 0xc9,		/* dec %ecx */
	0x75, 0xfa,		/* jnz to the inc */
	0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
	0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	/* sub $0x28,%rsp; call of the one above; add $0x28,%rsp; ret */
	0x48, 0x83, 0xec, 0x28, 0xe8, 0xd7, 0xff, 0xff, 0xff, 0x48, 0x83, 0xc4, 0x28, 0xc3, 0xcc, 0xcc,
	/* The same again. */
	0x48, 0x83, 0xec, 0x18, 0xe8, 0xe7, 0xff, 0xff, 0xff, 0x48, 0x83, 0xc4, 0x18, 0xc3,
};

static volatile unsigned int calls;

static __attribute__((noinline)) void inner(void (*function)(unsigned int))
{
	function(200000);
	calls++;
}

static __attribute__((noinline)) void outer(void (*function)(unsigned int))
{
	inner(function);
	calls++;
}

static __attribute__((noinline)) void work(void (*function)(unsigned int))
{
	for (clock_t end = clock() + 2 * CLOCKS_PER_SEC; clock() < end;)
		outer(function);
}

int main(void)
{
	char *memory = mmap(NULL, 512 << 10, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(unsigned int);

	if (memory == MAP_FAILED)
		return 1;
	memory += 256 << 10;
	memcpy(memory, code, sizeof(code));
	memory += FIRST;
	memcpy(&function, &memory, sizeof(function));
	work(function);
	return 0;
}
