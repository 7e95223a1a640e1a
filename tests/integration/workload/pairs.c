// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-inline
// ldflags: -pthread
/*
 * Requests whose beginning and end are calls of functions: in one thread, and, by the address of
 * the request, from one thread to another. pairs COUNT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct request {
	int number;
	int is_done;
};

#define NOINLINE __attribute__((noinline))

NOINLINE void request_begin(int kind, struct request *request)
{
	request->number += kind;
	request->is_done = 0;
}

NOINLINE void request_end(int kind, struct request *request)
{
	request->number += kind;
	request->is_done = 1;
}

static void *finish(void *request)
{
	usleep(2000);
	request_end(1, request);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	struct request requests[2] = {{0, 0}, {0, 0}};
	pthread_t threads[2];

	for (int i = 0; i < count; i++) {
		for (int j = 0; j < 2; j++)
			request_begin(1, &requests[j]);
		for (int j = 0; j < 2; j++)
			pthread_create(&threads[j], NULL, finish, &requests[j]);
		for (int j = 0; j < 2; j++)
			pthread_join(threads[j], NULL);
	}
	for (int i = 0; i < count; i++) {
		request_begin(1, &requests[0]);
		usleep(1000);
		request_end(1, &requests[0]);
	}
	printf("%d\n", requests[0].number + requests[1].number);
	return 0;
}
