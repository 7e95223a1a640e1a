/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells of alerts, in a thread of its own:
 *
 *	[notify NAME]
 *	webhook      = http://…	POST of a JSON object
 *	alertmanager = http://…	its API v2; firing alerts again each minute
 *	command      = /path/to/program ARGUMENT…	no shell; JSON on stdin, PKBPF_ALERT_*
 *
 * A section has one of them.
 */
#ifndef PKBPF_PUSH_NOTIFIER_H
#define PKBPF_PUSH_NOTIFIER_H

#include "alert/alerts.h"
#include "base/ini.h"
#include "push/notify_quota.h"

#define NOTIFY_TARGETS_MAX 32

enum notify_way { NOTIFY_NOT, NOTIFY_WEBHOOK, NOTIFY_ALERTMANAGER, NOTIFY_COMMAND };

struct notify_target {
	char name[NOTIFY_NAME_SIZE];
	enum notify_way way;
	char where[512];
};

struct notify_targets {
	struct notify_target items[NOTIFY_TARGETS_MAX];
	size_t count;
};

/* -EINVAL with the sentence, which names the line. */
int notify_targets_read(const struct ini *ini, struct notify_targets *ret_targets,
			struct error *error);

struct notifier;

struct notifier_options {
	struct notify_targets targets;
	char url[256]; /* of the page, "http://127.0.0.1:7747/" */
	char host[256];
	/* From any thread: for the journal. */
	void (*say)(void *context, const char *sentence);
	void *context;
};

/* NULL: out of memory. */
struct notifier *notifier_new(const struct notifier_options *options);
/* Other targets and addresses from now on, told by the same say; what is on its way goes where it
 * was to go. */
void notifier_configure(struct notifier *notifier, const struct notifier_options *options);
/* Tells the targets of the rule. */
void notifier_tell(struct notifier *notifier, const struct alert_news *news);
/* To Alertmanagers alone, which forget what nobody repeats. */
void notifier_repeat(struct notifier *notifier, const struct alert_news *news);
/* Sentence for people: "alert cpu-busy fires: machine.busy is 97 % (machine.busy > 90%)". */
void notifier_sentence(const struct alert_news *news, char *text, size_t size);
/* Waits for what is on its way, for NOTIFIER_END_SECONDS at most; what is not delivered by then is
 * said. NULL is fine. */
#define NOTIFIER_END_SECONDS 2
void notifier_free(struct notifier *notifier);

#endif
