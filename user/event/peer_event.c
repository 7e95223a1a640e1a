// SPDX-License-Identifier: BSD-2-Clause
/* Records of peers as bytes. */
#include "event/peer_event.h"

#include <errno.h>
#include <string.h>

static bool is_known(const struct pkbpf_network_peer *peer)
{
	return peer->family <= PKBPF_NETWORK_PIPE && peer->role <= PKBPF_NETWORK_SERVER;
}

int peer_event_decode(const struct pkbpf_event_header *header, struct peer_view *ret_view)
{
	const struct pkbpf_event_peer *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_PEER || header->size != sizeof(*record) ||
	    !record->number || !is_known(&record->peer))
		return -EBADMSG;
	*ret_view = (struct peer_view){
		.time_ns = header->time_ns,
		.number = record->number,
		.pid = record->pid,
		.peer = record->peer,
	};
	memcpy(ret_view->comm, record->comm, PKBPF_COMM_SIZE);
	memcpy(ret_view->name, record->name, PKBPF_NETWORK_NAME);
	return 0;
}

int peer_event_encode(struct event_buffer *buffer, const struct peer_view *view)
{
	struct pkbpf_event_peer *record =
		event_buffer_add(buffer, sizeof(*record), PKBPF_EVENT_PEER, 0, view->time_ns);

	if (!record)
		return -ENOMEM;
	record->number = view->number;
	record->pid = view->pid;
	record->peer = view->peer;
	memcpy(record->comm, view->comm, PKBPF_COMM_SIZE);
	memcpy(record->name, view->name, PKBPF_NETWORK_NAME);
	return 0;
}
