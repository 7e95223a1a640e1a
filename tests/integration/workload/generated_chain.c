// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
/*
 * generated_chain [NAME]: writes three functions that leave the frame pointer alone to anonymous
 * memory, or to a file of that name in memory, and works in them for three seconds of CPU time:
 * main -> work -> outer -> inner -> the functions. The compiled ones keep frame pointers, so there
 * always is a valid one.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FIRST 48
#define SIZE  (512 << 10)

static const uint8_t code[] = {
	0x48,
	0x83,
	0xec,
	0x08, /* sub $8,%rsp */
	0x89,
	0xf9, /* mov %edi,%ecx */
	0xff,
	0xc0, /* inc %eax */
	0xff,
	0xc9, /* dec %ecx */
	0x75,
	0xfa, /* jnz to the inc */
	0x48,
	0x83,
	0xc4,
	0x08, /* add $8,%rsp */
	0xc3,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	/* sub $0x28,%rsp; call of the one above; add $0x28,%rsp; ret */
	0x48,
	0x83,
	0xec,
	0x28,
	0xe8,
	0xd7,
	0xff,
	0xff,
	0xff,
	0x48,
	0x83,
	0xc4,
	0x28,
	0xc3,
	0xcc,
	0xcc,
	/* The same again. */
	0x48,
	0x83,
	0xec,
	0x18,
	0xe8,
	0xe7,
	0xff,
	0xff,
	0xff,
	0x48,
	0x83,
	0xc4,
	0x18,
	0xc3,
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
	for (clock_t end = clock() + 3 * CLOCKS_PER_SEC; clock() < end;)
		outer(function);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? memfd_create(argv[1], 0) : -1,
	    flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void (*function)(unsigned int);
	char *memory;

	if (fd >= 0 && ftruncate(fd, SIZE))
		return 1;
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
	if (memory == MAP_FAILED)
		return 1;
	memory += 256 << 10;
	memcpy(memory, code, sizeof(code));
	memory += FIRST;
	memcpy(&function, &memory, sizeof(function));
	work(function);
	return 0;
}
