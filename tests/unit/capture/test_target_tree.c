// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/target_tree: children found in the live procfs, by program or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/target_tree.h"

struct tree {
	pid_t worker;	  /* forked from this test, same program */
	pid_t grandchild; /* forked from the worker */
	pid_t stranger;	  /* forked and exec'd something else */
};

static void start_tree(struct tree *tree)
{
	int pipe_fds[2];
	char byte;

	assert_int_equal(pipe(pipe_fds), 0);
	tree->worker = fork();
	if (tree->worker == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			pause();
			_exit(0);
		}
		if (write(pipe_fds[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipe_fds[0], &tree->grandchild, sizeof(tree->grandchild)),
			 sizeof(tree->grandchild));
	tree->stranger = fork();
	if (tree->stranger == 0) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		execlp("sh", "sh", "-c", "echo; exec sleep 60", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1); /* it has exec'd */
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void stop_tree(const struct tree *tree)
{
	kill(tree->grandchild, SIGKILL);
	kill(tree->worker, SIGKILL);
	kill(tree->stranger, SIGKILL);
	waitpid(tree->worker, NULL, 0);
	waitpid(tree->stranger, NULL, 0);
}

static bool contains(const struct u32_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == (uint32_t)pid)
			return true;
	}
	return false;
}

static void expand_self(enum pkbpf_follow follow, struct u32_list *list)
{
	list->items = malloc(sizeof(*list->items));
	list->items[0] = (uint32_t)getpid();
	list->count = list->capacity = 1;
	assert_int_equal(target_tree_expand("/proc", follow, list), 0);
}

static void finds_workers_but_not_other_programs(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_WORKERS, &list);
	assert_int_equal(list.count, 3);
	assert_true(contains(&list, tree.worker) && contains(&list, tree.grandchild));
	free(list.items);
	stop_tree(&tree);
}

static void finds_all_descendants(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_DESCENDANTS, &list);
	assert_int_equal(list.count, 4);
	assert_true(contains(&list, tree.stranger));
	free(list.items);
	stop_tree(&tree);
}

static void adds_nobody_when_told_so(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_NONE, &list);
	assert_int_equal(list.count, 1);
	free(list.items);
	stop_tree(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_workers_but_not_other_programs),
		cmocka_unit_test(finds_all_descendants),
		cmocka_unit_test(adds_nobody_when_told_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
