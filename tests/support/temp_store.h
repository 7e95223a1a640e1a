/* SPDX-License-Identifier: BSD-2-Clause */
/* An empty store in a folder of the test's own. */
#ifndef PKBPF_TESTS_TEMP_STORE_H
#define PKBPF_TESTS_TEMP_STORE_H

#include "store/store.h"
#include "temp_tree.h"

/* Makes the folder, too: temp_tree_done() after store_close(). */
static inline struct store *temp_store_open(struct temp_tree *tree)
{
	struct store_options options;
	struct store *store = NULL;
	struct error error;

	temp_tree_init(tree);
	options = (struct store_options){.path = tree->root, .max_bytes = 1ULL << 30};
	if (store_open(&options, &store, &error) < 0)
		fail_msg("%s", error.text);
	return store;
}

#endif
