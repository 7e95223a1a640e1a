// SPDX-License-Identifier: BSD-2-Clause
/* Prints who talks to whom: messages, times to answer, connections and what failed. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/text_peers.h"
#include "report/text_table.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

#define PEER_COLUMNS 48

static void add_who(struct text_table *table, const struct text_report *report,
		    const struct peer_row *row)
{
	char text[PEER_TEXT_SIZE];

	text_who(table, report, row->process, NULL);
	text_table_cell(table, peer_text(text, row->peer));
}

static void add_count(struct text_table *table, uint64_t count)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, count ? human_count(buffer, count) : ".");
}

static void add_time(struct text_table *table, uint64_t time_ns, bool known)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, known ? human_time(buffer, time_ns) : ".");
}

static void add_bytes(struct text_table *table, uint64_t bytes)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, bytes ? human_bytes(buffer, bytes) : ".");
}

int text_peer_messages(const struct text_report *report, const struct peer_rows *rows, size_t shown)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
		{.title = "peer", .left = true, .max_columns = PEER_COLUMNS, .flexible = true},
		{.title = "sent"},
		{.title = "received"},
		{.title = "messages", .expendable = 1},
		{.title = "waited"},
		{.title = "response p50"},
		{.title = "p99"},
		{.title = "max", .expendable = 2},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct peer_row *row = &rows->items[i];
		const struct row_lengths *response = &row->responses.lengths;

		add_who(table, report, row);
		add_bytes(table, row->sent_bytes);
		add_bytes(table, row->received_bytes);
		add_count(table, row->sent + row->received);
		add_time(table, row->waits.total_ns, row->waits.count);
		add_time(table, response->p50_ns, row->responses.count);
		add_time(table, response->p99_ns, row->responses.count);
		add_time(table, response->max_ns, row->responses.count);
	}
	return text_table_write(table, report->width, report->out);
}

static bool has_connections(const struct peer_row *row)
{
	return row->connects.count || row->accepts || row->failures || row->retransmits;
}

/* "Connection refused 12, Broken pipe 1" */
static void add_failures(struct text_table *table, const struct peer_row *row)
{
	char text[160] = "", count[HUMAN_SIZE];

	for (size_t i = 0; i < row->part_count; i++) {
		const struct distribution *part = row->parts[i];
		size_t length = strlen(text);

		if (part->key.measure != PKBPF_NETWORK_FAILURES)
			continue;
		snprintf(text + length, sizeof(text) - length, "%s%s %s", length ? ", " : "",
			 part->key.state ? strerror(part->key.state) : "given up",
			 human_count(count, part->count));
	}
	text_table_cell(table, text[0] ? text : ".");
}

static int write_connections(const struct text_report *report, const struct peer_rows *rows)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
		{.title = "peer", .left = true, .max_columns = PEER_COLUMNS, .flexible = true},
		{.title = "failed", .left = true, .max_columns = 40},
		{.title = "opened"},
		{.title = "accepted"},
		{.title = "connect p50"},
		{.title = "p99", .expendable = 2},
		{.title = "RTT"},
		{.title = "retrans"},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	size_t count = 0;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		const struct peer_row *row = &rows->items[i];
		uint64_t trips = row->round_trips.count;

		if (!has_connections(row) || count++ >= report->options->top)
			continue;
		add_who(table, report, row);
		add_failures(table, row);
		add_count(table, row->connects.count);
		add_count(table, row->accepts);
		add_time(table, row->connects.lengths.p50_ns, row->connects.count);
		add_time(table, row->connects.lengths.p99_ns, row->connects.count);
		add_time(table, trips ? row->round_trips.total_ns / trips : 0, trips);
		add_count(table, row->retransmits);
	}
	if (!count)
		return 0;
	text_heading(report, "Network: connections by process and peer");
	if (text_table_write(table, report->width, report->out))
		return -ENOMEM;
	if (count > report->options->top)
		text_more(report, count - report->options->top, "peers");
	return 0;
}

int text_peers(const struct text_report *report)
{
	_cleanup_(peer_rows_done) struct peer_rows rows = {0};
	size_t shown;
	int err = peer_rows_init(&rows, report->profile);

	if (err || !rows.count)
		return err;
	shown = rows.count < report->options->top ? rows.count : report->options->top;
	text_heading(report, "Network: messages by process and peer");
	err = text_peer_messages(report, &rows, shown);
	if (err)
		return err;
	text_more(report, rows.count - shown, "peers");
	if (report->options->details)
		text_wrap(
			report->out, report->width, "", 1,
			"(response: from the last message to the first one in the other direction; "
			"of clients, what the process itself took. waited: sleeps that a message "
			"or connection of the peer ended. Percentiles are within 3.1%)");
	return write_connections(report, &rows);
}
