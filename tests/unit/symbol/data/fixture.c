// SPDX-License-Identifier: BSD-2-Clause
/* The program whose addresses the symbolizer's tests look up. Labels mark places inside
 * functions. */
#if __has_attribute(noclone)
#define NOINLINE __attribute__((noinline, noclone, used))
#else
#define NOINLINE __attribute__((noinline, used))
#endif
#define INLINE __attribute__((always_inline)) static inline

volatile int sink;

NOINLINE static int local_function(int x)
{
	sink += x;
	return sink;
}

INLINE int inlined_leaf(int x)
{
#line 100 "leaf.c"
	__asm__ volatile("leaf_marker: nop" : : "r"(x));
	sink ^= x;
	return sink;
}

INLINE int inlined_middle(int x)
{
#line 200 "middle.c"
	return inlined_leaf(x + 1) + 1;
}

NOINLINE int outer_function(int x)
{
	int result = local_function(x);
#line 300 "outer.c"
	result += inlined_middle(x);
	return result + local_function(result);
}

#ifndef __clang__
INLINE int nested_leaf(int x)
{
	__asm__ volatile("nested_marker: nop" : : "r"(x));
	return x + sink;
}

/* As methods of local classes are in C++, its entry is inside the function's. */
NOINLINE int enclosing_function(int x)
{
	auto int nested_function(int y);
	NOINLINE int nested_function(int y)
	{
		return nested_leaf(y) + x;
	}
	return nested_function(x) + nested_function(x + 1);
}
#endif

int cplus_method(int x) __asm__("_ZN2ns5Class6methodEi");
NOINLINE int cplus_method(int x)
{
	return local_function(x) * 3;
}

int rust_work(int x) __asm__("_ZN7mycrate6module4work17h0123456789abcdefE");
NOINLINE int rust_work(int x)
{
	return local_function(x) * 5;
}

NOINLINE int __aliased(int x)
{
	return local_function(x) * 7;
}
int aliased(int x) __attribute__((weak, alias("__aliased")));

/* No type, no size, alone at the end of a section. */
__asm__(".pushsection rawcode,\"ax\"\n"
	"raw_label: .byte 0, 0, 0\n"
	".popsection");

/* As assemblers for ARM mark where data ends and code goes on; elsewhere names like others. */
__asm__(".pushsection mixedcode,\"ax\"\n"
	".balign 16\n"
	"mixed_label: .byte 0, 0, 0, 0\n"
	"\"$x.7\": .byte 0, 0, 0, 0\n"
	".popsection");

/* A function without a name ends in a call, as it were, and one with a name follows at once. */
__asm__(".pushsection endcode,\"ax\"\n"
	".cfi_startproc\n"
	"nop\n"
	".cfi_endproc\n"
	".type follower, %function\n"
	"follower: .cfi_startproc\n"
	"nop\n"
	".cfi_endproc\n"
	".size follower, .-follower\n"
	".popsection");

#ifdef NO_LIBC
void _start(void)
{
	outer_function(aliased(cplus_method(rust_work(1))));
	for (;;)
		;
}
#else
#include <stdio.h>

int main(void)
{
	puts("fixture");
	return outer_function(aliased(cplus_method(rust_work(1)))) == 0;
}
#endif
