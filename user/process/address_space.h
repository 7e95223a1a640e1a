/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of one process at one moment. Copies share memory until one of them changes, so a
 * fork costs a few words. One owner thread for all copies. */
#ifndef PKBPF_PROCESS_ADDRESS_SPACE_H
#define PKBPF_PROCESS_ADDRESS_SPACE_H

#include "process/mapping_list.h"

struct address_space;

struct address_space *address_space_new(void);
/* The same with a budget that copies share; shared memory counts once. */
struct address_space *address_space_new_within(struct mapping_budget *budget);
struct address_space *address_space_copy(const struct address_space *from);
void address_space_free(struct address_space *space);
/* As mapping_list_add() and mapping_list_remove(), and with their errors. */
int address_space_add(struct address_space *space, const struct mapping *mapping);
int address_space_remove(struct address_space *space, uint64_t start, uint64_t end);
/* The mapping that contains address, or NULL. Valid until the next add or remove. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t address);
/* All mappings; valid equally long. */
const struct mapping_list *address_space_mappings(const struct address_space *space);

#endif
