// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
/* Burns CPU below assembly that is described by more than a distance from the stack pointer, and
 * below code that its description fits badly. x86-64 only. usage: described SECONDS, spent below
 * each C function in turn */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#define FUNCTION(name) ".p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name)      ".size " #name ", . - " #name "\n"
#define ROUNDS	       "mov $1000000, %eax\n 1: imul $1664525, %ecx, %ecx\n dec %eax\n jnz 1b\n"

/* A frame that is aligned anew and found by one register that called functions keep, as ld.so and
 * video codecs have it; the frame pointer is a register like any other. */
#define KEEPS(register)                                                                                                                                                                                                                                                                                                  \
	FUNCTION(keeps_##register)                                                                                                                                                                                                                                                                                       \
	".cfi_startproc\npush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"                                                                                                                                                                                                                                   \
	"push %" #register "\n.cfi_adjust_cfa_offset 8\n.cfi_offset %" #register ", -24\n"                                                                                                                                                                                                                               \
										 "mov %rsp, "                                                                                                                                                                                                                            \
										 "%" #register "\n.cfi_def_cfa_register %" #register "\n"                                                                                                                                                                                \
																     "mov $77, %ebp\n sub $1000, %rsp\n and $-64, %rsp\n call clobbers\n"                                                                                                                \
																     "mov %" #register ", %rsp\n.cfi_def_cfa_register %rsp\npop %" #register "\n"                                                                                                        \
																									     ".cfi_adjust_cfa_offset -8\n.cfi_restore %" #register "\npop %rbp\n"                                        \
																																   ".cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n" END( \
																																	   keeps_##register)

#define PUSH(register)                                                                             \
	"push %" #register "\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %" #register ", 0\n"
#define POP(register) "pop %" #register "\n.cfi_adjust_cfa_offset -8\n.cfi_restore %" #register "\n"

/* Puts another stack in place of its own, and keeps its own in a register. */
#define SWITCHES(name, stack, called)                                                              \
	FUNCTION(name)                                                                             \
	".cfi_startproc\n" PUSH(r13) "mov %rsp, %r13\n.cfi_def_cfa_register %r13\n"                \
				     "lea " stack "+65536(%rip), %rsp\n call " called "\n"         \
				     "mov %r13, %rsp\n.cfi_def_cfa_register %rsp\n" POP(           \
					     r13) "ret\n.cfi_endproc\n" END(name)

__asm__(".text\n" FUNCTION(clobbers) ".cfi_startproc\n" PUSH(rbp) PUSH(rbx) PUSH(r12) PUSH(
	r13) PUSH(r14)
		PUSH(r15) "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
			  "mov $1, %ebx\n mov $2, %r12d\n mov $3, %r13d\n mov $4, %r14d\n mov $5, "
			  "%r15d\n mov $6, %ebp\n call *what(%rip)\n"
			  "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n" POP(r15) POP(r14) POP(r13)
				  POP(r12) POP(rbx) POP(rbp) "ret\n.cfi_endproc\n" END(clobbers)
					  KEEPS(rbx) KEEPS(r12) KEEPS(r13) KEEPS(r14) KEEPS(r15)

	/* The CFA is 16 above the word at r12 + 8. */
	FUNCTION(keeps_in_memory) ".cfi_startproc\n" PUSH(
		r12) "mov %rsp, %rax\n sub $1000, %rsp\n and $-64, %rsp\n mov %rax, 128(%rsp)\n"
		     "lea 120(%rsp), %r12\n.cfi_escape 0x0f, 5, 0x7c, 8, 0x06, 0x23, 16\n"
		     "call clobbers\n mov 128(%rsp), %rsp\n.cfi_def_cfa %rsp, 16\n" POP(
			     r12) "ret\n.cfi_endproc\n" END(keeps_in_memory)

			     SWITCHES(switches_down, "lower", "switches_up")
				     SWITCHES(switches_up, "upper", "clobbers")

	/* One description for two functions, as managed languages write it. */
	".p2align 4\n.cfi_startproc\n.cfi_def_cfa %rbp, 16\n.cfi_offset %rbp, -16\n" FUNCTION(
		sets_frame) "push %rbp\n mov %rsp, %rbp\n call has_none\n pop %rbp\n ret\n" END(sets_frame)
		FUNCTION(has_none) ROUNDS
	"ret\n" END(
		has_none) ".cfi_endproc\n"

			  /* One that is nothing but how functions begin. */
			  ".p2align 4\n.cfi_startproc\n" FUNCTION(
				  sets_frame_too) "push %rbp\n mov %rsp, %rbp\n call pushes_too\n "
						  "pop %rbp\n ret\n" END(sets_frame_too) FUNCTION(
							  pushes_too) "push %rbx\n push "
								      "%rbp\n xor %ebp, "
								      "%ebp\n" ROUNDS
								      "pop %rbp\n pop "
								      "%rbx\n ret\n" END(
									      pushes_too) ".cfi_"
											  "endproc"
											  "\n");

void keeps_rbx(void);
void keeps_r12(void);
void keeps_r13(void);
void keeps_r14(void);
void keeps_r15(void);
void keeps_in_memory(void);
void switches_down(void);
void sets_frame(void);
void sets_frame_too(void);

/* One lies above the other, whatever the linker does, and both below the stack. */
struct {
	char lower[65536], upper[65536];
} stacks __asm__("lower") __attribute__((aligned(4096), used));
__asm__(".globl upper\n.set upper, lower + 65536\n");

static volatile unsigned int sink;

__attribute__((noinline)) static void rounds(void)
{
	for (int i = 0; i < 1000000; i++)
		sink = sink * 1664525U + 1013904223U;
}

__attribute__((noinline)) static void on_signal(int signal)
{
	rounds();
	sink += (unsigned int)signal;
}

__attribute__((noinline)) static void raises(void)
{
	raise(SIGUSR1);
	sink++;
}

void (*volatile what)(void) __asm__("what") __attribute__((used)) = rounds;

static void signals(void)
{
	what = raises;
	keeps_rbx();
	what = rounds;
}

/* By way of the page that the kernel emulates. */
__attribute__((noinline)) static void old_gettimeofday(void)
{
	for (int i = 0; i < 1000; i++)
		((int (*)(void *, void *))0xffffffffff600000)(NULL, NULL);
	sink++;
}

__attribute__((noinline)) static void old_time(void)
{
	for (int i = 0; i < 1000; i++)
		((long (*)(long *))0xffffffffff600400)(NULL);
	sink++;
}

__attribute__((noinline)) static void old_getcpu(void)
{
	for (int i = 0; i < 1000; i++)
		((long (*)(void *, void *, void *))0xffffffffff600800)(NULL, NULL, NULL);
	sink++;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define CALLER(name)                                                                               \
	__attribute__((noinline)) static void caller_of_##name(double seconds)                     \
	{                                                                                          \
		double until = cpu_seconds() + seconds;                                            \
                                                                                                   \
		while (cpu_seconds() < until) {                                                    \
			name();                                                                    \
			sink++;                                                                    \
		}                                                                                  \
	}

CALLER(keeps_rbx)
CALLER(keeps_r12)
CALLER(keeps_r13)
CALLER(keeps_r14)
CALLER(keeps_r15)
CALLER(keeps_in_memory)
CALLER(switches_down)
CALLER(signals)
CALLER(sets_frame)
CALLER(sets_frame_too)
CALLER(old_gettimeofday)
CALLER(old_time)
CALLER(old_getcpu)

static int has_vsyscall(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, "[vsyscall]") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	static char signal_stack[65536];
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	stack_t other = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};

	if (sigaltstack(&other, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	caller_of_keeps_rbx(seconds);
	caller_of_keeps_r12(seconds);
	caller_of_keeps_r13(seconds);
	caller_of_keeps_r14(seconds);
	caller_of_keeps_r15(seconds);
	caller_of_keeps_in_memory(seconds);
	caller_of_switches_down(seconds);
	caller_of_signals(seconds);
	caller_of_sets_frame(seconds);
	caller_of_sets_frame_too(seconds);
	if (!has_vsyscall())
		return 0;
	caller_of_old_gettimeofday(seconds);
	caller_of_old_time(seconds);
	caller_of_old_getcpu(seconds);
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
