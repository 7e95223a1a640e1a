// SPDX-License-Identifier: BSD-2-Clause
/* A program with tables of methods as CPython's modules have them (PyMethodDef). */
#include <stddef.h>

struct method {
	const char *name;
	void *function;
	int flags;
	const char *documentation;
};

#define FASTCALL 0x80
#define VARARGS	 0x01

__attribute__((noinline, used)) void *audit_function(void *self, void **arguments, long count)
{
	return count ? arguments[0] : self;
}

__attribute__((noinline, used)) void *other_function(void *self, void *arguments)
{
	return self ? self : arguments;
}

int number;

/* Each but one has something that the wanted one has not. */
struct method methods[] = {
	{"audit", other_function, VARARGS, "audit($module, event, /)"},
	{"audit", other_function, FASTCALL, "auditor(event)"},
	{"audit", other_function, FASTCALL, NULL},
	{"audit", &number, FASTCALL, "audit(event)"},
	{"pre_audit", other_function, FASTCALL, "pre_audit(event)"},
	{"audit", audit_function, FASTCALL, "audit(event, /, *args)\n--\n"},
	{"unlike", other_function, FASTCALL, "another(text)"},
	{NULL, NULL, 0, NULL},
};
struct method *volatile used = methods;

int main(void)
{
	return used->flags == VARARGS ? 0 : 1;
}
