// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer
/* Burns CPU in functions of hand-written assembly, as libraries have them: most of it without
 * call frame information. x86-64 only. usage: assembly SECONDS, spent below each of nine C
 * functions in turn */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#ifndef FILLER_BYTES
#define FILLER_BYTES "0"
#endif
/* Each takes the number of rounds in rdi and uses rbp for something else. */
#define FUNCTION(name) ".p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name)      ".size " #name ", . - " #name "\n"
#define ROUNDS	       "1: imul $1664525, %ebp, %ebp\n add $1013904223, %ebp\n dec %rdi\n jnz 1b\n"

__asm__(".text\n"
	/* In a row of calls that need no frame. */
	FUNCTION(rounds_without_frame) ROUNDS "ret\n" END(rounds_without_frame)

		FUNCTION(pushes) "push %rbp\n push %rbx\n sub $40, %rsp\n" ROUNDS
				 "add $40, %rsp\n pop %rbx\n pop %rbp\n ret\n" END(pushes)

	/* The stack is aligned, and the caller's kept in a slot of it, as video codecs do. */
	FUNCTION(aligns) "push %rbp\n mov %rsp, %rax\n and $-64, %rsp\n sub $128, %rsp\n mov %rax, "
			 "96(%rsp)\n"
			 "call rounds_without_frame\n mov 96(%rsp), %rsp\n pop %rbp\n ret\n" END(
				 aligns)

	/* In a slot that the frame pointer leads to, as libjpeg-turbo does, the register being used
	   again. */
	FUNCTION(aligns_twice) "push %rbp\n mov %rsp, %rax\n sub $4, %rsp\n and $-32, %rsp\n mov "
			       "%rax, (%rsp)\n mov %rsp, %rbp\n"
			       "lea -256(%rbp), %rsp\n push %r12\n xor %eax, %eax\n"
			       "1: imul $1664525, %eax, %eax\n add $1013904223, %eax\n dec %rdi\n "
			       "jnz 1b\n"
			       "pop %r12\n mov %rbp, %rsp\n pop %rsp\n pop %rbp\n ret\n" END(
				       aligns_twice)

	/* The same in a register that functions keep, as linear algebra does. */
	FUNCTION(keeps) "sub $32, %rsp\n mov %rbx, (%rsp)\n mov %rbp, 8(%rsp)\n mov %rsp, %rbx\n"
			"sub $8192, %rsp\n and $-4096, %rsp\n" ROUNDS
			"mov %rbx, %rsp\n mov (%rsp), %rbx\n mov 8(%rsp), %rbp\n add $32, %rsp\n "
			"ret\n" END(keeps)

	/* In a register that functions need not keep, over a call to one that does. */
	FUNCTION(trusts) "push %rbp\n mov %rsp, %rcx\n and $-32, %rsp\n sub $96, %rsp\n call "
			 "rounds_without_frame\n"
			 "mov %rcx, %rsp\n pop %rbp\n ret\n" END(trusts)

	/* Code that only a table leads to. */
	FUNCTION(jumps) "push %rbp\n push %r12\n lea 2f(%rip), %rax\n jmp *%rax\n"
			"pop %r12\n pop %rbp\n ret\n"
			"2:" ROUNDS "pop %r12\n pop %rbp\n ret\n" END(jumps)

	/* Behind a jump, an entry that only its symbol tells: arithmetic on long numbers has some
	   with and without a carry. */
	FUNCTION(enters_with_carry) "push %rbp\n push %rbx\n mov %rsi, %rax\n jmp 3f\n" END(
		enters_with_carry) ".globl enters\n.type enters, @function\nenters: push %rbp\n "
				   "push %rbx\n xor %eax, %eax\n"
				   "3: mov %eax, %ebp\n" ROUNDS
				   "pop %rbx\n pop %rbp\n ret\n" END(enters)

	/* What makes more than is read before somebody comes to it. */
	".zero " FILLER_BYTES "\n"

	/* And back to C. */
	FUNCTION(calls) "push %rbp\n xor %ebp, %ebp\n sub $16, %rsp\n call rounds_in_c\n add $16, "
			"%rsp\n pop %rbp\n ret\n" END(calls)

	/* Described, with the mark of signal frames: its return address is exact, and it is called
	   like any other. */
	FUNCTION(marks) ".cfi_startproc\n.cfi_signal_frame\n"
			"push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\n"
			"sub $48, %rsp\n.cfi_adjust_cfa_offset 48\n"
			"call rounds_in_c\n nop\n"
			"add $48, %rsp\n.cfi_adjust_cfa_offset -48\n"
			"pop %rbx\n.cfi_adjust_cfa_offset -8\n ret\n.cfi_endproc\n" END(marks));

void pushes(unsigned long rounds);
void aligns(unsigned long rounds);
void aligns_twice(unsigned long rounds);
void keeps(unsigned long rounds);
void trusts(unsigned long rounds);
void jumps(unsigned long rounds);
void enters(unsigned long rounds);
void calls(unsigned long rounds);
void marks(unsigned long rounds);

static volatile unsigned int sink;

__attribute__((noinline, used)) void rounds_in_c(unsigned long rounds)
{
	while (rounds--)
		sink = sink * 1664525U + 1013904223U;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A caller of its own for each, whose frame is found by the stack pointer, with something to do
 * after the call. */
#define CALLER(name)                                                                               \
	__attribute__((noinline)) static void caller_of_##name(double seconds)                     \
	{                                                                                          \
		double until = cpu_seconds() + seconds;                                            \
                                                                                                   \
		while (cpu_seconds() < until) {                                                    \
			name(1000000);                                                             \
			sink++;                                                                    \
		}                                                                                  \
	}

CALLER(pushes)
CALLER(aligns)
CALLER(aligns_twice)
CALLER(keeps)
CALLER(trusts)
CALLER(jumps)
CALLER(enters)
CALLER(calls)
CALLER(marks)

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	caller_of_pushes(seconds);
	caller_of_aligns(seconds);
	caller_of_aligns_twice(seconds);
	caller_of_keeps(seconds);
	caller_of_trusts(seconds);
	caller_of_jumps(seconds);
	caller_of_enters(seconds);
	caller_of_calls(seconds);
	caller_of_marks(seconds);
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
