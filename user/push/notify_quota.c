// SPDX-License-Identifier: BSD-2-Clause
#include "push/notify_quota.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define HOUR_NS	   (3600 * NS_PER_SECOND)
#define QUOTAS_MAX 1024
/* Of one rule; ends of those beyond are told. */
#define UNTOLD_MAX 1024

static struct notify_quota *quota_of(struct notify_quotas *quotas, const struct notify_event *event)
{
	struct notify_quota *quota;

	array_foreach(&quotas->list, each)
		if (strcmp(each->target, event->target) == 0 &&
		    strcmp(each->rule, event->rule) == 0)
			return each;
	quota = quotas->list.count < QUOTAS_MAX ? array_add(&quotas->list) : NULL;
	if (quota) {
		snprintf(quota->rule, sizeof(quota->rule), "%s", event->rule);
		snprintf(quota->target, sizeof(quota->target), "%s", event->target);
	}
	return quota;
}

static struct notify_untold *find_untold(struct notify_quota *quota, const char *who)
{
	array_foreach(&quota->untold, untold)
		if (strcmp(untold->who, who) == 0)
			return untold;
	return NULL;
}

static void add_untold(struct notify_quota *quota, const char *who)
{
	struct notify_untold *added = quota->untold.count < UNTOLD_MAX && !find_untold(quota, who)
					      ? array_add(&quota->untold)
					      : NULL;

	if (added)
		snprintf(added->who, sizeof(added->who), "%s", who);
}

/* true: it was there. */
static bool drop_untold(struct notify_quota *quota, const char *who)
{
	struct notify_untold *untold = find_untold(quota, who);

	if (untold)
		*untold = quota->untold.items[--quota->untold.count];
	return untold;
}

bool notify_quota_take(struct notify_quotas *quotas, const struct notify_event *event,
		       uint64_t now_ns, uint64_t *ret_suppressed)
{
	struct notify_quota *quota = quota_of(quotas, event);

	*ret_suppressed = 0;
	if (!quota)
		return true;
	if (!event->fires && drop_untold(quota, event->who))
		return false;
	if (event->fires) {
		if (!quota->sent || now_ns - quota->hour_ns >= HOUR_NS) {
			quota->hour_ns = now_ns;
			quota->sent = 0;
		}
		if (quota->sent >= NOTIFY_HOURLY_MAX) {
			quota->suppressed++;
			add_untold(quota, event->who);
			return false;
		}
		quota->sent++;
		drop_untold(quota, event->who);
	}
	*ret_suppressed = quota->suppressed;
	quota->suppressed = 0;
	return true;
}

void notify_quotas_done(struct notify_quotas *quotas)
{
	array_foreach(&quotas->list, quota)
		array_free(&quota->untold);
	array_free(&quotas->list);
}
