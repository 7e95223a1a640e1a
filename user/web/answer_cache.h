/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers about windows of the history, which never change: each is made once for all viewers of a
 * live page. Any thread. */
#ifndef PKBPF_WEB_ANSWER_CACHE_H
#define PKBPF_WEB_ANSWER_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_CACHE_ENTRIES 4
/* A longer answer is made for each viewer. */
#define ANSWER_CACHE_BODY_MAX (4U << 20)

/* Compared as bytes: begins as zeros. */
struct answer_key {
	int64_t from_unix_ns, to_unix_ns; /* of the windows */
	uint64_t windows;		  /* count */
	uint32_t pid, by, top, unused;
	char comm[256], container[256];
};

struct answer_cache {
	pthread_mutex_t lock;
	pthread_cond_t done;  /* one that was being made */
	unsigned int waiting; /* threads */
	struct answer_entry {
		struct answer_key key;
		char *body; /* NULL: free, or being made */
		size_t size;
		bool is_made; /* by a thread, now */
		uint64_t used_ns;
	} entries[ANSWER_CACHE_ENTRIES];
};

void answer_cache_init(struct answer_cache *cache);
void answer_cache_done(struct answer_cache *cache);

enum answer_state {
	ANSWER_FOUND,  /* *ret_body is a copy */
	ANSWER_TO_MAKE /* answer_cache_put() has to follow */
};

/* Waits while another thread makes it. -ENOMEM, or enum answer_state. */
int answer_cache_take(struct answer_cache *cache, const struct answer_key *key, char **ret_body,
		      size_t *ret_size);
/* A copy stays. body NULL: there is no answer, and threads that wait for it make their own. */
void answer_cache_put(struct answer_cache *cache, const struct answer_key *key, const char *body,
		      size_t size);
/* Frees what was not used since that time of clock_now_ns(). */
void answer_cache_expire(struct answer_cache *cache, uint64_t since_ns);

#endif
