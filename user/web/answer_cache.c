// SPDX-License-Identifier: BSD-2-Clause
#include "web/answer_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

void answer_cache_init(struct answer_cache *cache)
{
	memset(cache->entries, 0, sizeof(cache->entries));
	pthread_mutex_init(&cache->lock, NULL);
	pthread_cond_init(&cache->done, NULL);
}

static void drop(struct answer_entry *entry)
{
	free(entry->body);
	*entry = (struct answer_entry){0};
}

void answer_cache_done(struct answer_cache *cache)
{
	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++)
		drop(&cache->entries[i]);
	pthread_cond_destroy(&cache->done);
	pthread_mutex_destroy(&cache->lock);
}

static struct answer_entry *find(struct answer_cache *cache, const struct answer_key *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++) {
		struct answer_entry *entry = &cache->entries[i];

		if ((entry->body || entry->is_made) && !memcmp(&entry->key, key, sizeof(*key)))
			return entry;
	}
	return NULL;
}

/* NULL: all are being made. */
static struct answer_entry *oldest(struct answer_cache *cache)
{
	struct answer_entry *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++) {
		struct answer_entry *entry = &cache->entries[i];

		if (!entry->is_made && (!found || entry->used_ns < found->used_ns))
			found = entry;
	}
	return found;
}

static int copy(struct answer_entry *entry, char **ret_body, size_t *ret_size)
{
	*ret_body = malloc(entry->size + 1);
	if (!*ret_body)
		return -ENOMEM;
	memcpy(*ret_body, entry->body, entry->size);
	*ret_size = entry->size;
	entry->used_ns = clock_now_ns();
	return ANSWER_FOUND;
}

int answer_cache_take(struct answer_cache *cache, const struct answer_key *key, char **ret_body,
		      size_t *ret_size)
{
	struct answer_entry *entry;
	int state = ANSWER_TO_MAKE;

	pthread_mutex_lock(&cache->lock);
	cache->waiting++;
	while ((entry = find(cache, key)) && entry->is_made)
		pthread_cond_wait(&cache->done, &cache->lock);
	cache->waiting--;
	if (entry) {
		state = copy(entry, ret_body, ret_size);
	} else if ((entry = oldest(cache))) {
		drop(entry);
		entry->key = *key;
		entry->is_made = true;
	}
	pthread_mutex_unlock(&cache->lock);
	return state;
}

void answer_cache_put(struct answer_cache *cache, const struct answer_key *key, const char *body,
		      size_t size)
{
	struct answer_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, key);
	if (entry && entry->is_made) {
		entry->is_made = false;
		if (body && size <= ANSWER_CACHE_BODY_MAX)
			entry->body = malloc(size + 1);
		if (entry->body) {
			memcpy(entry->body, body, size);
			entry->size = size;
			entry->used_ns = clock_now_ns();
		}
		pthread_cond_broadcast(&cache->done);
	}
	pthread_mutex_unlock(&cache->lock);
}

void answer_cache_expire(struct answer_cache *cache, uint64_t since_ns)
{
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++)
		if (cache->entries[i].body && cache->entries[i].used_ns < since_ns)
			drop(&cache->entries[i]);
	pthread_mutex_unlock(&cache->lock);
}
