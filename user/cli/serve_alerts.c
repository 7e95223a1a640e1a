// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/file_io.h"
#include "cli/serve_config.h"
#include "rows/human.h"
#include "store/store_keep.h"

#define REPEAT_NS      (60 * NS_PER_SECOND)
#define KEEP_BEFORE_NS ((int64_t)(60 * NS_PER_SECOND))
/* Recordings of one rule: an alert that comes and goes fills no disk. */
#define KEEP_PAUSE_NS (600 * NS_PER_SECOND)
#define KEEPS_MAX     16

/* A recording that waits for its end. */
struct keep {
	char rule[ALERT_NAME_SIZE];
	int64_t from_unix_ns, to_unix_ns;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	bool is_done;
};

struct serve_alerts {
	struct serve_alerts_options options;
	struct alerts *alerts;
	struct notifier *notifier;
	/* Of the slice at hand, and of what was done last: CLOCK_MONOTONIC. */
	uint64_t now_ns, repeated_ns, remembered_ns;
	struct keep keeps[KEEPS_MAX];
	size_t keep_count;
	uint64_t remembered;		 /* alerts_changes() of what is on disk */
	char slow_rule[ALERT_NAME_SIZE]; /* of which it was said */
};

static void say(void *context, const char *sentence)
{
	struct serve_alerts *alerts = context;

	console_error(alerts->options.console, "%s", sentence);
}

/* ---- recordings ---- */

static void keep_now(struct serve_alerts *alerts, struct keep *keep)
{
	char name[STORE_KEEP_NAME_SIZE];
	int err;

	keep->is_done = true;
	err = store_keep(alerts->options.store, keep->rule, keep->from_unix_ns, keep->to_unix_ns,
			 name);
	if (err < 0)
		console_error(alerts->options.console, "cannot keep what was around alert %s: %s",
			      keep->rule, strerror(-err));
	else
		console_error(alerts->options.console, "alert %s: kept in %s/kept/%s", keep->rule,
			      alerts->options.store_path, name);
}

static void plan_keep(struct serve_alerts *alerts, const struct alert_news *news)
{
	int64_t fired = news->state->fired_unix_ns;
	uint64_t due_ns = alerts->now_ns + news->rule->keep_ns;
	struct keep *keep;

	if (!news->rule->keep_ns)
		return;
	for (size_t i = 0; i < alerts->keep_count; i++)
		if (strcmp(alerts->keeps[i].rule, news->rule->name) == 0 &&
		    alerts->now_ns < alerts->keeps[i].due_ns + KEEP_PAUSE_NS)
			return;
	if (alerts->keep_count == KEEPS_MAX) {
		/* What is there of it is better than nothing. */
		if (!alerts->keeps[0].is_done)
			keep_now(alerts, &alerts->keeps[0]);
		memmove(alerts->keeps, alerts->keeps + 1, (KEEPS_MAX - 1) * sizeof(*alerts->keeps));
		alerts->keep_count--;
	}
	keep = &alerts->keeps[alerts->keep_count++];
	*keep = (struct keep){.from_unix_ns = fired - KEEP_BEFORE_NS,
			      .to_unix_ns = fired + (int64_t)news->rule->keep_ns,
			      .due_ns = due_ns};
	snprintf(keep->rule, sizeof(keep->rule), "%s", news->rule->name);
}

/* All whose time has come, or all. */
static void keep_due(struct serve_alerts *alerts, bool all)
{
	for (size_t i = 0; i < alerts->keep_count; i++)
		if (!alerts->keeps[i].is_done && (all || alerts->now_ns >= alerts->keeps[i].due_ns))
			keep_now(alerts, &alerts->keeps[i]);
}

/* ---- slices ---- */

static void tell(void *context, const struct alert_news *news)
{
	struct serve_alerts *alerts = context;
	char sentence[640];

	notifier_sentence(news, sentence, sizeof(sentence));
	console_error(alerts->options.console, "%s", sentence);
	if (news->fires)
		plan_keep(alerts, news);
	if (alerts->notifier)
		notifier_tell(alerts->notifier, news);
}

static void repeat(void *context, const struct alert_news *news)
{
	struct serve_alerts *alerts = context;

	notifier_repeat(alerts->notifier, news);
}

/* ---- from one program to the next ---- */

#define MEMORY	   "alerts.json"
#define MEMORY_NEW ".alerts.new"
#define MEMORY_MAX (4U << 20)
/* An old one is not believed. */
#define REMEMBER_NS (300 * NS_PER_SECOND)

/* What fires needs no second word after a restart. Without room on the disk it gets one. */
static void remember(struct serve_alerts *alerts, int64_t now)
{
	struct durable_file file;

	if (alerts->remembered == alerts_changes(alerts->alerts) &&
	    alerts->now_ns - alerts->remembered_ns < REMEMBER_NS)
		return;
	alerts->remembered_ns = alerts->now_ns;
	if (durable_file_open(&file, store_root(alerts->options.store), MEMORY_NEW, 0600) < 0)
		return;
	alerts_write_memory(alerts->alerts, now, file.stream);
	if (durable_file_close(&file, MEMORY, 0) == 0)
		alerts->remembered = alerts_changes(alerts->alerts);
}

