// SPDX-License-Identifier: BSD-2-Clause
/* A program with a Python runtime of the wanted sort. */
#include <stdint.h>

#ifdef SECTION
__attribute__((section(".PyRuntime")))
#endif
#ifdef PUBLISHED /* of 3.15, see python/python_layout.c */
__attribute__((aligned(32))) uint64_t _PyRuntime[128] = {
	0x7970677562656478,
	0x030f02f0,
	0, /* "xdebugpy" */
	240000,
	700,
	936, /* runtime */
	300000,
	7272,
	7264,
	7336,
	[20] = 9000, /* interpreter */
	[22] = 900,
	0,
	8,
	16,
	72,
	80,
	88,
	96,
	176, /* thread */
	[39] = 88,
	8,
	0,
	56,
	80,
	74,
	64,
	72, /* frame */
	[47] = 216,
	112,
	120,
	128,
	136,
	68,
	52,
	96,
	104,
	208,
};
#else
uint64_t _PyRuntime[82] = {1};
#endif
#ifdef VERSION
const unsigned long Py_Version = VERSION;
#endif
#ifdef DIRECTORY
const char *directory = DIRECTORY;
#endif

int main(void)
{
	return 0;
}
