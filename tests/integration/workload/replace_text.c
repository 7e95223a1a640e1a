// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-inline -fno-optimize-sibling-calls -fomit-frame-pointer
/*
 * replace_text SECONDS: puts memory without a file, with the same contents, in the place of all of
 * its own code, as programs do to have it in huge pages, says so, and uses a CPU there. x86-64
 * only.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
#define PAGE 4096

/* Runs from a copy of its page, since the original is gone meanwhile: calls nothing. */
__attribute__((section(".replace"), aligned(PAGE))) void replace(char *text, const char *copy,
								 size_t size)
{
	register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long result = SYS_mmap;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(text), "S"(size), "d"(PROT_READ | PROT_WRITE | PROT_EXEC), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	__asm__ volatile("rep movsb" : "+D"(text), "+S"(copy), "+c"(size) : : "memory");
}

static int replace_text(void)
{
	void (*elsewhere)(char *, const char *, size_t);
	unsigned long start, end;
	char line[4096], *copy;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx r-xp", &start, &end) != 2 || !strstr(line, " r-xp ") ||
		    (uintptr_t)replace_text < start || (uintptr_t)replace_text >= end)
			continue;
		fclose(maps);
		copy = malloc(end - start);
		elsewhere = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!copy || elsewhere == MAP_FAILED)
			return 1;
		memcpy(copy, (char *)start, end - start);
		memcpy((void *)elsewhere, (void *)replace, PAGE);
		elsewhere((char *)start, copy, end - start);
		return 0;
	}
	return 1;
}

unsigned int inner(unsigned int x)
{
	for (int i = 0; i < 1000000; i++)
		x = x * 1664525U + 1013904223U;
	return x;
}

unsigned int outer(unsigned int x)
{
	return inner(x) + 1;
}

int main(int argc, char **argv)
{
	clock_t end = (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;
	volatile unsigned int sum = 0;

	if (replace_text())
		return 1;
	puts("replaced");
	fflush(stdout);
	while (clock() < end)
		sum = outer(sum);
	return 0;
}
#else
int main(void)
{
	return 1;
}
#endif
