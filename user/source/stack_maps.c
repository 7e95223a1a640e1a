// SPDX-License-Identifier: BSD-2-Clause
/* Sizes and reads the tables of numbered and cached stacks. */
#include "source/stack_maps.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/stack_memo.h>

#include "pkbpf.skel.h"

/* With a limit of memory, the cache has one part in so many of it: what is not found there is
 * walked again. */
#define MEMOS_SHARE 8
#define LEAST_MEMOS 4096U

static void choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_map__set_autocreate(skeleton->maps.stacks_sent, wanted);
	bpf_map__set_autocreate(skeleton->maps.stack_memos, wanted);
	bpf_map__set_autocreate(skeleton->maps.memo_scratch, wanted);
}

int stack_maps_configure(struct session *session, uint32_t cached, struct stack_maps **ret_maps,
			 struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct stack_maps *maps;
	int err;

	*ret_maps = NULL;
	if (cached)
		cached =
			mapped_table_bound(cached, LEAST_MEMOS, sizeof(struct pkbpf_stack_memo),
					   session_options(session)->max_memory_bytes, MEMOS_SHARE);
	choose(skeleton, cached != 0);
	if (!cached)
		return 0;
	maps = calloc(1, sizeof(*maps));
	if (!maps)
		return error_set(error, ENOMEM, "cannot cache stacks: out of memory");
	maps->session = session;
	err = mapped_table_configure(&maps->memos, skeleton->maps.stack_memos, cached);
	if (err) {
		stack_maps_free(maps);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	skeleton->rodata->config.log_walks = 1;
	skeleton->rodata->memo_config.mask = cached - 1;
	*ret_maps = maps;
	return 0;
}

/* Mapped on demand, which is rare: mapped pages count towards RSS, 7 MiB or more. */
static const volatile struct pkbpf_stack_memo *memos_of(struct stack_maps *maps)
{
	struct error ignored;

	if (maps && !maps->memos.items)
		mapped_table_open(&maps->memos, &ignored);
	return maps ? maps->memos.items : NULL;
}

void stack_maps_each_stack(struct stack_maps *maps, source_stack_fn *take, void *context)
{
	const volatile struct pkbpf_stack_memo *memos = memos_of(maps);

	for (uint32_t i = 0; memos && i < maps->memos.count; i++) {
		if (memos[i].tid)
			take(context, memos[i].stack_id);
	}
}

uint64_t stack_maps_hits(struct stack_maps *maps)
{
	const volatile struct pkbpf_stack_memo *memos = memos_of(maps);
	uint64_t hits = 0;

	for (uint32_t i = 0; memos && i < maps->memos.count; i++)
		hits += memos[i].hits;
	return hits;
}

void stack_maps_log_hits(struct stack_maps *maps)
{
	const struct log *log = maps ? session_options(maps->session)->log : NULL;

	if (log_wants(log, LOG_INFO))
		log_info(log, "%" PRIu64 " stacks from the cache", stack_maps_hits(maps));
}

void stack_maps_free(struct stack_maps *maps)
{
	if (!maps)
		return;
	mapped_table_close(&maps->memos);
	free(maps);
}
