// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/function_group.h"

#include <errno.h>
#include <stdint.h>

#include "source/regions/region_probes.h"
#include "source/regions/region_rows.h"

/* A number for a site that is to have a probe. -ENOSPC. */
static int number_site(struct function_set *set, struct function *function, size_t index,
		       struct region_sites *sites)
{
	struct region_site *site;
	uint32_t *number;

	if (!set->free_sites.count)
		return -ENOSPC;
	site = array_add(&sites->items);
	number = index < function->numbers.count ? &function->numbers.items[index]
						 : array_add(&function->numbers);
	if (!site || !number)
		return -ENOMEM;
	*number = set->free_sites.items[--set->free_sites.count];
	*site = function->sites.items.items[index];
	site->cookie = *number;
	set->sites[*number] = site->description;
	return 0;
}

static int number_entry(struct function_set *set, struct function *function,
			struct region_sites *sites)
{
	int err = function->state == FUNCTION_LET_GO ? 0 : number_site(set, function, 0, sites);

	if (!err && function->state == FUNCTION_COUNTED)
		set->sites[function->numbers.items[0]].role = PKBPF_SITE_COUNT;
	return err;
}

static int number_returns(struct function_set *set, struct function *function,
			  struct region_sites *sites)
{
	int err = 0;

	if (function->state == FUNCTION_MEASURED)
		for (size_t i = 1; i < function->sites.items.count && !err; i++)
			err = number_site(set, function, i, sites);
	return err;
}

struct site_numbers {
	ARRAY_OF(uint32_t) items;
};

/* The old ones are off before their numbers are used again. */
static void end_probes(struct function_set *set, struct region_probes *probes,
		       struct site_numbers *numbers)
{
	array_foreach(&numbers->items, number)
		set->sites[*number].role = PKBPF_SITE_OFF;
	region_probes_free(probes);
	/* Nothing has them any more. */
	array_foreach(&numbers->items, number) {
		uint32_t *free_site = array_add(&set->free_sites);

		if (free_site)
			*free_site = *number;
	}
	array_free(&numbers->items);
}

static int attach(struct function_set *set, const struct function_group *group,
		  const struct region_sites *sites, struct region_probes **ret_probes)
{
	struct error error;
	int err = 0;

	*ret_probes = NULL;
	if (!sites->items.count)
		return 0;
	err = region_probes_copy(set->options.probes, ret_probes);
	if (!err)
		err = region_probes_add(*ret_probes, set->files.items[group->file].fd, sites,
					&error);
	return err;
}

/* Takes the numbers of a function from one on. */
static int take_numbers(struct function *function, size_t first, size_t end,
			struct site_numbers *taken)
{
	for (size_t i = first; i < end && i < function->numbers.count; i++) {
		uint32_t *number = array_add(&taken->items);

		if (!number)
			return -ENOMEM;
		*number = function->numbers.items[i];
	}
	return 0;
}

/* All of their numbers go with them. */
static int end_entries(struct function_set *set, struct function_group *group)
{
	struct function *functions = set->functions.items + group->first;
	struct site_numbers left = {0};
	int err = 0;

	for (size_t i = 0; i < group->count && !err; i++)
		err = take_numbers(&functions[i], 0, 1, &left);
	end_probes(set, group->entries, &left);
	group->entries = NULL;
	return err;
}

/* New probes on the returns of functions that are measured, then the old ones off: what is between
 * sees a return twice, of which the second ends nothing. */
static int probe_returns(struct function_set *set, struct function_group *group)
{
	struct function *functions = set->functions.items + group->first;
	struct region_probes *probes = NULL;
	struct site_numbers left = {0};
	struct region_sites sites = {0};
	int err = 0;

	group->returns_change = false;
	for (size_t i = 0; i < group->count && !err; i++) {
		err = take_numbers(&functions[i], 1, SIZE_MAX, &left);
		if (!err && functions[i].numbers.count)
			functions[i].numbers.count = 1;
	}
	for (size_t i = 0; i < group->count && !err; i++)
		err = number_returns(set, &functions[i], &sites);
	err = err ? err : attach(set, group, &sites, &probes);
	end_probes(set, group->returns, &left);
	group->returns = probes;
	region_sites_done(&sites);
	/* Nothing may be entered that cannot be left. */
	if (err < 0) {
		end_entries(set, group);
		for (size_t i = 0; i < group->count; i++)
			functions[i].numbers.count = 0;
	}
	return err;
}

/* The old ones off, then new ones: with both, each call would count twice. */
static int probe_entries(struct function_set *set, struct function_group *group)
{
	struct function *functions = set->functions.items + group->first;
	struct region_sites sites = {0};
	int err = 0;

	group->entries_change = false;
	err = end_entries(set, group);
	for (size_t i = 0; i < group->count && !err; i++) {
		if (functions[i].state == FUNCTION_LET_GO)
			functions[i].numbers.count = 0;
		err = number_entry(set, &functions[i], &sites);
	}
	err = err ? err : attach(set, group, &sites, &group->entries);
	region_sites_done(&sites);
	return err;
}

static int probe_group(struct function_set *set, struct function_group *group)
{
	struct function *functions = set->functions.items + group->first;
	struct region_sites entries = {0}, returns = {0};
	int err = 0;

	for (size_t i = 0; i < group->count && !err; i++) {
		err = number_entry(set, &functions[i], &entries);
		err = err ? err : number_returns(set, &functions[i], &returns);
	}
	/* Nothing may be entered that cannot be left. */
	err = err ? err : attach(set, group, &returns, &group->returns);
	err = err ? err : attach(set, group, &entries, &group->entries);
	region_sites_done(&entries);
	region_sites_done(&returns);
	return err;
}

int function_groups_add(struct function_set *set, size_t first)
{
	size_t count = set->functions.count - first;
	size_t size = (count + set->options.groups - 1) / set->options.groups;
	int err = 0;

	for (size_t i = 0; i < count && !err; i += size) {
		struct function_group *group = array_add(&set->groups);

		if (!group)
			return -ENOMEM;
		*group = (struct function_group){
			.file = set->files.count - 1,
			.first = first + i,
			.count = count - i < size ? count - i : size,
		};
		err = probe_group(set, group);
	}
	return err;
}

struct function_group *function_group_of(struct function_set *set, const struct function *function)
{
	size_t number = (size_t)(function - set->functions.items);

	array_foreach(&set->groups, group)
		if (number >= group->first && number < group->first + group->count)
			return group;
	return NULL;
}

/* Of the others in the group calls are missed meanwhile. */
static void say_missed(struct function_set *set, const struct function_group *group,
		       struct pkbpf_span_row *rows, uint32_t row_count)
{
	for (size_t i = 0; i < group->count; i++)
		region_rows_let_go(rows, row_count, set->functions.items[group->first + i].name,
				   true);
}

void function_group_change(struct function_set *set, struct function_group *group,
			   struct pkbpf_span_row *rows, uint32_t row_count)
{
	int err = 0;

	if (group->returns_change)
		err = probe_returns(set, group);
	if (err < 0)
		say_missed(set, group, rows, row_count);
	if (group->entries_change) {
		int entries = probe_entries(set, group);

		err = err ? err : entries;
		say_missed(set, group, rows, row_count);
	}
	if (err < 0)
		log_warning(set->options.log, "cannot watch the functions of %s any more",
			    set->files.items[group->file].path);
}

void function_groups_end(struct function_set *set)
{
	array_foreach(&set->groups, group) {
		region_probes_free(group->entries);
		region_probes_free(group->returns);
		group->entries = group->returns = NULL;
	}
}
