// SPDX-License-Identifier: BSD-2-Clause
/* Numbers the peers that totals refer to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/peer_event.h"
#include "profile/aggregator_private.h"

int aggregator_take_peer(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct peer_view view;
	struct peer peer;
	uint32_t number;
	int err = peer_event_decode(record, &view);

	if (err)
		return err;
	if (!aggregator->peers)
		aggregator->peers = peer_table_new();
	peer = (struct peer){.address = view.peer, .pid = view.pid};
	memcpy(peer.comm, view.comm, sizeof(peer.comm));
	memcpy(peer.name, view.name, sizeof(peer.name));
	peer_table_complete(profile_peers(aggregator->running), &peer);
	if (aggregator->closing)
		peer_table_complete(profile_peers(aggregator->closing), &peer);
	number = aggregator->peers ? peer_table_get(aggregator->peers, &peer) : PEER_NONE;
	return number != PEER_NONE && hash_map_put(&aggregator->peer_numbers, view.number, number)
		       ? 0
		       : -ENOMEM;
}

bool aggregator_number_peer(struct aggregator *aggregator, struct profile *profile,
			    uint32_t *number)
{
	const uint64_t *known = hash_map_find(&aggregator->peer_numbers, *number);
	const struct peer *peer = known ? peer_table_at(aggregator->peers, (uint32_t)*known) : NULL;

	*number = peer ? peer_table_get(profile_peers(profile), peer) : PEER_NONE;
	return !peer || *number != PEER_NONE;
}

uint32_t aggregator_stack_about_peer(struct aggregator *aggregator, struct profile *profile,
				     uint32_t stack, uint32_t label)
{
	const uint64_t *known = hash_map_find(&aggregator->peer_numbers, label);
	const struct peer *peer = known ? peer_table_at(aggregator->peers, (uint32_t)*known) : NULL;
	_cleanup_free_ uint32_t *frames = NULL;
	const uint32_t *from;
	size_t count;

	if (!peer)
		return stack;
	from = profile_stack(profile, stack, &count);
	frames = malloc((count + 1) * sizeof(*frames));
	if (!frames)
		return UINT32_MAX;
	memcpy(frames + 1, from, count * sizeof(*frames));
	frames[0] = profile_intern_peer(profile, (uint32_t)*known, peer);
	return frames[0] == UINT32_MAX ? UINT32_MAX
				       : profile_intern_stack(profile, frames, count + 1);
}
