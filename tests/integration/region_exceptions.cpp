// SPDX-License-Identifier: BSD-2-Clause
// Throws through regions, in 200 threads.
#include <pkbpf/pkbpf.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<unsigned> caught;

static __attribute__((noinline)) void thrower(int depth)
{
	PKBPF_REGION("thrower");

	if (depth)
		thrower(depth - 1);
	throw std::runtime_error("x");
}

static void run()
{
	for (int i = 0; i < 20; i++) {
		PKBPF_REGION_ITEMS("try", 2);
		try {
			thrower(3);
		} catch (const std::exception &) {
			caught++;
		}
	}
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 200; i++)
		threads.emplace_back(run);
	for (auto &thread : threads)
		thread.join();
	printf("caught %u\n", caught.load());
	return 5;
}
