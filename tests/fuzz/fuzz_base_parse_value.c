// SPDX-License-Identifier: BSD-2-Clause
/* Feeds typed text to every option parser: results stay in their bounds, refusals touch nothing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse_value.h"

#define UNTOUCHED  0xa5a5a5a5a5a5a5a5ULL
#define CENTURY_NS (100ULL * 365 * 24 * 3600 * 1000000000)
#define LIST_MAX   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_value(int err, uint64_t value, uint64_t min, uint64_t max,
			const struct error *error)
{
	if (err == 0) {
		require(value >= min && value <= max && !error->text[0]);
	} else {
		require(err < 0 && value == UNTOUCHED);
		require(memchr(error->text, 0, sizeof(error->text)) && strstr(error->text, "--it"));
	}
}

static void check_list(const char *text)
{
	struct u32_list list = {0};
	struct error error = {""};
	int err = parse_u32_list("77", "--it", 1000, &list, &error);

	require(err == 0 && list.count == 1);
	err = parse_u32_list(text, "--it", 1000, &list, &error);
	require((err == 0) == !error.text[0]);
	require(err == 0 || list.count == 1);
	require(list.count <= LIST_MAX && list.items[0] == 77);
	for (size_t i = 1; i < list.count; i++) {
		require(list.items[i] >= 1 && list.items[i] <= 1000);
		for (size_t j = 0; j < i; j++)
			require(list.items[i] != list.items[j]);
	}
	free(list.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct error errors[4] = {{""}, {""}, {""}, {""}};
	uint64_t value;
	int err;

	if (!text)
		return 0;
	value = UNTOUCHED;
	err = parse_u64(text, "--it", 3, 1ULL << 60, &value, &errors[0]);
	check_value(err, value, 3, 1ULL << 60, &errors[0]);
	if (err == 0) /* an implementation not ours agrees */
		require(value == strtoull(text, NULL, 10));

	value = UNTOUCHED;
	err = parse_u64(text, "--it", 0, UINT64_MAX, &value, &errors[1]);
	check_value(err, value, 0, UINT64_MAX, &errors[1]);

	value = UNTOUCHED;
	err = parse_duration_ns(text, "--it", &value, &errors[2]);
	check_value(err, value, 1, CENTURY_NS, &errors[2]);

	value = UNTOUCHED;
	err = parse_size_bytes(text, "--it", &value, &errors[3]);
	check_value(err, value, 0, UINT64_MAX, &errors[3]);

	check_list(text);
	return 0;
}
