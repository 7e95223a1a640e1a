// SPDX-License-Identifier: BSD-2-Clause
/* Tells inlined copies of functions. */
#include "source/regions/function_inlined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_append.h"
#include "elf/inlined_functions.h"

#define TOLD_AT_MOST 5

struct judging {
	struct function_set *set;
	const char *path;
};

static bool is_meant(void *context, const char *name, char *ret_name)
{
	const struct judging *judging = context;

	return function_set_means(judging->set, judging->path, name, ret_name, INLINED_NAME_BYTES);
}

static int most_copies_first(const void *left, const void *right)
{
	const struct inlined_function *a = left, *b = right;

	return (a->copies < b->copies) - (a->copies > b->copies);
}

static void tell(const struct log *log, const struct inlined_function *function, const char *path)
{
	char callers[(INLINED_CALLERS + 1) * INLINED_NAME_BYTES] = "";

	for (size_t i = 0; i < INLINED_CALLERS && function->callers[i][0]; i++)
		text_append(callers, sizeof(callers), "%s%s()", i ? ", " : " in ",
			    function->callers[i]);
	if (function->has_more_callers)
		text_append(callers, sizeof(callers), " and others");
	log_warning(log, "%s() of %s has %u inlined cop%s%s, whose calls are not counted",
		    function->name, path, function->copies, function->copies == 1 ? "y" : "ies",
		    callers);
}

void function_inlined_tell(struct function_set *set, const struct session_options *options,
			   const struct elf_file *file, const char *path)
{
	struct judging judging = {set, path};
	struct inlined_functions functions = {0};
	int err;

	if (!options->find_inlined)
		return;
	err = options->find_inlined(file, is_meant, &judging, &functions);
	if (functions.items.count)
		qsort(functions.items.items, functions.items.count, sizeof(*functions.items.items),
		      most_copies_first);
	for (size_t i = 0; i < functions.items.count && i < TOLD_AT_MOST; i++)
		tell(options->log, &functions.items.items[i], path);
	if (functions.items.count > TOLD_AT_MOST)
		log_warning(options->log, "%zu more of its functions have inlined copies",
			    functions.items.count - TOLD_AT_MOST);
	if (err)
		log_info(options->log, "cannot tell all inlined functions of %s: %s", path,
			 err == -ETIME ? "its debug information is too large" : strerror(-err));
	array_free(&functions.items);
}
