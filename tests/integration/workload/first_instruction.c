// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer
/* Page faults at the first instruction of a function, right behind another one that is never
 * called. x86-64 only. usage: first_instruction SECONDS of CPU time */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#define PAGES 4096
#define PAGE  4096

__asm__(".text\n.p2align 4\n"
	".globl never_called\n.type never_called, @function\nnever_called: .cfi_startproc\n"
	"movb $2, (%rdi)\n ret\n.cfi_endproc\n.size never_called, . - never_called\n"
	".globl touches\n.type touches, @function\ntouches: .cfi_startproc\n"
	"movb $1, (%rdi)\n ret\n.cfi_endproc\n.size touches, . - touches\n");
void touches(char *page);

int main(int count, char **arguments)
{
	clock_t end = (clock_t)(atof(count > 1 ? arguments[1] : "1") * CLOCKS_PER_SEC);

	while (clock() < end) {
		char *memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return 1;
		madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
		for (int i = 0; i < PAGES; i++)
			touches(memory + (size_t)i * PAGE);
		munmap(memory, (size_t)PAGES * PAGE);
	}
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
