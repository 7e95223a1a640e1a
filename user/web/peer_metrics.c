// SPDX-License-Identifier: BSD-2-Clause
/* Adds figures of network peers up, and writes them. */
#include "web/peer_metrics.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "web/metric_text.h"

/* More peers than that become one: a scrape stays small whoever connects. */
#define PEERS_MAX 50
/* A peer that has not been seen in so many slices is gone, and its series end. */
#define PEER_SLICES 360

/* In the order of sums_of(). */
static const struct {
	const char *name, *help;
} sums[PEER_METRICS_SUMS] = {
	{"sent_messages_total", "messages sent to the peer"},
	{"sent_bytes_total", "bytes sent to the peer"},
	{"received_messages_total", "messages received from the peer"},
	{"received_bytes_total", "bytes received from the peer"},
	{"failures_total", "connections and messages that failed"},
	{"retransmits_total", "TCP segments retransmitted"},
	{"wait_seconds_total", "sleeps of threads that the peer ended"},
	{"responses_total", "answers whose time was measured"},
	{"response_seconds_total", "time from the last message to the answer"},
};

static void sums_of(const struct peer_row *row, double ret_sums[PEER_METRICS_SUMS])
{
	const double values[PEER_METRICS_SUMS] = {
		(double)row->sent,
		(double)row->sent_bytes,
		(double)row->received,
		(double)row->received_bytes,
		(double)row->failures,
		(double)row->retransmits,
		(double)row->waits.total_ns / NS_PER_SECOND,
		(double)row->responses.count,
		(double)row->responses.total_ns / NS_PER_SECOND,
	};

	memcpy(ret_sums, values, sizeof(values));
}

/* The process at the other end becomes known later, and would begin another series. */
static void name_of(const struct peer *peer, char name[PEER_TEXT_SIZE])
{
	peer_text_plain(name, peer);
}

static struct peer_metric *add_named(struct peer_metrics *metrics, const char *name)
{
	struct peer_metric *metric = array_add(&metrics->peers);

	if (metric) {
		metric->begin_unix_ns = metrics->slice_unix_ns;
		snprintf(metric->name, sizeof(metric->name), "%s", name);
	}
	return metric;
}

/* As for groups: one that has gone makes room. */
static struct peer_metric *longest_gone(struct peer_metrics *metrics)
{
	struct peer_metric *oldest = NULL;

	for (size_t i = 1; i < metrics->peers.count; i++) {
		struct peer_metric *metric = &metrics->peers.items[i];

		if (metric->seen + 1 < metrics->slices && (!oldest || metric->seen < oldest->seen))
			oldest = metric;
	}
	return oldest;
}

static struct peer_metric *metric_of(struct peer_metrics *metrics, const struct peer *peer)
{
	char name[PEER_TEXT_SIZE];
	struct peer_metric *gone;

	if (!metrics->peers.count && !add_named(metrics, "other"))
		return NULL;
	if (!peer)
		return metrics->peers.items;
	name_of(peer, name);
	for (size_t i = 1; i < metrics->peers.count; i++)
		if (strcmp(metrics->peers.items[i].name, name) == 0)
			return &metrics->peers.items[i];
	if (metrics->peers.count <= PEERS_MAX)
		return add_named(metrics, name);
	gone = longest_gone(metrics);
	if (!gone)
		return metrics->peers.items;
	*gone = (struct peer_metric){.begin_unix_ns = metrics->slice_unix_ns};
	snprintf(gone->name, sizeof(gone->name), "%s", name);
	return gone;
}

static void add_row(struct peer_metrics *metrics, const struct peer_row *row)
{
	struct peer_metric *metric = metric_of(metrics, row->peer);
	double more[PEER_METRICS_SUMS];

	if (!metric)
		return;
	sums_of(row, more);
	for (size_t i = 0; i < PEER_METRICS_SUMS; i++)
		metric->sums[i] += more[i];
	if (metric->seen != metrics->slices)
		metric->response_p99_ns = 0;
	if (row->responses.lengths.p99_ns > metric->response_p99_ns)
		metric->response_p99_ns = row->responses.lengths.p99_ns;
	metric->seen = metrics->slices;
}

static void forget(struct peer_metrics *metrics)
{
	size_t kept = 1;

	for (size_t i = 1; i < metrics->peers.count; i++)
		if (metrics->slices - metrics->peers.items[i].seen < PEER_SLICES)
			metrics->peers.items[kept++] = metrics->peers.items[i];
	if (metrics->peers.count)
		metrics->peers.count = kept;
}

void peer_metrics_add(struct peer_metrics *metrics, const struct profile *slice)
{
	_cleanup_(peer_rows_done) struct peer_rows rows = {0};

	metrics->slices++;
	metrics->slice_unix_ns = profile_info_read(slice)->start_unix_ns;
	if (peer_rows_init(&rows, slice))
		return;
	for (size_t i = 0; i < rows.count; i++)
		add_row(metrics, &rows.items[i]);
	forget(metrics);
}

static void write_value(const struct peer_metric *metric, const char *name, double value, FILE *out)
{
	fprintf(out, "pkbpf_network_peer_%s{peer=\"", name);
	metric_text_label(out, metric->name);
	fprintf(out, "\"} %.17g\n", value);
}

void peer_metrics_write(const struct peer_metrics *metrics, bool with_begins, FILE *out)
{
	char name[64];

	if (!metrics->peers.count)
		return;
	for (size_t i = 0; i < PEER_METRICS_SUMS; i++) {
		snprintf(name, sizeof(name), "pkbpf_network_peer_%s", sums[i].name);
		metric_text_head(out, name, "counter", sums[i].help);
		array_foreach(&metrics->peers, metric) {
			if (with_begins)
				metric_text_begin(out, metric->begin_unix_ns);
			write_value(metric, sums[i].name, metric->sums[i], out);
		}
	}
	metric_text_head(out, "pkbpf_network_peer_response_p99_seconds", "gauge",
			 "99th percentile of the last slice, of the slowest process");
	array_foreach(&metrics->peers, metric)
		if (metric->seen == metrics->slices)
			write_value(metric, "response_p99_seconds",
				    (double)metric->response_p99_ns / NS_PER_SECOND, out);
}

void peer_metrics_done(struct peer_metrics *metrics)
{
	array_free(&metrics->peers);
}
