// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the probes of pairs of functions within what they may cost. */
#include "source/regions/pair_budget.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "source/regions/function_price.h"
#include "source/regions/region_rows.h"

#define POLL_NS	  (200 * NS_PER_MS) /* a burst in less is nothing */
#define ENDING_NS (1 * NS_PER_SECOND)

enum pair_state {
	PAIR_MEASURED,
	PAIR_ENDING, /* none begins any more */
	PAIR_LET_GO,
};

struct pair {
	enum pair_state state;
	uint64_t since_ns; /* of the state */
	uint64_t cost_ns;  /* since the last poll */
};

/* The begins of a pair in one file, or its ends. */
struct pair_part {
	uint32_t pair;
	bool is_begin;
	struct region_probes *probes; /* NULL: they are off */
	struct region_sites sites;
};

struct pair_budget {
	struct pair_budget_options options;
	struct pair *pairs; /* as those of the options */
	ARRAY_OF(struct pair_part) parts;
	struct pkbpf_span_site *sites;
	struct function_price price;
	uint64_t polled_ns;
};

int pair_budget_new(const struct pair_budget_options *options, struct pair_budget **ret_budget)
{
	struct pair_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return -ENOMEM;
	budget->options = *options;
	budget->pairs = calloc(options->pairs->items.count + 1, sizeof(*budget->pairs));
	if (!budget->pairs) {
		free(budget);
		return -ENOMEM;
	}
	*ret_budget = budget;
	return 0;
}

void pair_budget_begin(struct pair_budget *budget, struct pkbpf_span_site *sites, uint32_t spare)
{
	budget->sites = sites;
	budget->price = function_price_measure(budget->options.probes, &sites[spare], spare);
}

/* ---- the probes of a file ---- */

static const struct usdt_pair *pair_of(const struct pair_budget *budget, uint32_t number)
{
	return &budget->options.pairs->items.items[number];
}

static bool is_of(const struct region_site *site, uint32_t pair, bool is_begin)
{
	const struct pkbpf_span_site *description = &site->description;

	return site->role == REGION_SITE && description->pair == pair + 1 &&
	       is_begin == (description->role == PKBPF_SITE_ENTER ||
			    description->role == PKBPF_SITE_BEGIN);
}

/* Moves the sites of a part out of those of the file. */
static int move_sites(struct region_sites *from, struct region_sites *into, uint32_t pair,
		      bool is_begin)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->items.count; i++) {
		struct region_site *site = &from->items.items[i], *item;

		if (!is_of(site, pair, is_begin)) {
			from->items.items[kept++] = *site;
			continue;
		}
		item = array_add(&into->items);
		if (!item)
			return -ENOMEM;
		*item = *site;
	}
	from->items.count = kept;
	return 0;
}

static int add_part(struct pair_budget *budget, int fd, struct pair_part *part, struct error *error)
{
	struct pair_part *item;
	int err = region_probes_copy(budget->options.probes, &part->probes);

	if (err)
		return error_set(error, -err, "out of memory");
	err = region_probes_add(part->probes, fd, &part->sites, error);
	if (err)
		return err;
	item = array_add(&budget->parts);
	if (!item)
		return error_set(error, ENOMEM, "out of memory");
	*item = *part;
	*part = (struct pair_part){0};
	return 0;
}

int pair_budget_take(struct pair_budget *budget, int fd, struct region_sites *sites,
		     struct error *error)
{
	int err = 0;

	/* What ends a region first: nothing may begin that cannot end. */
	for (uint32_t i = 0; i < 2 * budget->options.pairs->items.count && !err; i++) {
		struct pair_part part = {.pair = i / 2, .is_begin = i % 2};

		if (!pair_of(budget, part.pair)->of_functions)
			continue;
		if (move_sites(sites, &part.sites, part.pair, part.is_begin) < 0)
			err = error_set(error, ENOMEM, "out of memory");
		else if (part.sites.items.count && budget->pairs[part.pair].state == PAIR_MEASURED)
			err = add_part(budget, fd, &part, error);
		region_probes_free(part.probes);
		region_sites_done(&part.sites);
	}
	return err;
}

/* ---- the budget ---- */

static uint64_t take_cost(struct pair_budget *budget)
{
	uint64_t all_ns = 0;

	array_foreach(&budget->parts, part) {
		array_foreach(&part->sites.items, site) {
			uint64_t hits = __atomic_exchange_n(
				(uint64_t *)&budget->sites[site->cookie].hits, 0, __ATOMIC_RELAXED);
			uint32_t trap_ns = site->is_emulated ? budget->price.emulated_ns
							     : budget->price.stepped_ns;
			uint64_t cost_ns = hits * (trap_ns + budget->price.program_ns);

			budget->pairs[part->pair].cost_ns += cost_ns;
			all_ns += cost_ns;
		}
	}
	return all_ns;
}

static void take_off(struct pair_budget *budget, uint32_t pair, bool is_begin)
{
	array_foreach(&budget->parts, part) {
		if (part->pair != pair || part->is_begin != is_begin)
			continue;
		region_probes_free(part->probes);
		part->probes = NULL;
	}
}

static void let_go(struct pair_budget *budget, uint32_t pair, uint64_t now_ns,
		   struct pkbpf_span_row *rows, uint32_t row_count)
{
	const char *name = pair_of(budget, pair)->region;

	log_warning(budget->options.log,
		    "the region %s begins too often to be measured within --probe-cost: it is let "
		    "go",
		    name);
	take_off(budget, pair, true);
	region_rows_let_go(rows, row_count, name, false);
	budget->pairs[pair].state = PAIR_ENDING;
	budget->pairs[pair].since_ns = now_ns;
}

void pair_budget_poll(struct pair_budget *budget, uint64_t now_ns, struct pkbpf_span_row *rows,
		      uint32_t row_count)
{
	uint64_t time_ns = now_ns - budget->polled_ns, cost_ns, most_ns;
	size_t count = budget->options.pairs->items.count;

	if (!budget->parts.count || time_ns < POLL_NS)
		return;
	most_ns = time_ns / 1000 * budget->options.cost_permille * budget->options.cpu_count;
	cost_ns = take_cost(budget);
	while (budget->polled_ns && cost_ns > most_ns) {
		uint32_t dearest = 0;

		for (uint32_t i = 1; i < count; i++)
			if (budget->pairs[i].cost_ns > budget->pairs[dearest].cost_ns)
				dearest = i;
		cost_ns -= budget->pairs[dearest].cost_ns;
		if (!budget->pairs[dearest].cost_ns)
			break;
		budget->pairs[dearest].cost_ns = 0;
		if (budget->pairs[dearest].state == PAIR_MEASURED)
			let_go(budget, dearest, now_ns, rows, row_count);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct pair *pair = &budget->pairs[i];

		pair->cost_ns = 0;
		if (pair->state != PAIR_ENDING || now_ns - pair->since_ns < ENDING_NS)
			continue;
		take_off(budget, i, false);
		pair->state = PAIR_LET_GO;
	}
	budget->polled_ns = now_ns;
}

void pair_budget_remove(struct pair_budget *budget)
{
	array_foreach(&budget->parts, part) {
		region_probes_free(part->probes);
		part->probes = NULL;
	}
}

void pair_budget_free(struct pair_budget *budget)
{
	if (!budget)
		return;
	pair_budget_remove(budget);
	array_foreach(&budget->parts, part)
		region_sites_done(&part->sites);
	array_free(&budget->parts);
	free(budget->pairs);
	free(budget);
}
