// SPDX-License-Identifier: BSD-2-Clause
/* Feeds texts to the JSON reader, and visits every value of what it accepts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t visit(const struct json_value *value)
{
	size_t count = 1;
	double number;

	if (strlen(json_key(value)) > JSON_SIZE_MAX)
		abort();
	if (json_string(value))
		count += strlen(json_string(value));
	if (json_number(value, &number) && json_kind_of(value) != JSON_NUMBER)
		abort();
	for (const struct json_value *item = json_first(value); item; item = json_next(item))
		count += visit(item);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_tree *tree;
	struct error error = {""};

	if (json_tree_parse((const char *)data, size, &tree, &error) < 0) {
		if (!error.text[0])
			abort();
		return 0;
	}
	/* Keys, texts and values are no more than what was read. */
	if (visit(json_tree_root(tree)) > 2 * size)
		abort();
	json_tree_free(tree);
	return 0;
}
