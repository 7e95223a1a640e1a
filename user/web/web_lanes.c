// SPDX-License-Identifier: BSD-2-Clause
/* What processes or threads did over time. */
#include <errno.h>
#include <string.h>

#include "history/state_lanes.h"
#include "web/web_private.h"

#define TOP 30

static int write_lanes(struct state_lanes *lanes, size_t top, struct web_answer *answer)
{
	FILE *out = open_memstream(&answer->body, &answer->size);

	if (!out)
		return -ENOMEM;
	state_lanes_write_json(lanes, top, out);
	answer->status = 200;
	answer->type = "application/json";
	return fclose(out) == EOF ? -ENOMEM : 0;
}

int web_answer_lanes(struct web *web, const struct web_query *query, struct web_answer *answer)
{
	struct slice_choice choice = web_choice(query);
	struct history_range range;
	struct state_lanes lanes;
	struct error error;
	int err;

	if (query->by == ROWS_BY_REGION)
		return web_say(answer, 400,
			       "by=region is not possible with lanes: use process, thread, "
			       "container, comm or name\n");
	if (query->format[0] && strcmp(query->format, "json") != 0)
		return web_say(answer, 400, "unknown format: json\n");
	err = web_interval(query, WEB_FIVE_MINUTES, &range, &error);
	if (err < 0)
		return web_say_error(answer, err, &error);
	web_begin_work(web);
	err = state_lanes_read(web->store, &range, &choice, query->by, &lanes, &error);
	web_end_work(web);
	err = err < 0 ? web_say_error(answer, err, &error)
		      : write_lanes(&lanes, query->top ? query->top : TOP, answer);
	state_lanes_done(&lanes);
	return err;
}
