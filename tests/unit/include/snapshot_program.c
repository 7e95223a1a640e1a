// SPDX-License-Identifier: BSD-2-Clause
/* Memory of this process by pkbpf_snapshot.h: what it allocates, touches and frees. Exit status 0:
 * all is as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <pkbpf/pkbpf_snapshot.h>

#define MIB    (1LL << 20)
#define BLOCKS 4096
#define SIZE   2000

static int failures;

static void check(int holds, const char *what, long long value)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %lld\n", what, value);
	failures++;
}

int main(void)
{
	static char *blocks[BLOCKS];
	struct pkbpf_memory before, after;
	long long grown;
	char *map;

	check(pkbpf_snapshot(&before) == 0, "the first", 0);
	map = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(map, 1, 32 * MIB);
	check(pkbpf_snapshot(&after) == 0, "the second", 0);
	grown = pkbpf_snapshot_growth(&before, &after, rss);
	check(grown >= 32 * MIB && grown < 33 * MIB, "RSS grew by", grown);
	grown = pkbpf_snapshot_growth(&before, &after, private_rss);
	check(grown >= 32 * MIB && grown < 33 * MIB, "private memory grew by", grown);
	check(after.peak_rss >= after.rss, "the peak", (long long)after.peak_rss);
	munmap(map, 32 * MIB);
	check(pkbpf_snapshot(&after) == 0, "the third", 0);
	check(pkbpf_snapshot_growth(&before, &after, rss) < MIB, "RSS after that",
	      pkbpf_snapshot_growth(&before, &after, rss));
	check(pkbpf_snapshot_growth(&before, &after, peak_rss) > 30 * MIB, "the peak after that",
	      pkbpf_snapshot_growth(&before, &after, peak_rss));

	pkbpf_snapshot(&before);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(SIZE);
	pkbpf_snapshot(&after);
	if (after.has_heap) {
		grown = pkbpf_snapshot_growth(&before, &after, heap_used);
		check(grown >= BLOCKS * SIZE && grown < BLOCKS * (SIZE + 64) + MIB,
		      "the heap grew by", grown);
		/* Each second one: nothing of it can be given back. */
		for (int i = 0; i < BLOCKS; i += 2)
			free(blocks[i]);
		pkbpf_snapshot(&after);
		check(pkbpf_snapshot_fragmentation(&after) > 0.4 &&
			      pkbpf_snapshot_fragmentation(&after) < 0.6,
		      "free but held, percent",
		      (long long)(100 * pkbpf_snapshot_fragmentation(&after)));
	}
	return failures != 0;
}
