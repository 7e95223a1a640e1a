// SPDX-License-Identifier: BSD-2-Clause
/* The rules about peers: those that do not answer, or do not take what is sent, and attempts that
 * fail. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "rows/human.h"
#include "rows/peers.h"
#include "finding/finding_network.h"
#include "finding/finding_rules.h"
#include "finding/waker.h"

/* Of the looks at the sockets of a process: a peer that is fast is seldom met waiting. */
#define LOOKS_PERCENT 50
/* On average: who answers sooner is no slow peer; a round trip of a local network takes as long. */
#define ANSWER_NS (NS_PER_MS / 5)
/* Of the time of sampled waits, ended by one peer: that is what it waits for. */
#define WOKEN_PERCENT 50
/* Both take all of the interval as soon as a thread each waits all the time. */
#define BEHIND_PERCENT 10
/* Of wall time asleep by its own timer. */
#define SLEEP_PERCENT 50
/* Sleeps per failed connection: one, or a few. */
#define SLEEPS_PER_FAILURE 4
#define FAILURES	   5
/* Looks per second of a thread: a timer of the kernel ticks as often, and a thread that sleeps for
 * longer paces its work. Of many threads the sum says nothing: 200 that look five times a second do
 * not poll. */
#define LOOKS_PER_SECOND 1000
/* On average: many threads that sleep for longer do not poll, they are many. */
#define LOOK_PAUSE_NS (10 * NS_PER_MS)

#define WAITING_FOR_PEERS                                                                          \
	(WAIT_CLASS_BIT(SOCKET) | WAIT_CLASS_BIT(EVENTS) | WAIT_CLASS_BIT(PG_WORK))

/* Of Unix sockets it is not known whether something was sent. */
static bool has_unix_socket(const struct relation *relation)
{
	return relation->text[0] == '/' || relation->text[0] == '@';
}

static const struct relation *worst_peer(const struct analysis *analysis,
					 const struct activity *activity, enum pkbpf_relation kind)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	const struct relation *worst = NULL;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == kind && activity_has_pid(activity, relation->pid) &&
		    !has_unix_socket(relation) &&
		    finding_percent((double)relation->count, (double)relation->value) >=
			    LOOKS_PERCENT &&
		    (!worst || relation->count > worst->count))
			worst = relation;
	}
	return worst;
}

static void say_peer(struct finding *finding, const struct relation *peer)
{
	if (!peer)
		return;
	finding_say(finding->by, "peer %s", peer->text);
	if (peer->other_comm[0])
		finding_say(finding->by, " (%s %" PRIu32 ")", peer->other_comm, peer->other_pid);
}

static uint64_t waits_of(const struct activity *activity, uint64_t classes, uint64_t *ret_count)
{
	uint64_t time_ns = 0;

	*ret_count = 0;
	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
		if (!(classes & 1ULL << class))
			continue;
		time_ns += activity->waits[class].time_ns;
		*ret_count += activity->waits[class].count;
	}
	return time_ns;
}

/* A part of what it does, were these waits part of it. */
static double severity_beside(const struct analysis *analysis, const struct activity *activity,
			      uint64_t time_ns)
{
	struct activity with = *activity;

	with.active_ns += time_ns;
	return activity_severity(analysis, &with, time_ns);
}

/* Of the time of sampled waits of these classes, what this program ended. */
static double ended_by(const struct analysis *analysis, const struct activity *activity,
		       uint64_t classes, const char *comm)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	uint64_t all_ns = 0, by_ns = 0;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind != PKBPF_RELATION_WAKER ||
		    relation->stack == RELATION_NO_STACK ||
		    !activity_has_pid(activity, relation->pid) ||
		    !(classes & 1ULL << waker_class(analysis, relation)))
			continue;
		all_ns += relation->value;
		by_ns += strcmp(relation->other_comm, comm) == 0 ? relation->value : 0;
	}
	return finding_percent((double)by_ns, (double)all_ns);
}

/* Of several connections that may wait for an answer, that to the program that ends its waits. */
static const struct relation *peer_that_wakes(const struct analysis *analysis,
					      const struct activity *activity, uint64_t classes)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_REPLY_IF_READING &&
		    activity_has_pid(activity, relation->pid) && relation->other_comm[0] &&
		    !activity_has_pid(activity, relation->other_pid) &&
		    finding_percent((double)relation->count, (double)relation->value) >=
			    LOOKS_PERCENT &&
		    ended_by(analysis, activity, classes, relation->other_comm) >= WOKEN_PERCENT)
			return relation;
	}
	return NULL;
}

