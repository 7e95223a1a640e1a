// SPDX-License-Identifier: BSD-2-Clause
/* Lists of mappings, shared between copies until one of them changes. */
#include "process/address_space.h"

#include <errno.h>
#include <stdlib.h>

struct shared_list {
	size_t users; /* address spaces that share it */
	struct mapping_list list;
};

struct address_space {
	struct shared_list *shared;
};

static struct shared_list *shared_new(struct mapping_budget *budget)
{
	struct shared_list *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	shared->users = 1;
	shared->list.budget = budget;
	return shared;
}

static void release(struct shared_list *shared)
{
	if (--shared->users)
		return;
	mapping_list_done(&shared->list);
	free(shared);
}

struct address_space *address_space_new_within(struct mapping_budget *budget)
{
	struct address_space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	space->shared = shared_new(budget);
	if (!space->shared) {
		free(space);
		return NULL;
	}
	return space;
}

struct address_space *address_space_new(void)
{
	return address_space_new_within(NULL);
}

struct address_space *address_space_copy(const struct address_space *from)
{
	struct address_space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	space->shared = from->shared;
	space->shared->users++;
	return space;
}

void address_space_free(struct address_space *space)
{
	if (!space)
		return;
	release(space->shared);
	free(space);
}

/* Gives the address space a list of its own. */
static int make_writable(struct address_space *space)
{
	struct shared_list *own;
	int err;

	if (space->shared->users == 1)
		return 0;
	own = shared_new(NULL);
	if (!own)
		return -ENOMEM;
	err = mapping_list_copy(&space->shared->list, &own->list);
	if (err) {
		free(own);
		return err;
	}
	release(space->shared);
	space->shared = own;
	return 0;
}

int address_space_add(struct address_space *space, const struct mapping *mapping)
{
	int err = make_writable(space);

	return err ? err : mapping_list_add(&space->shared->list, mapping);
}

int address_space_remove(struct address_space *space, uint64_t start, uint64_t end)
{
	int err = make_writable(space);

	return err ? err : mapping_list_remove(&space->shared->list, start, end);
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t address)
{
	return mapping_list_find(&space->shared->list, address);
}

const struct mapping_list *address_space_mappings(const struct address_space *space)
{
	return &space->shared->list;
}
