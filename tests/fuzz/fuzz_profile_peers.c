// SPDX-License-Identifier: BSD-2-Clause
/* Takes any records of peers into a table, writes them anew and reads their texts: what is decoded
 * is encoded to the same bytes, a peer has one number, and no text is longer than its room. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/decoder.h"
#include "event/peer_event.h"
#include "profile/account/peer_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_text(const struct peer *peer)
{
	char text[PEER_TEXT_SIZE];

	require(strlen(peer_text(text, peer)) < sizeof(text) && text[0]);
	require(strlen(peer_text_plain(text, peer)) < sizeof(text) && text[0]);
	require(strlen(peer_address(text, peer)) < sizeof(text));
	require(peer_protocol(peer)[0]);
	require(!peer_service(peer) || peer->address.port);
}

/* What a reader of the record has to see again. */
static void write_again(const struct peer_view *view)
{
	struct event_buffer buffer = {0};
	struct peer_view again;

	if (!peer_event_encode(&buffer, view)) {
		require(!peer_event_decode((const void *)buffer.data, &again));
		require(!memcmp(&again.peer, &view->peer, sizeof(again.peer)));
		require(again.number == view->number && again.pid == view->pid);
		require(!strcmp(again.comm, view->comm) && !strcmp(again.name, view->name));
	}
	event_buffer_done(&buffer);
}

static void take(struct peer_table *table, const struct peer_view *view)
{
	struct peer peer = {.address = view->peer, .pid = view->pid};
	uint32_t number;

	memcpy(peer.comm, view->comm, sizeof(peer.comm));
	memcpy(peer.name, view->name, sizeof(peer.name));
	number = peer_table_get(table, &peer);
	require(number == PEER_NONE || peer_table_get(table, &peer) == number);
	require(number <= peer_table_count(table));
	peer_table_complete(table, &peer);
	read_text(&peer);
	if (number != PEER_NONE) {
		peer_table_set_host(table, number, view->name);
		read_text(peer_table_at(table, number));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer_table *table = peer_table_new();
	size_t at = 0;

	while (table && at < size) {
		struct pkbpf_event_header header;
		struct peer_view view;
		uint64_t *record;

		if (event_check_header(data + at, size - at, &header))
			break;
		/* Records are aligned where they come from. */
		record = malloc(header.size);
		if (!record)
			break;
		memcpy(record, data + at, header.size);
		if (!peer_event_decode((const void *)record, &view)) {
			write_again(&view);
			take(table, &view);
		}
		free(record);
		at += header.size;
	}
	peer_table_free(table);
	return 0;
}
