// SPDX-License-Identifier: BSD-2-Clause
/* Sizes, maps and drains the tables of the network programs. */
#include "source/network/network_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "source/mapped_table.h"
#include "source/network/network_peers.h"
#include "source/network/network_records.h"

#include "pkbpf.skel.h"

/* Pairs of a process and a peer; clients of one address count as one. 504 bytes each, and the same
 * in user space. */
#define ROWS 8192U
/* Of response times, waits and times to connect, for rows that have any. 2.6 KB each, twice. */
#define HISTOGRAMS 2048U
/* Peers that waits and stacks can refer to, of a whole capture. */
#define LABELS 16384U
/* Rows of exited processes are freed when less than a quarter of all rows or histograms is free. */
#define LOW_ROWS (ROWS / 4)
/* For the peers of a process beyond the others, together. */
#define OTHERS_ROWS    (ROWS / 16)
#define LOW_HISTOGRAMS (HISTOGRAMS / 4)

struct network_tables {
	struct pkbpf_bpf *skeleton;
	struct mapped_table row_table, histogram_table;
	volatile struct pkbpf_network_row *rows;
	volatile struct pkbpf_network_histogram *histograms;
	struct pkbpf_network_row *sent_rows;
	struct pkbpf_network_histogram *sent_histograms;
	struct network_peers *peers;
};

static int configure_maps(struct network_tables *tables)
{
	struct pkbpf_bpf *skeleton = tables->skeleton;
	int err = mapped_table_configure(&tables->row_table, skeleton->maps.network_rows, ROWS);

	err = err ? err : bpf_map__set_max_entries(skeleton->maps.network_row_index, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.network_free_rows, ROWS);
	err = err ? err
		  : mapped_table_configure(&tables->histogram_table,
					   skeleton->maps.network_histograms, HISTOGRAMS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.network_labels, LABELS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.network_free_labels, LABELS);
	return err ? err
		   : bpf_map__set_max_entries(skeleton->maps.network_free_histograms, HISTOGRAMS);
}

static int out_of_memory(struct error *error)
{
	return error_set(error, ENOMEM, "cannot prepare network profiling: out of memory");
}

int network_tables_configure(struct pkbpf_bpf *skeleton, struct network_tables **ret_tables,
			     struct error *error)
{
	struct network_tables *tables = calloc(1, sizeof(*tables));
	int err;

	if (!tables)
		return out_of_memory(error);
	tables->skeleton = skeleton;
	tables->peers = network_peers_new();
	err = tables->peers ? configure_maps(tables) : -ENOMEM;
	if (err) {
		network_tables_free(tables);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	*ret_tables = tables;
	return 0;
}

static int number_labels(struct network_tables *tables, struct error *error)
{
	int queue = bpf_map__fd(tables->skeleton->maps.network_free_labels);

	for (uint32_t label = 0; label < LABELS; label++) {
		uint32_t number = PKBPF_NETWORK_LABEL + label;

		if (bpf_map_update_elem(queue, NULL, &number, BPF_ANY))
			return error_set(error, errno, "cannot number network peers: %s",
					 strerror(errno));
	}
	return 0;
}

int network_tables_open(struct network_tables *tables, struct error *error)
{
	int err = mapped_table_open(&tables->row_table, error);

	err = err ? err : mapped_table_open(&tables->histogram_table, error);
	err = err ? err : number_labels(tables, error);
	if (err)
		return err;
	tables->skeleton->bss->network_control.peer_rows = ROWS - OTHERS_ROWS;
	tables->rows = tables->row_table.items;
	tables->histograms = tables->histogram_table.items;
	tables->sent_rows = calloc(ROWS, sizeof(*tables->sent_rows));
	tables->sent_histograms = calloc(HISTOGRAMS, sizeof(*tables->sent_histograms));
	return tables->sent_rows && tables->sent_histograms ? 0 : out_of_memory(error);
}

void network_tables_free(struct network_tables *tables)
{
	if (!tables)
		return;
	mapped_table_close(&tables->row_table);
	mapped_table_close(&tables->histogram_table);
	free(tables->sent_rows);
	free(tables->sent_histograms);
	network_peers_free(tables->peers);
	free(tables);
}

/* ---- rows ---- */

static bool process_is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

static void free_histogram(struct network_tables *tables, uint32_t index)
{
	memset((void *)&tables->histograms[index], 0,
	       offsetof(struct pkbpf_network_histogram, claims));
	memset(&tables->sent_histograms[index], 0, sizeof(tables->sent_histograms[index]));
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.network_free_histograms), NULL,
			    &index, BPF_ANY);
}

