// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
// ldflags: -pthread
/*
 * Has USDT probes, with a nop of one byte and with one of five.
 *
 * probes COUNT: passes each COUNT times, and in a child each time. Waits 1 ms between the probes of
 * a pair. Leaves some by longjmp. Says what came out.
 * Without COUNT: sleeps until it is killed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE(name, arguments, nop)                                                                \
	"990: " nop "\n"                                                                           \
	".pushsection .note.stapsdt,\"?\",%%note\n"                                                \
	".balign 4\n"                                                                              \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b, _.stapsdt.base, app_semaphore\n"                                        \
	".asciz \"app\"\n"                                                                         \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"" arguments "\"\n"                                                               \
	"994: .balign 4\n"                                                                         \
	".popsection\n"

#define FIVE_BYTES ".byte 0x0f, 0x1f, 0x44, 0, 0"

__asm__(".pushsection .stapsdt.base,\"a\",%progbits\n"
	"_.stapsdt.base: .space 1\n"
	".popsection\n"
	".pushsection .probes,\"aw\",%progbits\n"
	".balign 2\n"
	".global app_semaphore\n"
	"app_semaphore: .2byte 0\n"
	".popsection\n");

extern volatile unsigned short app_semaphore;

static jmp_buf out;

static __attribute__((noinline)) void step(void)
{
	__asm__ volatile(PROBE("step__start", "", "nop")::: "memory");
	usleep(1000);
	__asm__ volatile(PROBE("step__done", "", "nop")::: "memory");
}

static __attribute__((noinline)) void odd_step(void)
{
	__asm__ volatile(PROBE("odd__start", "", FIVE_BYTES)::: "memory");
	__asm__ volatile(PROBE("odd__done", "", FIVE_BYTES)::: "memory");
}

static __attribute__((noinline)) void fails(int fail)
{
	__asm__ volatile(PROBE("try__start", "", "nop")::: "memory");
	if (fail)
		longjmp(out, 1);
	__asm__ volatile(PROBE("try__done", "", "nop")::: "memory");
}

static __attribute__((noinline)) void begin(unsigned long id)
{
	__asm__ volatile(PROBE("job__start", "8@%%rdi", "nop")::"D"(id) : "memory");
}

static void *end(void *id)
{
	__asm__ volatile(PROBE("job__done", "8@%%rax -4@$7", "nop")::"a"(id) : "memory");
	return NULL;
}

static void job(unsigned long id)
{
	pthread_t thread;

	begin(id);
	pthread_create(&thread, NULL, end, (void *)id);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	volatile int left = 0, good = 0;
	int count = argc > 1 ? atoi(argv[1]) : 0;

	if (!count)
		pause();
	for (volatile int i = 0; i < count; i++) {
		pid_t child = fork();
		int status;

		step();
		odd_step();
		if (child == 0)
			_exit(3);
		good += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == 3;
		if (setjmp(out) == 0)
			fails(i % 2);
		else
			left++;
		job((unsigned long)i + 1);
	}
	printf("%d children, %d left\n", good, left);
	return 0;
}
