// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -g
/* Serves requests; parse_request() does PERCENT of its usual work. usage: slowed PERCENT REQUESTS
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define FUNCTION(name)                                                                             \
	__attribute__((noinline)) static void name(long steps)                                     \
	{                                                                                          \
		uint64_t x = 1;                                                                    \
                                                                                                   \
		while (steps-- > 0) {                                                              \
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;                   \
			x ^= x >> 13;                                                              \
		}                                                                                  \
		sink += x;                                                                         \
	}

FUNCTION(parse_request)
FUNCTION(look_up)
FUNCTION(write_reply)

int main(int argc, char **argv)
{
	long percent = argc > 1 ? atol(argv[1]) : 100, requests = argc > 2 ? atol(argv[2]) : 100;

	while (requests-- > 0) {
		parse_request(6000 * percent);
		look_up(250000);
		write_reply(150000);
	}
	return 0;
}
