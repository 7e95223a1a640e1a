// SPDX-License-Identifier: BSD-2-Clause
// Throws through functions, and is cancelled in them, in 200 threads.
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

static std::atomic<unsigned> caught, destroyed, cancelled;

struct guard {
	~guard()
	{
		destroyed++;
	}
};

namespace steps
{
NOINLINE int maybe(int i)
{
	if (i % 2)
		throw std::runtime_error(std::string("x"));
	return i;
}

NOINLINE int through(int i)
{
	guard here;

	return maybe(i) + 1;
}

NOINLINE int catches(int i)
{
	try {
		return through(i);
	} catch (const std::exception &) {
		caught++;
		return -1;
	}
}
} // namespace steps

struct note {
	~note()
	{
		cancelled++;
	}
};

NOINLINE void waits()
{
	note here;

	for (;;)
		pause();
}

static void *waiter(void *)
{
	waits();
	return nullptr;
}

int main()
{
	std::vector<std::thread> threads;
	pthread_t waiting[5];
	long sum = 0;

	for (int i = 0; i < 200; i++)
		threads.emplace_back([] {
			for (int j = 0; j < 20; j++)
				steps::catches(j);
		});
	for (auto &thread : threads)
		thread.join();
	for (auto &thread : waiting) {
		pthread_create(&thread, nullptr, waiter, nullptr);
		usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	printf("caught %u destroyed %u cancelled %u %ld\n", caught.load(), destroyed.load(),
	       cancelled.load(), sum);
	return 5;
}