static void free_row(struct network_tables *tables, uint32_t index)
{
	volatile struct pkbpf_network_row *row = &tables->rows[index];
	struct pkbpf_network_key key;

	memcpy(&key, (const void *)&row->key, sizeof(key));
	bpf_map_delete_elem(bpf_map__fd(tables->skeleton->maps.network_row_index), &key);
	/* Sockets that refer to the row find that its serial number has changed. */
	row->serial = 0;
	for (size_t i = 0; i < NETWORK_LENGTHS; i++) {
		uint32_t histogram = network_lengths_of(row, i)->histogram;

		if (histogram && histogram <= HISTOGRAMS)
			free_histogram(tables, histogram - 1);
	}
	memset((void *)row, 0, offsetof(struct pkbpf_network_row, claims));
	memset(&tables->sent_rows[index], 0, sizeof(tables->sent_rows[index]));
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.network_free_rows), NULL, &index,
			    BPF_ANY);
}

/* Frees rows of exited processes that have been sent, with their histograms. */
static void free_ended(struct network_tables *tables)
{
	uint32_t last_pid = 0;
	bool gone = false;

	for (uint32_t i = 0; i < ROWS; i++) {
		const volatile struct pkbpf_network_row *row = &tables->rows[i];

		if (!row->ready)
			continue;
		if (row->key.pid != last_pid) {
			last_pid = row->key.pid;
			gone = process_is_gone(last_pid);
		}
		if (gone && !network_row_has_news(row, &tables->sent_rows[i]))
			free_row(tables, i);
	}
}

static int drain_row(struct network_tables *tables, uint32_t index, uint32_t *used_histograms,
		     struct event_buffer *buffer)
{
	volatile struct pkbpf_network_row *row = &tables->rows[index];
	struct network_buckets buckets[NETWORK_LENGTHS] = {0};
	uint32_t peer;

	for (size_t i = 0; i < NETWORK_LENGTHS; i++) {
		uint32_t histogram = network_lengths_of(row, i)->histogram;

		if (!histogram || histogram > HISTOGRAMS)
			continue;
		buckets[i].now = &tables->histograms[histogram - 1];
		buckets[i].sent = &tables->sent_histograms[histogram - 1];
		(*used_histograms)++;
	}
	if (!network_row_has_news(row, &tables->sent_rows[index]))
		return 0;
	peer = network_peers_number(tables->peers, row, buffer);
	return peer ? network_records_of_row(row, &tables->sent_rows[index], peer, buckets, buffer)
		    : -ENOMEM;
}

/* Names the peers on this host by their processes: those that have rows themselves, and others. */
static int name_peers(struct network_tables *tables, bool look, struct event_buffer *buffer)
{
	for (uint32_t i = 0; i < ROWS; i++)
		if (tables->rows[i].ready)
			network_peers_note_server(tables->peers, &tables->rows[i]);
	if (look)
		network_peers_look(tables->peers);
	return network_peers_send_named(tables->peers, buffer);
}

/* Are there rows that were used and have been freed? */
static void note_freed(struct network_tables *tables, uint32_t used_rows)
{
	uint32_t begun = tables->skeleton->bss->network_next_row;

	begun = begun < ROWS ? begun : ROWS;
	tables->skeleton->bss->network_control.has_freed = begun > used_rows + OTHERS_ROWS;
}

int network_tables_drain(struct network_tables *tables, bool look, struct event_buffer *buffer)
{
	uint32_t used_rows = 0, used_histograms = 0;
	int err;

	for (uint32_t i = 0; i < ROWS; i++) {
		if (!tables->rows[i].ready)
			continue;
		used_rows++;
		err = drain_row(tables, i, &used_histograms, buffer);
		if (err)
			return err;
	}
	err = name_peers(tables, look, buffer);
	if (err)
		return err;
	note_freed(tables, used_rows);
	if (ROWS - used_rows < LOW_ROWS || HISTOGRAMS - used_histograms < LOW_HISTOGRAMS)
		free_ended(tables);
	return 0;
}

void network_tables_forget_largest(struct network_tables *tables)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		volatile struct pkbpf_network_row *row = &tables->rows[i];

		if (!row->ready)
			continue;
		for (size_t j = 0; j < NETWORK_LENGTHS; j++)
			network_lengths_of(row, j)->max_ns = 0;
		row->send_queue_max = row->receive_queue_max = 0;
		tables->sent_rows[i].send_queue_max = tables->sent_rows[i].receive_queue_max = 0;
	}
}
