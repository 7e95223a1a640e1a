// SPDX-License-Identifier: BSD-2-Clause
/* Reference counting of code maps. */
#include "unwind/code/code_map.h"

#include <stdlib.h>

struct code_map *code_map_new(void)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (map)
		map->references = 1;
	return map;
}

struct code_map *code_map_share(struct code_map *map)
{
	map->references++;
	return map;
}

bool code_map_drop(struct code_map *map)
{
	return --map->references == 0;
}

void code_map_free(struct code_map *map)
{
	if (!map)
		return;
	mapping_list_done(&map->list);
	free(map);
}

struct code_map *code_map_copy(const struct code_map *map)
{
	struct code_map *copy = code_map_new();

	if (copy && mapping_list_copy(&map->list, &copy->list)) {
		free(copy);
		return NULL;
	}
	return copy;
}