/* More threads wait for each other than for the peer: if that is for what one of them holds, it
 * comes first. */
static bool mostly_waits_for_itself(const struct activity *activity, uint64_t time_ns)
{
	uint64_t count, own_ns = waits_of(activity,
					  WAIT_CLASS_BIT(FUTEX) | WAIT_CLASS_BIT(CONDITION) |
						  WAIT_CLASS_BIT(SEMAPHORE),
					  &count);

	return own_ns > time_ns;
}

static void find_reply(const struct analysis *analysis, const struct activity *activity,
		       struct findings *findings)
{
	bool reads = activity->waits[WAIT_CLASS_SOCKET].time_ns >
		     activity->waits[WAIT_CLASS_EVENTS].time_ns;
	const struct relation *peer = worst_peer(
		analysis, activity, reads ? PKBPF_RELATION_REPLY_IF_READING : PKBPF_RELATION_REPLY);
	struct finding finding = finding_new(FINDING_RULE_peer_bound);
	uint64_t classes = reads ? WAIT_CLASS_BIT(SOCKET) : WAITING_FOR_PEERS;
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, classes);
	uint64_t count, time_ns = waits_of(activity, classes, &count);
	/* Of an answer that was seen to be due, there is no doubt. */
	bool is_sure = peer;

	if (!is_sure)
		peer = peer_that_wakes(analysis, activity, classes);
	if (!peer || !count || time_ns / count < ANSWER_NS)
		return;
	finding.severity = severity_beside(analysis, activity, time_ns);
	finding.cost = finding_cost(analysis->rows, time_ns);
	if (finding.severity < SLEEP_PERCENT)
		return;
	if (mostly_waits_for_itself(activity, time_ns))
		finding.severity -= BEHIND_PERCENT;
	finding_say_who(&finding, analysis, activity);
	finding.is_alarm = is_sure;
	finding_say(finding.cause,
		    is_sure ? "waits for a peer (backend) to answer"
			    : "waits for its server to answer, or to send something");
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	say_peer(&finding, peer);
	if (is_sure)
		finding_say(finding.evidence,
			    "a request was unanswered in %" PRIu64 " of %" PRIu64 " looks; ",
			    peer->count, peer->value);
	else
		finding_say(finding.evidence, "it ends %.0f %% of the time waited; ",
			    ended_by(analysis, activity, classes, peer->other_comm));
	finding_say_wall(finding.evidence, activity, time_ns);
	finding_say(finding.evidence, " waiting");
	finding_say_peer_advice(&finding, peer->other_pid, is_sure);
	findings_offer(findings, &finding);
}

/* Of a pipe, the process that makes room in it. */
static void say_reader(struct finding *finding, const struct analysis *analysis,
		       const struct activity *activity)
{
	struct wakers wakers = wakers_of(analysis, activity, WAIT_CLASS_BIT(PIPE_FULL));

	if (wakers.count < LEAST_COUNTED || !wakers.pid ||
	    finding_percent((double)wakers.most_ns, (double)wakers.value_ns) < WOKEN_PERCENT)
		return;
	finding_say(finding->by, "read by %s %" PRIu32, wakers.comm, wakers.pid);
	finding_say(finding->next, "profile the reader");
	if (!activity->group->worst->ended_inside)
		finding_say(finding->next, " (pkbpf -p %" PRIu32 ")", wakers.pid);
}

