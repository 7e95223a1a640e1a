// SPDX-License-Identifier: BSD-2-Clause
/* Adds up network messages. */
#include "rows/part/row_network.h"

#include <pkbpf/network.h>

#include "base/array.h"
#include "profile/account/distribution.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("network", "messages", COUNT, network.messages, ROW_HAS_NETWORK,
		   "messages sent and received by sockets and pipes", .is_activity = true),
	FIGURE_ROW("network", "sent", BYTES, network.sent_bytes, ROW_HAS_NETWORK,
		   "bytes sent by sockets and pipes"),
	FIGURE_ROW("network", "received", BYTES, network.received_bytes, ROW_HAS_NETWORK,
		   "bytes received by sockets and pipes"),
	FIGURE_ROW("network", "connects", COUNT, network.connects, ROW_HAS_NETWORK,
		   "TCP and UNIX connections opened", .is_activity = true),
	FIGURE_ROW("network", "accepts", COUNT, network.accepts, ROW_HAS_NETWORK,
		   "TCP and UNIX connections accepted", .is_activity = true),
	FIGURE_ROW("network", "failures", COUNT, network.failures, ROW_HAS_NETWORK,
		   "connections and messages that failed", .is_activity = true),
	FIGURE_ROW("network", "retransmits", COUNT, network.retransmits, ROW_HAS_NETWORK,
		   "TCP segments retransmitted"),
	FIGURE_ROW("network", "wait", NS, network.wait_ns, ROW_HAS_NETWORK,
		   "sleeps until a server answered"),
	FIGURE_LENGTHS("network", "wait_", network.wait, ROW_HAS_NETWORK,
		       "sleeps until a server answered"),
	FIGURE_LENGTHS("network", "connect_", network.connect, ROW_HAS_NETWORK,
		       "time to open a TCP connection"),
	FIGURE_LENGTHS("network", "response_", network.response, ROW_HAS_NETWORK,
		       "time to the answer of a server"),
	FIGURE_LENGTHS("network", "service_", network.service, ROW_HAS_NETWORK,
		       "time the process took to answer as a server"),
};

static bool is_measure(const struct distribution_key *key, enum pkbpf_network_measure measure)
{
	return key->kind == PKBPF_PROFILE_NETWORK && key->measure == measure;
}

static bool is_connect(const struct distribution_key *key)
{
	return is_measure(key, PKBPF_NETWORK_CONNECTS);
}

static bool is_response(const struct distribution_key *key)
{
	return is_measure(key, PKBPF_NETWORK_RESPONSES) && key->state != PKBPF_NETWORK_SERVER;
}

static bool is_service(const struct distribution_key *key)
{
	return is_measure(key, PKBPF_NETWORK_RESPONSES) && key->state == PKBPF_NETWORK_SERVER;
}

static bool is_wait(const struct distribution_key *key)
{
	return is_measure(key, PKBPF_NETWORK_WAITS) && key->state != PKBPF_NETWORK_SERVER;
}

static const struct row_length lengths[] = {
	{is_wait, offsetof(struct resource_row, network.wait)},
	{is_connect, offsetof(struct resource_row, network.connect)},
	{is_response, offsetof(struct resource_row, network.response)},
	{is_service, offsetof(struct resource_row, network.service)},
};

static void add_messages(struct row_network *network, const struct distribution *distribution)
{
	network->messages += distribution->count;
	if (distribution->key.state == PKBPF_NETWORK_SENT)
		network->sent_bytes += distribution->bytes;
	else
		network->received_bytes += distribution->bytes;
}

static void add_distribution(struct resource_row *row, const struct distribution *distribution)
{
	struct row_network *network = &row->network;

	if (distribution->key.kind != PKBPF_PROFILE_NETWORK)
		return;
	switch (distribution->key.measure) {
	case PKBPF_NETWORK_MESSAGES:
		add_messages(network, distribution);
		break;
	case PKBPF_NETWORK_CONNECTS:
		network->connects += distribution->count;
		break;
	case PKBPF_NETWORK_ACCEPTS:
		network->accepts += distribution->count;
		break;
	case PKBPF_NETWORK_FAILURES:
		network->failures += distribution->count;
		break;
	case PKBPF_NETWORK_RETRANSMITS:
		network->retransmits += distribution->count;
		break;
	case PKBPF_NETWORK_WAITS:
		network->wait_ns += is_wait(&distribution->key) ? distribution->total : 0;
		break;
	}
}

const struct row_part row_network_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.lengths = lengths,
	.length_count = ARRAY_SIZE(lengths),
	.add_distribution = add_distribution,
};
