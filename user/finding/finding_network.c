// SPDX-License-Identifier: BSD-2-Clause
/* The rules about network peers, of what sockets sent and received: who answers slowly, to whom
 * connections fail, to whom segments are sent again. */
#include "finding/finding_network.h"

#include <errno.h>
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
/* Resolvers wait a second or more before they ask again. */
#define TIME_OUT_NS NS_PER_SECOND
/* Of a segment on Ethernet; messages that are shorter are a segment each, as far as we know. */
#define SEGMENT_BYTES 1448

/* What failed, of how much. */
struct failures {
	uint64_t count, attempts;
	uint8_t error; /* the most frequent one; 0: given up */
	uint64_t error_count;
};

struct peer_sum {
	const struct peer_row *worst; /* of its rows, the one that waits most */
	uint64_t wait_ns, waits, response_ns, responses, retransmits, segments;
	uint64_t sent, received;
	struct failures connecting, sending;
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

/* Does it end what was established, or what needs no connection? */
static bool is_of_messages(const struct peer_row *row, uint8_t error)
{
	return (row->peer && row->peer->address.protocol == PKBPF_NETWORK_UDP) || error == EPIPE ||
	       error == ECONNRESET;
}

static void take_failures(struct peer_sum *sum, const struct peer_row *row)
{
	for (size_t i = 0; i < row->part_count; i++) {
		const struct distribution *part = row->parts[i];
		struct failures *failures;

		if (part->key.measure != PKBPF_NETWORK_FAILURES)
			continue;
		failures = is_of_messages(row, part->key.state) ? &sum->sending : &sum->connecting;
		failures->count += part->count;
		failures->attempts += part->count;
		if (part->count <= failures->error_count)
			continue;
		failures->error = part->key.state;
		failures->error_count = part->count;
	}
	sum->connecting.attempts += row->connects.count;
	sum->sending.attempts += row->sent;
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
		sum.retransmits += row->retransmits;
		sum.segments += segments_of(row);
		sum.sent += row->sent;
		sum.received += row->received;
		take_failures(&sum, row);
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
	finding.cost = finding_cost(analysis->rows, time_ns);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "waits for a peer (backend) to answer");
	say_peer(&finding, sum->worst->peer);
	finding_say_wall(finding.evidence, activity, time_ns);
	finding_say(finding.evidence, " waiting; %s, their first byte after p50 %s, p99 %s",
		    human_counted(count, sum->responses, "answers"),
		    human_time(p50, lengths->p50_ns), human_time(p99, lengths->p99_ns));
	finding_say_peer_advice(&finding, sum->worst->peer->pid, true);
	findings_offer(findings, &finding);
	return true;
}

/* Clients try all addresses of a name: what one family fails at, the other may do. */
static bool reaches_by_other_family(const struct analysis *analysis,
				    const struct activity *activity, const struct peer_rows *rows,
				    const struct pkbpf_network_peer *failing)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct pkbpf_network_peer *other =
			rows->items[i].peer ? &rows->items[i].peer->address : NULL;

		if (other && other->port == failing->port && other->protocol == failing->protocol &&
		    other->family != failing->family && rows->items[i].connects.count &&
		    is_of(analysis, activity, &rows->items[i]))
			return true;
	}
	return false;
}

static void find_failing(const struct analysis *analysis, const struct activity *activity,
			 const struct peer_rows *rows, const struct peer_sum *sum,
			 struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_peer_fails);
	double connecting = finding_percent((double)sum->connecting.count,
					    (double)sum->connecting.attempts),
	       sending = finding_percent((double)sum->sending.count, (double)sum->sending.attempts);
	bool is_sending = sum->connecting.count < FAILURES || connecting < FAILED_PERCENT;
	const struct failures *failures = is_sending ? &sum->sending : &sum->connecting;
	double share = is_sending ? sending : connecting;
	char count[HUMAN_SIZE], attempts[HUMAN_SIZE];

	if (failures->count < FAILURES || share < FAILED_PERCENT)
		return;
	finding.severity = share < WAIT_PERCENT ? share : WAIT_PERCENT;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "its %s to a peer fail: %s",
		    is_sending ? "messages" : "connections",
		    failures->error ? strerror(failures->error)
				    : "given up before they were established");
	say_peer(&finding, sum->worst->peer);
	finding_say(
		finding.evidence, "%s of %s failed", human_count(count, failures->count),
		human_counted(attempts, failures->attempts, is_sending ? "messages" : "attempts"));
	if (!is_sending &&
	    reaches_by_other_family(analysis, activity, rows, &sum->worst->peer->address)) {
		finding.is_alarm = false;
		finding_say(finding.evidence,
			    "; connections to this port by the other IP version succeed");
	}
	finding_say(finding.next, "see whether the peer runs, listens there and has room for more "
				  "connections");
	findings_offer(findings, &finding);
}

