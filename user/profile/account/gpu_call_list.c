// SPDX-License-Identifier: BSD-2-Clause
/* Adds calls of GPU libraries up. */
#include "profile/account/gpu_call_list.h"

#include <errno.h>
#include <stdbool.h>

#include "profile/account/account.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct gpu_call *call)
{
	uint64_t hash = mix(mix(0, call->detail), (uint64_t)call->process << 32 | call->function);

	hash = mix(hash, (uint64_t)call->what << 32 | call->name);
	return mix(mix(hash, (uint64_t)call->kernel << 32 | call->stack), call->stream);
}

static bool is_same(const struct gpu_call *a, const struct gpu_call *b)
{
	return a->process == b->process && a->function == b->function && a->what == b->what &&
	       a->name == b->name && a->kernel == b->kernel && a->stack == b->stack &&
	       a->detail == b->detail && a->stream == b->stream;
}

static void add(struct gpu_call *into, const struct gpu_call *more)
{
	into->count += more->count;
	into->unmeasured += more->unmeasured;
	into->ns += more->ns;
	if (more->max_ns > into->max_ns)
		into->max_ns = more->max_ns;
	into->bytes += more->bytes;
	into->blocks += more->blocks;
	into->freed += more->freed;
	into->freed_bytes += more->freed_bytes;
	into->samples += more->samples;
	into->runs += more->runs;
	into->run_ns += more->run_ns;
	if (more->run_max_ns > into->run_max_ns)
		into->run_max_ns = more->run_max_ns;
}

int gpu_call_list_add(struct gpu_call_list *list, const struct gpu_call *call)
{
	struct gpu_call *item;
	uint64_t *number;
	bool added;

	/* Of two with one hash the second is found by the next one. */
	for (uint64_t hash = hash_of(call);; hash = mix(hash, 1)) {
		number = hash_map_get(&list->numbers, hash, list->items.count, &added);
		if (!number)
			return -ENOMEM;
		if (*number >= list->items.count)
			break;
		item = &list->items.items[*number];
		if (is_same(item, call)) {
			add(item, call);
			return 0;
		}
	}
	if (list->items.count >= GPU_CALL_ROWS_MAX)
		return -ENOSPC;
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *call;
	return 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct gpu_call, process),
	COLUMN(NUMBER, 2, struct gpu_call, group),
	COLUMN(NUMBER, 3, struct gpu_call, what),
	COLUMN(NAME, 4, struct gpu_call, function),
	COLUMN(NAME, 5, struct gpu_call, name),
	COLUMN(STACK_OR_NONE, 6, struct gpu_call, kernel),
	COLUMN(STACK_OR_NONE, 7, struct gpu_call, stack),
	COLUMN(NAME, 8, struct gpu_call, comm),
	COLUMN(NUMBER, 9, struct gpu_call, detail),
	COLUMN(NUMBER, 10, struct gpu_call, count),
	COLUMN(NUMBER, 11, struct gpu_call, unmeasured),
	COLUMN(NUMBER, 12, struct gpu_call, ns),
	COLUMN(NUMBER, 13, struct gpu_call, max_ns),
	COLUMN(NUMBER, 14, struct gpu_call, bytes),
	COLUMN(NUMBER, 15, struct gpu_call, blocks),
	COLUMN(NUMBER, 16, struct gpu_call, freed),
	COLUMN(NUMBER, 17, struct gpu_call, freed_bytes),
	COLUMN(NUMBER, 18, struct gpu_call, samples),
	COLUMN(NUMBER, 19, struct gpu_call, stream),
	COLUMN(NUMBER, 20, struct gpu_call, runs),
	COLUMN(NUMBER, 21, struct gpu_call, run_ns),
	COLUMN(NUMBER, 22, struct gpu_call, run_max_ns),
};
ALL_MEMBERS(struct gpu_call, 144);

static int64_t add_row(void *account, const void *row)
{
	return gpu_call_list_add(account, row);
}

static bool is_valid(const void *row)
{
	const struct gpu_call *call = row;

	return call->group && call->group < PKBPF_GPU_NAME && call->what < PKBPF_GPU_WHATS &&
	       call->unmeasured <= call->count;
}

/* Several rows may be one now. */
static void rekey(void *account)
{
	struct gpu_call_list *list = account;
	struct gpu_call_list old = *list;

	hash_map_done(&list->numbers);
	list->numbers = (struct hash_map){0};
	list->items.count = 0;
	/* Rows move to places that have been read. Without memory the others are lost. */
	for (size_t i = 0; i < old.items.count; i++) {
		struct gpu_call call = old.items.items[i];

		gpu_call_list_add(list, &call);
	}
}

static void done(void *account)
{
	struct gpu_call_list *list = account;

	array_free(&list->items);
	hash_map_done(&list->numbers);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(72, struct gpu_call, columns),
	.rows = ACCOUNT_ROWS(struct gpu_call_list, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_GPU_STACKS_FULL,
	.is_valid = is_valid,
};

const struct account_ops account_ops_gpu_calls = {
	.size = sizeof(struct gpu_call_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.rekey = rekey,
};
