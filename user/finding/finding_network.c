// SPDX-License-Identifier: BSD-2-Clause
/* The rules about network peers, of what sockets sent and received: who answers slowly, to whom
 * connections fail, to whom segments are sent again. */
#include "finding/finding_network.h"

#include <inttypes.h>
#include <string.h>

#include "finding/finding_rules.h"
#include "rows/human.h"

/* Of wall time, waiting for one peer. */
#define WAIT_PERCENT 50
/* On average: who answers sooner is no slow peer; a round trip of a local network takes as long. */
#define ANSWER_NS (NS_PER_MS / 5)
/* Waits for one answer, on average. */
#define PARTS 4
/* Of the attempts, and their number. */
#define FAILED_PERCENT 10
#define FAILURES       5
/* Of the segments, and their number. */
#define RETRANSMITTED_PERCENT 1
#define RETRANSMITS	      20
/* Of the queries, and their number: each is a wait of seconds. */
#define UNANSWERED_PERCENT 10
#define UNANSWERED	   3
#define NAME_SERVER_PORT   53
/* Of a segment on Ethernet; messages that are shorter are a segment each, as far as we know. */
#define SEGMENT_BYTES 1448

struct peer_sum {
	const struct peer_row *worst; /* of its rows, the one that waits most */
	uint64_t wait_ns, waits, response_ns, responses, failures, attempts, retransmits, segments;
	uint64_t sent, received;
	uint8_t error; /* the most frequent one; 0: given up */
	uint64_t error_count;
};

static bool is_of(const struct analysis *analysis, const struct activity *activity,
		  const struct peer_row *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(analysis->rows->profile), row->process);

	return process && activity_has_pid(activity, process->pid);
}

static uint64_t segments_of(const struct peer_row *row)
{
	uint64_t full = row->sent_bytes / SEGMENT_BYTES;

	return full > row->sent ? full : row->sent;
}

static void take_error(struct peer_sum *sum, const struct peer_row *row)
{
	for (size_t i = 0; i < row->part_count; i++) {
		const struct distribution *part = row->parts[i];

		if (part->key.measure != PKBPF_NETWORK_FAILURES || part->count <= sum->error_count)
			continue;
		sum->error = part->key.state;
		sum->error_count = part->count;
	}
}

/* All rows of the group's processes with this peer. */
static struct peer_sum sum_of(const struct analysis *analysis, const struct activity *activity,
			      const struct peer_rows *rows, uint32_t number)
{
	struct peer_sum sum = {0};

	for (size_t i = 0; i < rows->count; i++) {
		const struct peer_row *row = &rows->items[i];

		if (row->number != number || !is_of(analysis, activity, row))
			continue;
		if (!sum.worst || row->waits.total_ns > sum.worst->waits.total_ns)
			sum.worst = row;
		sum.wait_ns += row->waits.total_ns;
		sum.waits += row->waits.count;
		sum.response_ns += row->responses.total_ns;
		sum.responses += row->responses.count;
		sum.failures += row->failures;
		sum.attempts += row->connects.count + row->failures;
		sum.retransmits += row->retransmits;
		sum.segments += segments_of(row);
		sum.sent += row->sent;
		sum.received += row->received;
		take_error(&sum, row);
	}
	return sum;
}

static void say_peer(struct finding *finding, const struct peer *peer)
{
	char text[PEER_TEXT_SIZE];

	finding_say(finding->by, "peer %s", peer_text(text, peer));
}

/* Time in which the peer owes an answer. One that comes in parts is waited for more than once; a
 * peer that mostly sends of its own accord owes none but those that it was asked for. */
static uint64_t answering_ns(const struct peer_sum *sum)
{
	if (sum->waits <= PARTS * sum->responses || sum->wait_ns < sum->response_ns)
		return sum->wait_ns;
	return sum->response_ns;
}

static bool find_slow(const struct analysis *analysis, const struct activity *activity,
		      const struct peer_sum *sum, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_peer_bound);
	uint64_t time_ns = answering_ns(sum);
	const struct row_lengths *lengths = &sum->worst->responses.lengths;
	struct activity with = *activity;
	char p50[HUMAN_SIZE], p99[HUMAN_SIZE], count[HUMAN_SIZE];

	if (!sum->responses || time_ns / sum->responses < ANSWER_NS ||
	    finding_percent((double)time_ns, (double)activity->wall_ns) < WAIT_PERCENT)
		return false;
	with.active_ns += time_ns;
	finding.severity = activity_severity(analysis, &with, time_ns);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "waits for a slow peer (backend) to answer");
	say_peer(&finding, sum->worst->peer);
	finding_say_wall(finding.evidence, activity, time_ns);
	finding_say(finding.evidence, " waiting; %s, their first byte after p50 %s, p99 %s",
		    human_counted(count, sum->responses, "answers"),
		    human_time(p50, lengths->p50_ns), human_time(p99, lengths->p99_ns));
	finding_say(finding.next, "profile the peer: this program has nothing to do meanwhile");
	findings_offer(findings, &finding);
	return true;
}

