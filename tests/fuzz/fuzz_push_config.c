// SPDX-License-Identifier: BSD-2-Clause
/* Reads anything as the configuration of serve: sections, rules, notifiers and targets either come
 * out with what they need, or there is a sentence.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alert/alert_rule.h"
#include "base/ini.h"
#include "push/notifier.h"
#include "push/push_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_rules(const struct ini *ini)
{
	struct alert_rules rules;
	struct error error = {""};

	if (alert_rules_read(ini, true, &rules, &error) < 0)
		require(error.text[0]);
	else
		array_foreach(&rules.list, rule)
			require(rule->name[0] && rule->when[0] &&
				rule->term_count <= ALERT_TERMS_MAX);
	alert_rules_done(&rules);
}

static void read_targets(const struct ini *ini)
{
	struct notify_targets notify;
	struct push_targets push;
	struct error error = {""};

	if (notify_targets_read(ini, &notify, &error) < 0)
		require(error.text[0]);
	else
		for (size_t i = 0; i < notify.count; i++)
			require(notify.items[i].way != NOTIFY_NOT && notify.items[i].where[0]);
	error.text[0] = '\0';
	if (push_targets_read(ini, &push, &error) < 0)
		require(error.text[0]);
	else
		for (size_t i = 0; i < push.count; i++)
			require(push.items[i].way != PUSH_NOT && push.items[i].kinds_mask &&
				!strpbrk(push.items[i].name, "/."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct error error = {""};
	struct ini ini;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (ini_parse(text, &ini, &error) < 0)
		require(error.text[0]);
	array_foreach(&ini.entries, entry)
		require(entry->kind && entry->name && entry->line);
	read_rules(&ini);
	read_targets(&ini);
	ini_done(&ini);
	free(text);
	return 0;
}