static void recall(struct serve_alerts *alerts)
{
	size_t size;
	char *text;

	if (file_read_all(store_root(alerts->options.store), MEMORY, MEMORY_MAX, &text, &size) < 0)
		return;
	alerts_read_memory(alerts->alerts, text,
			   (struct alert_time){(int64_t)clock_read_ns(CLOCK_REALTIME),
					       (int64_t)clock_now_ns()});
	free(text);
}

void serve_alerts_note(struct serve_alerts *alerts, const struct resource_rows *rows)
{
	alerts_note(alerts->alerts, rows);
}

void serve_alerts_tick(struct serve_alerts *alerts)
{
	alerts_tick(alerts->alerts,
		    (struct alert_time){(int64_t)clock_read_ns(CLOCK_REALTIME),
					(int64_t)clock_now_ns()},
		    tell, alerts);
}

/* Once for each. */
static void say_slow(struct serve_alerts *alerts)
{
	char text[HUMAN_SIZE];
	int64_t took_ns;
	const char *rule = alerts_slow_rule(alerts->alerts, &took_ns);

	if (!rule || strcmp(rule, alerts->slow_rule) == 0)
		return;
	snprintf(alerts->slow_rule, sizeof(alerts->slow_rule), "%s", rule);
	console_error(alerts->options.console,
		      "alert rule %s takes %s of CPU time: it is held against the history less "
		      "often than it asks for (pkbpf_alert_looks_postponed_total); choose a longer "
		      "'over', or a longer --interval",
		      rule, human_time(text, (uint64_t)took_ns));
}

void serve_alerts_add(struct serve_alerts *alerts, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	alerts->now_ns = info->end_ns;
	/* Rules that were not looked at for want of memory are, with the next slice. */
	alerts_add(alerts->alerts, rows, tell, alerts);
	say_slow(alerts);
	remember(alerts, info->start_unix_ns + (int64_t)(info->end_ns - info->start_ns));
	keep_due(alerts, false);
	if (!alerts->notifier || alerts->now_ns - alerts->repeated_ns < REPEAT_NS)
		return;
	alerts->repeated_ns = alerts->now_ns;
	alerts_each_firing(alerts->alerts, repeat, alerts);
}

void serve_alerts_end(struct serve_alerts *alerts)
{
	keep_due(alerts, true);
	/* Also when nothing has changed: the next start believes only what is young. */
	alerts->remembered_ns = 0;
	alerts->now_ns = UINT64_MAX;
	remember(alerts, (int64_t)clock_read_ns(CLOCK_REALTIME));
}

/* ---- configuration ---- */

static int use(struct serve_alerts *alerts, const struct serve_config *config)
{
	struct notifier_options options = {
		.targets = config->notify, .say = say, .context = alerts};
	int err = 0;

	serve_page_url(config, alerts->options.listen, alerts->options.port, options.url,
		       sizeof(options.url));
	gethostname(options.host, sizeof(options.host) - 1);
	if (!alerts->notifier && config->notify.count) {
		alerts->notifier = notifier_new(&options);
		if (!alerts->notifier)
			return -ENOMEM;
	}
	if (alerts->alerts)
		err = alerts_set_rules(alerts->alerts, &config->rules);
	else
		alerts->alerts = alerts_new(&config->rules, alerts->options.store);
	if (err < 0 || !alerts->alerts)
		return -ENOMEM;
	/* Not another one: the end of one waits for messages and commands that are on their way. */
	if (alerts->notifier)
		notifier_configure(alerts->notifier, &options);
	return 0;
}

int serve_alerts_configure(struct serve_alerts *alerts, const char *text)
{
	struct serve_config config;
	struct error error;
	int err = serve_config_read(text, &config, &error);

	err = err < 0 ? err : use(alerts, &config);
	serve_config_done(&config);
	return err;
}

int serve_alerts_new(const struct serve_alerts_options *options, struct serve_alerts **ret_alerts,
		     struct error *error)
{
	struct serve_alerts *alerts = calloc(1, sizeof(*alerts));

	if (!alerts)
		return error_set(error, ENOMEM, "cannot watch for alerts: out of memory");
	alerts->options = *options;
	if (serve_alerts_configure(alerts, options->config) < 0) {
		serve_alerts_free(alerts);
		return error_set(error, ENOMEM, "cannot watch for alerts: out of memory");
	}
	recall(alerts);
	*ret_alerts = alerts;
	return 0;
}

struct alerts *serve_alerts_state(struct serve_alerts *alerts)
{
	return alerts->alerts;
}

void serve_alerts_free(struct serve_alerts *alerts)
{
	if (!alerts)
		return;
	notifier_free(alerts->notifier);
	alerts_free(alerts->alerts);
	free(alerts);
}
