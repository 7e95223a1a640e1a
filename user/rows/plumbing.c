// SPDX-License-Identifier: BSD-2-Clause
/* Takes plumbing out of stacks. */
#include "rows/plumbing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "rows/plumbing_table.h"

/* Longer names are compared as far as this. */
#define NAME_SIZE 96

struct plumbing_name {
	const char *name;
	enum frame_sort sort;
};

#define ROW(sort_, name_) {.name = (name_), .sort = (sort_)},
static const struct plumbing_name of_kernel[] = {KERNEL_PLUMBING(ROW)};
static const struct plumbing_name of_programs[] = {PROGRAM_PLUMBING(ROW)};
#undef ROW

/* CPython and those modules of its own that call the system; other modules do work of their own. */
static const char *const interpreter_modules[] = {
	"python3",	   "libpython3.",     "_socket.cpython-",	   "_ssl.cpython-",
	"select.cpython-", "_queue.cpython-", "_posixsubprocess.cpython-", "_asyncio.cpython-",
};

static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');

	return star ? strncmp(pattern, name, (size_t)(star - pattern)) == 0
		    : strcmp(pattern, name) == 0;
}

static enum frame_sort find(const struct plumbing_name *table, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (matches(table[i].name, name))
			return table[i].sort;
	return FRAME_OF_PLACE;
}

enum frame_sort plumbing_sort(const struct function *function)
{
	char name[NAME_SIZE];

	if (!function->named)
		return FRAME_OF_PLACE;
	if (function->mark != FUNCTION_KERNEL)
		return find(of_programs, ARRAY_SIZE(of_programs), function->name);
	strncpy(name, function->name, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	/* The ending of a copy made by the compiler. */
	name[strcspn(name, ".")] = '\0';
	return find(of_kernel, ARRAY_SIZE(of_kernel), name);
}

int plumbing_init(struct plumbing *plumbing, const struct function_table *functions)
{
	size_t count = function_table_count(functions);

	*plumbing = (struct plumbing){.functions = functions, .sorts = malloc(count + 1)};
	if (!plumbing->sorts)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		plumbing->sorts[i] = (uint8_t)plumbing_sort(function_table_get(functions, i));
	return 0;
}

void plumbing_done(struct plumbing *plumbing)
{
	free(plumbing->sorts);
	*plumbing = (struct plumbing){0};
}

static bool is_of_program(const struct function *function)
{
	return !function_is_outside(function);
}

bool plumbing_is_of_interpreter(const struct function *function)
{
	if (function->mark != FUNCTION_PLAIN && function->mark != FUNCTION_INLINED)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(interpreter_modules); i++)
		if (!strncmp(function->module, interpreter_modules[i],
			     strlen(interpreter_modules[i])))
			return true;
	return false;
}

/* "read" of __x64_sys_read; without the digits that tell versions of a call apart. */
static void name_of_call(char call[NAME_SIZE], const char *name)
{
	const char *start = strstr(name, "sys_");

	strncpy(call, start ? start + strlen("sys_") : name, NAME_SIZE - 1);
	call[NAME_SIZE - 1] = '\0';
	call[strcspn(call, "0123456789")] = '\0';
}

/* Functions of the C library in which threads wait on futexes are called by what they wait for. */
static bool is_futex_user(const char *name)
{
	static const char *const parts[] = {"futex", "lock", "cond_", "sem_", "join", "wait"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* Does the caller's name say which system call it is? */
static bool names_call(const struct function *caller, const char *name)
{
	char call[NAME_SIZE];
	const char *own = caller->name + strspn(caller->name, "_");

	if (!caller->named)
		return false;
	name_of_call(call, name);
	if (!strcmp(call, "futex"))
		return is_futex_user(own);
	return *call && (strstr(own, call) || (strlen(own) > 3 && strstr(call, own)));
}

/* First function outside of the kernel, NULL: none. */
static const struct function *caller_of_kernel(const struct plumbing *plumbing,
					       const uint32_t *functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(plumbing->functions, functions[i]);

		if (is_of_program(function))
			return function;
	}
	return NULL;
}

/* What is known of a stack when one of its functions is looked at. */
struct kept {
	const struct function *caller; /* of the kernel, NULL: none */
	bool has_call;		       /* the system call is known by its name */
	bool has_python;	       /* a Python function calls it */
	size_t all, of_program;	       /* callees that are shown */
};

static bool is_shown(enum frame_sort sort, const struct function *function, const struct kept *kept)
{
	if (kept->has_python && plumbing_is_of_interpreter(function))
		return false;
	switch (sort) {
	case FRAME_OF_PLACE:
		return true;
	case FRAME_INSIDE:
		return false;
	case FRAME_OF_CALL:
		return !kept->caller && !kept->has_call;
	case FRAME_IS_CALL:
		return !kept->caller || !names_call(kept->caller, function->name);
	case FRAME_BEGINS:
		return is_of_program(function) ? !kept->of_program : !kept->all;
	}
	return true;
}

static bool is_unnamed(const struct function *function)
{
	return is_of_program(function) && !function->named;
}

/* Functions without a name tell less than those around them: none is left between two with a name,
 * and of several of one module only the callee. */
static size_t drop_unnamed(const struct plumbing *plumbing, uint32_t *functions, size_t count)
{
	size_t last_named = 0, kept = 0;
	const struct function *below = NULL;
	bool named_below = false;

	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(plumbing->functions, functions[i]);

		if (is_of_program(function) && function->named)
			last_named = i;
	}
	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(plumbing->functions, functions[i]);

		if (is_unnamed(function) &&
		    ((named_below && i < last_named) ||
		     (kept && is_unnamed(below) && !strcmp(below->module, function->module))))
			continue;
		named_below = named_below || (is_of_program(function) && function->named);
		functions[kept++] = functions[i];
		below = function;
	}
	return kept;
}

size_t plumbing_remove(const struct plumbing *plumbing, uint32_t *functions, size_t count)
{
	/* Where all is plumbing, how the kernel was entered is left. */
	uint32_t outermost = count ? functions[count - 1] : 0;
	struct kept kept = {.caller = caller_of_kernel(plumbing, functions, count)};

	for (size_t i = 0; i < count; i++) {
		kept.has_call |= plumbing->sorts[functions[i]] == FRAME_IS_CALL;
		kept.has_python |= function_table_get(plumbing->functions, functions[i])->mark ==
				   FUNCTION_PYTHON;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t id = functions[i];
		const struct function *function = function_table_get(plumbing->functions, id);

		/* Recursion tells nothing new. */
		if (!is_shown(plumbing->sorts[id], function, &kept) ||
		    (kept.all && functions[kept.all - 1] == id))
			continue;
		functions[kept.all++] = id;
		kept.of_program += is_of_program(function);
	}
	if (!kept.all && count)
		functions[kept.all++] = outermost;
	return drop_unnamed(plumbing, functions, kept.all);
}
