// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_callers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"

struct keys {
	ARRAY_OF(struct pkbpf_span_caller_key) items;
};

/* A program adds entries meanwhile, and the walk may begin anew: bounded, and no key is there
 * twice by what is deleted after the walk. */
static int find_keys(int map_fd, struct keys *keys)
{
	struct pkbpf_span_caller_key next, *previous = NULL;

	for (uint32_t i = 0; i < REGION_CALLERS_MAX; i++) {
		struct pkbpf_span_caller_key *key;

		if (bpf_map_get_next_key(map_fd, previous, &next))
			return 0;
		key = array_add(&keys->items);
		if (!key)
			return -ENOMEM;
		*key = next;
		previous = key;
	}
	return 0;
}

static int send(const struct pkbpf_span_caller_key *key, const struct pkbpf_span_caller *caller,
		uint64_t now_ns, struct event_buffer *buffer)
{
	struct totals_view view = {
		.time_ns = now_ns,
		.stack_id = key->stack_id,
		.pid = key->pid,
		.cgroup_id = caller->cgroup_id,
		.kind = PKBPF_PROFILE_CALLS,
		.count = caller->count,
		.total = caller->total_ns,
		.max = caller->max_ns,
	};

	memcpy(view.comm, caller->comm, PKBPF_COMM_SIZE);
	return event_encode_totals(buffer, &view);
}

int region_callers_drain(int map_fd, uint32_t until, uint64_t now_ns, struct event_buffer *buffer)
{
	struct pkbpf_span_caller caller;
	struct keys keys = {0};
	int err = find_keys(map_fd, &keys);

	array_foreach(&keys.items, key) {
		/* One that was met twice is gone. */
		if (err || (int32_t)(key->epoch - until) >= 0 ||
		    bpf_map_lookup_elem(map_fd, key, &caller))
			continue;
		err = caller.count ? send(key, &caller, now_ns, buffer) : 0;
		if (!err)
			bpf_map_delete_elem(map_fd, key);
	}
	array_free(&keys.items);
	return err;
}

void region_callers_each_stack(int map_fd, source_stack_fn *take, void *context)
{
	struct keys keys = {0};

	/* Without memory some lose their stack. */
	find_keys(map_fd, &keys);
	array_foreach(&keys.items, key)
		take(context, key->stack_id);
	array_free(&keys.items);
}