/* receiver: whom it sends to and waits for, as the network was recorded; NULL: unknown. */
static void find_full(const struct analysis *analysis, const struct activity *activity,
		      enum wait_class class, const struct peer *receiver, struct findings *findings)
{
	const struct wait_sums *waits = &activity->waits[class];
	struct finding finding = finding_new(FINDING_RULE_peer_bound);
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, 1ULL << class);
	char time[HUMAN_SIZE], count[HUMAN_SIZE], text[PEER_TEXT_SIZE];

	finding.severity = activity_severity(analysis, activity, waits->time_ns);
	finding.cost = finding_cost(analysis->rows, waits->time_ns);
	if (finding.severity < ACTIVE_PERCENT)
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "%s", wait_class_row(class)->cause);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	if (receiver)
		finding_say(finding.by, "peer %s", peer_text(text, receiver));
	else if (class == WAIT_CLASS_PIPE_FULL)
		say_reader(&finding, analysis, activity);
	else
		say_peer(&finding, worst_peer(analysis, activity, PKBPF_RELATION_RECEIVER));
	finding_say_wall(finding.evidence, activity, waits->time_ns);
	finding_say(finding.evidence, " (%s in %s wait%s)", human_time(time, waits->time_ns),
		    human_count(count, waits->count), waits->count == 1 ? "" : "s");
	if (!finding.next[0])
		finding_say(finding.next, "%s", wait_class_row(class)->next);
	findings_offer(findings, &finding);
}

static uint64_t failures_of(const struct analysis *analysis, const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_REFUSED &&
		    activity_has_pid(activity, relation->pid))
			return relation->count;
	}
	return 0;
}

/* A function of the sleeping program that says so itself; it may rest after what went well. */
static bool names_a_retry(const char *place)
{
	static const char *const words[] = {"retry",   "Retry",	  "reconnect", "Reconnect",
					    "backoff", "Backoff", "BackOff",   "back_off"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(place, words[i]))
			return true;
	return false;
}

static void find_sleep(const struct analysis *analysis, const struct activity *activity,
		       struct findings *findings)
{
	const struct wait_sums *sleeps = &activity->waits[WAIT_CLASS_TIMER];
	struct finding finding = finding_new(FINDING_RULE_sleep_bound);
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, WAIT_CLASS_BIT(TIMER));
	uint64_t failures = failures_of(analysis, activity);
	double seconds = finding_seconds(analysis->rows);
	uint64_t threads = activity->group->sum.threads_seen;
	bool fails, looks;

	finding.severity = severity_beside(analysis, activity, sleeps->time_ns);
	finding.cost = finding_cost(analysis->rows, sleeps->time_ns);
	if (finding.severity < SLEEP_PERCENT || seconds <= 0)
		return;
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	fails = (failures >= FAILURES && sleeps->count <= SLEEPS_PER_FAILURE * failures &&
		 failures <= SLEEPS_PER_FAILURE * sleeps->count) ||
		/* Others of its network namespace fail, too. */
		(failures && sleeps->count <= SLEEPS_PER_FAILURE * failures &&
		 names_a_retry(finding.place));
	looks = (double)sleeps->count / (double)(threads ? threads : 1) >=
			LOOKS_PER_SECOND * seconds &&
		sleeps->time_ns / sleeps->count <= LOOK_PAUSE_NS;
	if (!fails && !looks)
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "%s",
		    fails ? "sleeps between attempts that fail (retries)"
			  : "polls: it sleeps for moments and looks again");
	finding_say_wall(finding.evidence, activity, sleeps->time_ns);
	finding_say(finding.evidence, " asleep, %.0f sleeps/s", (double)sleeps->count / seconds);
	if (activity->group->sum.threads_seen > 1)
		finding_say(finding.evidence, " of all threads");
	if (failures)
		finding_say(finding.evidence,
			    "; %" PRIu64 " connections failed in its network namespace", failures);
	finding_say(finding.next, "%s",
		    fails ? "see why the attempts fail: nobody listens, or a name or address is "
			    "wrong"
			  : "wait for the event itself");
	findings_offer(findings, &finding);
}

void find_peers(const struct analysis *analysis, struct findings *findings)
{
	_cleanup_(peer_rows_done) struct peer_rows rows = {0};
	/* Without memory there are no findings of what was recorded. */
	bool has_network = peer_rows_init(&rows, analysis->rows->profile) == 0 && rows.count;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];
		bool waits = has_network && find_network(analysis, activity, &rows, findings);

		if (!activity->has_waits)
			continue;
		if (!waits)
			find_reply(analysis, activity, findings);
		find_full(analysis, activity, WAIT_CLASS_SOCKET_FULL,
			  has_network ? network_slow_receiver(analysis, activity, &rows) : NULL,
			  findings);
		find_full(analysis, activity, WAIT_CLASS_PIPE_FULL, NULL, findings);
		find_full(analysis, activity, WAIT_CLASS_CONNECT, NULL, findings);
		find_sleep(analysis, activity, findings);
	}
}
