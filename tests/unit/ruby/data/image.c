// SPDX-License-Identifier: BSD-2-Clause
/* What libruby exports, of it all that is looked for. */
const char ruby_version[] = VERSION;
unsigned long rb_cObject;
unsigned long initialized[4] = {1, 2, 3, 4};
#ifdef VARIABLES
void *ruby_current_vm_ptr;
#endif

/* As long as a function of some use. */
void LOOP(volatile unsigned long *word)
{
#define EIGHT(x) x x x x x x x x
	EIGHT(*word += initialized[0]; *word ^= 3;)
}
