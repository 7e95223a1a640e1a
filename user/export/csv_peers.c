// SPDX-License-Identifier: BSD-2-Clause
/* Writes each process and network peer as comma-separated values, most messages first. */
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/peers.h"

#define LENGTHS(name)                                                                              \
	name "s," name "_total_ns," name "_p50_ns," name "_p95_ns," name "_p99_ns," name "_max_"   \
	     "ns,"
#define HEADING                                                                                    \
	"pid,comm,peer,protocol,role,address,host,port,service,name,peer_pid,peer_comm,"           \
	"sent_messages,sent_bytes,received_messages,received_bytes,accepted," LENGTHS("connect")   \
		LENGTHS("response") LENGTHS("wait") "failures,retransmits,round_trip_mean_ns,"     \
						    "round_trip_max_ns,send_queue_max_bytes,"      \
						    "receive_queue_max_bytes"

static void write_number(struct csv_cells *cells, uint64_t number)
{
	if (number)
		csv_u64(cells, number);
	else
		csv_text(cells, "");
}

/* From peer to peer_comm. */
static void write_peer(struct csv_cells *cells, const struct peer *peer)
{
	char text[PEER_TEXT_SIZE];

	csv_text(cells, peer_text(text, peer));
	if (!peer) {
		for (int i = 0; i < 9; i++)
			csv_text(cells, "");
		return;
	}
	csv_text(cells, peer_protocol(peer));
	csv_text(cells, peer_role(peer));
	csv_text(cells, peer_address(text, peer));
	csv_text(cells, peer->host ? peer->host : "");
	write_number(cells, peer_port(peer));
	csv_text(cells, peer_service(peer) ? peer_service(peer) : "");
	csv_text(cells, peer->name);
	write_number(cells, peer->pid);
	csv_text(cells, peer->comm);
}

static void write_lengths(struct csv_cells *cells, const struct peer_lengths *lengths)
{
	csv_u64(cells, lengths->count);
	csv_u64(cells, lengths->total_ns);
	csv_u64(cells, lengths->lengths.p50_ns);
	csv_u64(cells, lengths->lengths.p95_ns);
	csv_u64(cells, lengths->lengths.p99_ns);
	csv_u64(cells, lengths->lengths.max_ns);
}

static void write_row(struct csv_cells *cells, const struct profile *profile,
		      const struct peer_row *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), row->process);

	write_number(cells, process_has_pid(process) ? process->pid : 0);
	csv_text(cells, process ? process->comm : "");
	write_peer(cells, row->peer);
	csv_u64(cells, row->sent);
	csv_u64(cells, row->sent_bytes);
	csv_u64(cells, row->received);
	csv_u64(cells, row->received_bytes);
	csv_u64(cells, row->accepts);
	write_lengths(cells, &row->connects);
	write_lengths(cells, &row->responses);
	write_lengths(cells, &row->waits);
	csv_u64(cells, row->failures);
	csv_u64(cells, row->retransmits);
	csv_u64(cells,
		row->round_trips.count ? row->round_trips.total_ns / row->round_trips.count : 0);
	csv_u64(cells, row->round_trips.lengths.max_ns);
	csv_u64(cells, row->send_queue_max);
	csv_u64(cells, row->receive_queue_max);
	csv_end(cells);
}

static int write_peers(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	_cleanup_(peer_rows_done) struct peer_rows peers = {0};
	struct csv_cells cells = {.out = out};
	int err = peer_rows_init(&peers, results->profile);

	if (err)
		return err;
	fputs(HEADING CSV_LINE_END, out);
	for (size_t i = 0; i < peers.count; i++)
		write_row(&cells, results->profile, &peers.items[i]);
	return 0;
}

const struct format_ops format_csv_peers = {
	.file = {"csv-peers", ".peers.csv", "network and pipe peers of each process"},
	.write = write_peers,
};
