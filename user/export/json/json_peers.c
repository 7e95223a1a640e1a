// SPDX-License-Identifier: BSD-2-Clause
/* Writes each process and network peer. */
#include <string.h>

#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "rows/peers.h"

static void write_lengths(struct json_writer *writer, const char *key, const struct peer_row *row,
			  enum pkbpf_network_measure measure, const struct peer_lengths *lengths)
{
	struct histogram histogram = {0};

	json_writer_object_begin(writer, key);
	json_writer_u64(writer, "count", lengths->count);
	json_writer_u64(writer, "total_ns", lengths->total_ns);
	if (lengths->count) {
		json_writer_u64(writer, "p50_ns", lengths->lengths.p50_ns);
		json_writer_u64(writer, "p95_ns", lengths->lengths.p95_ns);
		json_writer_u64(writer, "p99_ns", lengths->lengths.p99_ns);
		json_writer_u64(writer, "max_ns", lengths->lengths.max_ns);
		for (size_t i = 0; i < row->part_count; i++)
			if (row->parts[i]->key.measure == measure)
				distribution_merge(row->parts[i], &histogram);
		json_histogram(writer, &histogram);
	}
	json_writer_object_end(writer);
}

static void write_failures(struct json_writer *writer, const struct peer_row *row)
{
	json_writer_array_begin(writer, "failures");
	for (size_t i = 0; i < row->part_count; i++) {
		const struct distribution *part = row->parts[i];

		if (part->key.measure != PKBPF_NETWORK_FAILURES)
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_u64(writer, "errno", part->key.state);
		json_writer_string(writer, "error",
				   part->key.state ? strerror(part->key.state) : "given up");
		json_writer_u64(writer, "count", part->count);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_peer(struct json_writer *writer, const struct peer *peer)
{
	char text[PEER_TEXT_SIZE];

	json_writer_string(writer, "peer", peer_text(text, peer));
	if (!peer)
		return;
	json_writer_string(writer, "protocol", peer_protocol(peer));
	json_writer_string(writer, "role", peer_role(peer));
	if (peer_address(text, peer)[0])
		json_writer_string(writer, "address", text);
	if (peer->host)
		json_writer_string(writer, "host", peer->host);
	if (peer_port(peer))
		json_writer_u64(writer, "port", peer_port(peer));
	if (peer_service(peer))
		json_writer_string(writer, "service", peer_service(peer));
	if (peer->name[0])
		json_writer_string(writer, "name", peer->name);
	if (peer->pid)
		json_writer_u64(writer, "peer_pid", peer->pid);
	if (peer->comm[0])
		json_writer_string(writer, "peer_comm", peer->comm);
}

static void write_row(struct json_writer *writer, const struct profile *profile,
		      const struct peer_row *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), row->process);

	json_writer_object_begin(writer, NULL);
	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	json_writer_string(writer, "comm", process ? process->comm : "");
	write_peer(writer, row->peer);
	json_writer_u64(writer, "sent_messages", row->sent);
	json_writer_u64(writer, "sent_bytes", row->sent_bytes);
	json_writer_u64(writer, "received_messages", row->received);
	json_writer_u64(writer, "received_bytes", row->received_bytes);
	json_writer_u64(writer, "accepted", row->accepts);
	write_lengths(writer, "connects", row, PKBPF_NETWORK_CONNECTS, &row->connects);
	write_failures(writer, row);
	json_writer_u64(writer, "retransmits", row->retransmits);
	json_writer_u64(writer, "round_trip_mean_ns",
			row->round_trips.count ? row->round_trips.total_ns / row->round_trips.count
					       : 0);
	json_writer_u64(writer, "round_trip_max_ns", row->round_trips.lengths.max_ns);
	json_writer_u64(writer, "send_queue_max_bytes", row->send_queue_max);
	json_writer_u64(writer, "receive_queue_max_bytes", row->receive_queue_max);
	write_lengths(writer, "responses", row, PKBPF_NETWORK_RESPONSES, &row->responses);
	write_lengths(writer, "waits", row, PKBPF_NETWORK_WAITS, &row->waits);
	json_writer_object_end(writer);
}

int json_peers(struct json_writer *writer, const struct resource_rows *rows)
{
	_cleanup_(peer_rows_done) struct peer_rows peers = {0};
	int err = peer_rows_init(&peers, rows->profile);

	if (err)
		return err;
	json_writer_array_begin(writer, "peers");
	for (size_t i = 0; i < peers.count; i++)
		write_row(writer, rows->profile, &peers.items[i]);
	json_writer_array_end(writer);
	return 0;
}
