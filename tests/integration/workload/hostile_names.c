// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -g0 -fno-omit-frame-pointer
/* Computes for a tenth of a second each in functions whose names mean something to whoever shows
 * them, in a thread with such a name; longer where CPU time passes and nothing is computed, as on
 * a virtual CPU that the host has taken away. */
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

/* A fraction of what a tenth of a second is enough for. */
#define ROUNDS	   1000
#define FOUR(x)	   x x x x
#define LONG_CLASS "42class_with_a_name_of_just_forty_two_letter"

/* X(function, name): quoted for the assembler. */
#define NAMES(X)                                                                                   \
	X(separators, "a;b;;c")                                                                    \
	X(script, "</script><script>hacked=1</script>")                                            \
	X(markup, "<img src=http://127.0.0.1:9/x onerror=hacked=1>")                               \
	X(comment, "]]>&amp;<!--")                                                                 \
	X(place, "{{DATA}}${hacked=1}")                                                            \
	X(escape, "\x1b[31m\x1b]0;title\x07red")                                                   \
	X(formula, "=cmd|'/c calc'!A1")                                                            \
	X(quotes, "say `hello' it''s")                                                             \
	X(differential, "ends in a number 12")                                                     \
	X(invalid, "invalid \xff\xfe\xc3( utf-8")                                                  \
	X(backwards, "\xe2\x80\xaegnp.exe")                                                        \
	X(prototype, "__proto__")                                                                  \
	X(constructor_, "constructor")                                                             \
	X(cxx, "_ZN" FOUR(FOUR(FOUR(LONG_CLASS)) FOUR(LONG_CLASS) LONG_CLASS LONG_CLASS) "4lastE"  \
											 "v")

static void compute(void)
{
	struct timespec start, now;
	int rounds = 0;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do {
		rounds++;
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
			 100 ||
		 rounds < ROUNDS);
}

#define DEFINE(function, name)                                                                     \
	void function(void) __asm__("\"" name "\"");                                               \
	__attribute__((noinline)) void function(void)                                              \
	{                                                                                          \
		compute();                                                                         \
		__asm__ volatile(""); /* no tail call */                                           \
	}
NAMES(DEFINE)

int main(void)
{
	prctl(PR_SET_NAME, "=</b>\x1b;\n\"'\xff{{");
#define CALL(function, name) function();
	NAMES(CALL)
	return 0;
}