static bool is_name_server(const struct peer *peer)
{
	return peer && peer->address.port == NAME_SERVER_PORT &&
	       peer->address.protocol == PKBPF_NETWORK_UDP &&
	       peer->address.role != PKBPF_NETWORK_SERVER;
}

static bool is_answered(const struct analysis *analysis, const struct activity *activity,
			const struct peer_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (is_name_server(rows->items[i].peer) && rows->items[i].received &&
		    is_of(analysis, activity, &rows->items[i]))
			return true;
	return false;
}

struct longest_wait {
	const struct analysis *analysis;
	uint64_t max_ns;
};

static void take_lookup(void *context, const struct row_weight *weight)
{
	static const char *const resolvers[] = {"getaddrinfo", "gethostby", "__res_", "res_n",
						"net.(*Resolver)"};
	struct longest_wait *longest = context;
	const uint32_t *functions;
	size_t count;

	if (weight->stack.max <= longest->max_ns)
		return;
	functions = resource_rows_stack(longest->analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name =
			function_table_get(longest->analysis->rows->functions, functions[i])->name;

		for (size_t j = 0; j < ARRAY_SIZE(resolvers); j++)
			if (!strncmp(name, resolvers[j], strlen(resolvers[j])))
				longest->max_ns = weight->stack.max;
	}
}

/* Of one wait in a resolver; 0: none is known. */
static uint64_t longest_lookup_ns(const struct analysis *analysis, const struct activity *activity)
{
	struct longest_wait longest = {analysis, 0};

	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, take_lookup, &longest);
	return longest.max_ns;
}

/* Over UDP a query is a message, and its answer is one. A resolver that asks several servers takes
 * the first answer: the others are missing without a harm. */
static void find_lookups(const struct analysis *analysis, const struct activity *activity,
			 const struct peer_rows *rows, const struct peer_sum *sum,
			 struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_name_lookup);
	uint64_t unanswered = sum->sent > sum->received ? sum->sent - sum->received : 0;
	double share = finding_percent((double)unanswered, (double)sum->sent);
	char count[HUMAN_SIZE], sent[HUMAN_SIZE], time[HUMAN_SIZE];
	uint64_t wait_ns;

	if (!is_name_server(sum->worst->peer) || unanswered < UNANSWERED ||
	    share < UNANSWERED_PERCENT)
		return;
	wait_ns = longest_lookup_ns(analysis, activity);
	if (wait_ns < TIME_OUT_NS && is_answered(analysis, activity, rows))
		return;
	finding.severity = share;
	/* Of the waits for lookups it says more than that there are any. */
	finding.cost =
		finding_cost(analysis->rows, activity->waits[WAIT_CLASS_LOOKUP].time_ns) + 0.1;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "its lookups of names %s: the DNS server does not answer",
		    wait_ns < TIME_OUT_NS ? "fail" : "time out");
	say_peer(&finding, sum->worst->peer);
	finding_say(finding.evidence, "%s of %s without an answer", human_count(count, unanswered),
		    human_counted(sent, sum->sent, "queries"));
	if (wait_ns >= TIME_OUT_NS)
		finding_say(finding.evidence, ", the longest wait for one %s",
			    human_time(time, wait_ns));
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
	/* Probes of the tail are sent again though nothing was lost. */
	finding_say(finding.cause, "its TCP segments are sent again: lost, or acknowledged late");
	say_peer(&finding, sum->worst->peer);
	/* On loopback and with large frames there were fewer segments than by their bytes. */
	finding_say(finding.evidence, "%s sent again (at least %.0f %%), mean round trip %s",
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
		find_failing(analysis, activity, rows, &sum, findings);
		find_lookups(analysis, activity, rows, &sum, findings);
		has_slow = find_slow(analysis, activity, &sum, findings) || has_slow;
	}
	return has_slow;
}
