/* SPDX-License-Identifier: BSD-2-Clause */
/* Relations between processes: sampled wakers, holders of file locks, peers that did not answer,
 * and limits. At most RELATION_MAX; later ones only add to existing ones. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_RELATION_LIST_H
#define PKBPF_PROFILE_ACCOUNT_RELATION_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/resource.h>

#define RELATION_MAX	   8192
#define RELATION_TEXT_SIZE 128
#define RELATION_NO_STACK  UINT32_MAX

struct relation {
	enum pkbpf_relation kind;
	uint32_t pid, other_pid;
	uint32_t stack, other_stack; /* of the profile; RELATION_NO_STACK: none */
	char other_comm[PKBPF_COMM_SIZE + 1];
	char text[RELATION_TEXT_SIZE]; /* not escaped; truncated */
	uint64_t count, value;
};

struct relation_list;

/* Adds count and value to the relation with the same key. -ENOMEM; -ENOSPC. */
int relation_list_add(struct relation_list *list, const struct relation *relation);
const struct relation *relation_list_at(const struct relation_list *list, size_t index);
size_t relation_list_count(const struct relation_list *list);

#endif
