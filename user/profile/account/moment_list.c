// SPDX-License-Identifier: BSD-2-Clause
/* Keeps single events. */
#include "profile/account/moment_list.h"

#include <errno.h>

int moment_list_add(struct moment_list *list, const struct moment *moment)
{
	struct moment *added;

	if (list->items.count >= MOMENT_MAX)
		return -ENOSPC;
	added = array_add(&list->items);
	if (!added)
		return -ENOMEM;
	*added = *moment;
	return 0;
}

void moment_list_renumber(struct moment_list *list, const uint32_t *numbers)
{
	array_foreach(&list->items, moment)
		moment->stack = numbers[moment->stack];
}

void moment_list_done(struct moment_list *list)
{
	array_free(&list->items);
}
