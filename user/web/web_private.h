/* SPDX-License-Identifier: BSD-2-Clause */
/* What the answers of the history need. */
#ifndef PKBPF_WEB_WEB_PRIVATE_H
#define PKBPF_WEB_WEB_PRIVATE_H

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "history/history_range.h"
#include "web/answer_cache.h"
#include "web/metrics.h"
#include "web/web.h"
#include "web/web_connections.h"
#include "web/web_query.h"

struct MHD_Daemon;

struct web {
	struct web_options options;
	struct store *store;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t news;  /* a slice, or the end */
	int64_t last_end_unix_ns;
	unsigned int working; /* answers that are being made */
	bool stops;
	struct metrics metrics;
	struct web_connections connections; /* has a lock of its own */
	struct answer_cache cache;	    /* of pages that show the present */
};

enum web_policy {
	WEB_POLICY_DATA,   /* nothing in it runs */
	WEB_POLICY_PAGE,   /* scripts of ours, which ask us */
	WEB_POLICY_REPORT, /* one file with its own scripts, which ask nobody */
};

struct web_answer {
	unsigned int status; /* of HTTP */
	const char *type;
	char *body; /* malloc */
	size_t size;
	enum web_policy policy;
	char file_name[64]; /* "": not to be saved */
	int64_t from_unix_ns, to_unix_ns;
	uint64_t cpu_ns; /* that it took */
	bool is_partial; /* windows could not be read */
	bool for_pprof;	 /* go tool pprof shows the sentence only then */
};

struct web_path {
	const char *path;
	bool is_open; /* without a token */
	/* Fills in the answer; 0, or a negative errno for a failure that has no sentence. */
	int (*answer)(struct web *web, const struct web_query *query, struct web_answer *answer);
};

/* NULL: no such path. */
const struct web_path *web_path_find(const char *path);

/* A sentence as the whole answer. */
int web_say(struct web_answer *answer, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What is wrong with the question, or that there is nothing; other errors are returned. */
int web_say_error(struct web_answer *answer, int err, const struct error *error);
/* Processes that were asked for; borrows from query. */
struct slice_choice web_choice(const struct web_query *query);
#define WEB_FIVE_MINUTES ((int64_t)(300 * NS_PER_SECOND))

/* The interval that was asked for, as long as is usual when nothing is said. -EINVAL with the
 * sentence: it ends before it begins. */
int web_interval(const struct web_query *query, int64_t usual_ns, struct history_range *ret_range,
		 struct error *error);

/* Around work that reads the store: few do it at a time. */
void web_begin_work(struct web *web);
void web_end_work(struct web *web);

int web_answer_metrics(struct web *web, const struct web_query *query, struct web_answer *answer);
int web_answer_diff(struct web *web, const struct web_query *query, struct web_answer *answer);
int web_answer_alerts(struct web *web, const struct web_query *query, struct web_answer *answer);
int web_answer_objectives(struct web *web, const struct web_query *query,
			  struct web_answer *answer);
struct format_ops;
/* The profile of a range in a format, or the sentence why not. */
int web_write_profile(struct web *web, const struct web_query *query,
		      const struct format_ops *format, const struct history_range *range,
		      struct web_answer *answer);
int web_answer_page_data(struct web *web, const struct web_query *query, struct web_answer *answer);
int web_answer_lanes(struct web *web, const struct web_query *query, struct web_answer *answer);
int web_answer_series(struct web *web, const struct web_query *query, struct web_answer *answer);

#endif