static void find_failing(const struct analysis *analysis, const struct activity *activity,
			 const struct peer_sum *sum, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_peer_fails);
	double share = finding_percent((double)sum->failures, (double)sum->attempts);
	char failures[HUMAN_SIZE], attempts[HUMAN_SIZE];

	if (sum->failures < FAILURES || share < FAILED_PERCENT)
		return;
	finding.severity = share < WAIT_PERCENT ? share : WAIT_PERCENT;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "its connections to a peer fail: %s",
		    sum->error ? strerror(sum->error) : "given up before they were established");
	say_peer(&finding, sum->worst->peer);
	finding_say(finding.evidence, "%s of %s failed", human_count(failures, sum->failures),
		    human_counted(attempts, sum->attempts, "attempts"));
	finding_say(finding.next, "see whether the peer runs, listens there and has room for more "
				  "connections");
	findings_offer(findings, &finding);
}

/* Over UDP a query is a message, and its answer is one. */
static void find_lookups(const struct analysis *analysis, const struct activity *activity,
			 const struct peer_sum *sum, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_name_lookup);
	const struct pkbpf_network_peer *server = &sum->worst->peer->address;
	uint64_t unanswered = sum->sent > sum->received ? sum->sent - sum->received : 0;
	double share = finding_percent((double)unanswered, (double)sum->sent);
	char count[HUMAN_SIZE], sent[HUMAN_SIZE];

	if (server->port != NAME_SERVER_PORT || server->protocol != PKBPF_NETWORK_UDP ||
	    unanswered < UNANSWERED || share < UNANSWERED_PERCENT)
		return;
	finding.severity = share;
	finding.is_alarm = true;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "its lookups of names time out: the DNS server does not answer");
	say_peer(&finding, sum->worst->peer);
	finding_say(finding.evidence, "%s of %s without an answer, each a wait of seconds",
		    human_count(count, unanswered), human_counted(sent, sum->sent, "queries"));
	finding_say(finding.next, "ask that server by hand (dig), see /etc/resolv.conf, or keep "
				  "the addresses");
	findings_offer(findings, &finding);
}

static void find_retransmits(const struct analysis *analysis, const struct activity *activity,
			     const struct peer_sum *sum, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_retransmits);
	double share = finding_percent((double)sum->retransmits, (double)sum->segments);
	char count[HUMAN_SIZE], seconds[HUMAN_SIZE];

	if (sum->retransmits < RETRANSMITS || share < RETRANSMITTED_PERCENT)
		return;
	finding.severity = share < WAIT_PERCENT ? share : WAIT_PERCENT;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "its TCP segments are lost on the way and sent again");
	say_peer(&finding, sum->worst->peer);
	finding_say(finding.evidence, "%s sent again (about %.0f %%), mean round trip %s",
		    human_counted(count, sum->retransmits, "segments"), share > 100 ? 100 : share,
		    human_time(seconds, sum->worst->round_trips.count
						? sum->worst->round_trips.total_ns /
							  sum->worst->round_trips.count
						: 0));
	finding_say(finding.next, "look for losses on the way (ip -s link, nstat), or for a "
				  "receiver that is overloaded");
	findings_offer(findings, &finding);
}

const struct peer *network_slow_receiver(const struct analysis *analysis,
					 const struct activity *activity,
					 const struct peer_rows *rows)
{
	const struct peer_row *worst = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		const struct peer_row *row = &rows->items[i];

		if (row->peer && row->sent && is_of(analysis, activity, row) &&
		    row->waits.total_ns > (worst ? worst->waits.total_ns : 0))
			worst = row;
	}
	return worst ? worst->peer : NULL;
}

/* Is it the first row of this peer in the group? */
static bool is_first(const struct analysis *analysis, const struct activity *activity,
		     const struct peer_rows *rows, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (rows->items[i].number == rows->items[index].number &&
		    is_of(analysis, activity, &rows->items[i]))
			return false;
	return true;
}

/* Peers that are looked at in each group: those with most messages come first. */
#define PEERS_MAX 64

bool find_network(const struct analysis *analysis, const struct activity *activity,
		  const struct peer_rows *rows, struct findings *findings)
{
	bool has_slow = false;
	size_t count = 0;

	for (size_t i = 0; i < rows->count && count < PEERS_MAX; i++) {
		const struct peer_row *row = &rows->items[i];
		struct peer_sum sum;

		if (!row->peer || !is_of(analysis, activity, row) ||
		    !is_first(analysis, activity, rows, i))
			continue;
		count++;
		sum = sum_of(analysis, activity, rows, row->number);
		find_retransmits(analysis, activity, &sum, findings);
		if (row->peer->address.role == PKBPF_NETWORK_SERVER)
			continue;
		find_failing(analysis, activity, &sum, findings);
		find_lookups(analysis, activity, &sum, findings);
		has_slow = find_slow(analysis, activity, &sum, findings) || has_slow;
	}
	return has_slow;
}
