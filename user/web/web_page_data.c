// SPDX-License-Identifier: BSD-2-Clause
/* The data of a report alone, for a page that is open and shows the present. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/page/page_data.h"
#include "web/web_private.h"

static int key_of(struct web *web, const struct web_query *query, const struct history_range *range,
		  struct answer_key *ret_key)
{
	struct answer_key *key = ret_key;
	struct store_windows windows;
	int err = store_cover(web->store, range->from_unix_ns, range->to_unix_ns, &windows);

	if (err < 0)
		return err;
	memset(key, 0, sizeof(*key));
	key->windows = windows.list.count;
	if (key->windows) {
		key->from_unix_ns = windows.list.items[0].begin_unix_ns;
		key->to_unix_ns = windows.list.items[key->windows - 1].end_unix_ns;
	}
	array_free(&windows.list);
	key->pid = query->pid;
	key->by = query->by;
	key->top = query->top;
	memcpy(key->comm, query->comm, strlen(query->comm));
	memcpy(key->container, query->container, strlen(query->container));
	return 0;
}

/* Others that want the same windows meanwhile wait for it. What could not be read now may be
 * readable later. */
static int make(struct web *web, const struct web_query *query, const struct history_range *range,
		const struct answer_key *key, struct web_answer *answer)
{
	int err = web_write_profile(web, query, &format_page_data, range, answer);
	bool is_good = err == 0 && answer->status == 200 && !answer->is_partial;

	answer_cache_put(&web->cache, key, is_good ? answer->body : NULL, answer->size);
	return err;
}

int web_answer_page_data(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct history_range range;
	struct answer_key key;
	struct error error;
	int err = web_interval(query, WEB_FIVE_MINUTES, &range, &error);

	if (err < 0)
		return web_say_error(answer, err, &error);
	err = key_of(web, query, &range, &key);
	if (err < 0)
		return err;
	err = answer_cache_take(&web->cache, &key, &answer->body, &answer->size);
	if (err == ANSWER_TO_MAKE)
		return make(web, query, &range, &key, answer);
	answer->status = 200;
	answer->type = "text/plain; charset=utf-8";
	answer->from_unix_ns = key.from_unix_ns;
	answer->to_unix_ns = key.to_unix_ns;
	return err < 0 ? err : 0;
}
