// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/kernel/privileges and capability: what is given up stays so, and what is
 * missing has its reason and its remedy. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/kernel/capability.h"
#include "capture/kernel/privileges.h"

#define BIT(capability) (1ULL << (capability))

/* A hexadecimal line of /proc/self/status. */
static uint64_t status_word(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t word = UINT64_MAX;
	size_t length = strlen(name);
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			word = strtoull(line + length + 1, NULL, 16);
	if (file)
		fclose(file);
	return word;
}

/* Exit status of a child that has given up what it can. */
static int in_child(bool has_network, int (*check)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct log log = {0};
		struct error error;

		_exit(privileges_reduce(has_network, &log, &error) < 0 ? 99 : check());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int look_at_capabilities(void)
{
	static const char *const sets[] = {"CapPrm", "CapEff"};
	const uint64_t never = BIT(CAP_SYS_MODULE) | BIT(CAP_SYS_BOOT) | BIT(CAP_SYS_TIME) |
			       BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_RAWIO) | BIT(CAP_MKNOD) |
			       BIT(CAP_SYS_CHROOT) | BIT(CAP_SETPCAP);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (status_word(sets[i]) & never)
			return 1;
	if (status_word("CapInh") || status_word("CapAmb"))
		return 2;
	return status_word("NoNewPrivs") == 1 ? 0 : 3;
}

static int look_at_what_is_kept(void)
{
	const uint64_t needed = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) |
				BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL);

	return (status_word("CapEff") & needed) == needed ? 0 : 1;
}

static int look_at_bound(void)
{
	return status_word("CapBnd") & (BIT(CAP_SYS_MODULE) | BIT(CAP_SYS_BOOT)) ? 1 : 0;
}

static int open_network_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

static void capabilities_that_are_never_used_are_gone(void **state)
{
	assert_int_equal(in_child(false, look_at_capabilities), 0);
	if (status_word("CapEff") & BIT(CAP_SETPCAP))
		assert_int_equal(in_child(false, look_at_bound), 0);
}

static void capabilities_of_a_capture_stay(void **state)
{
	const uint64_t needed = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) |
				BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL);

	if ((status_word("CapEff") & needed) != needed)
		skip();
	assert_int_equal(in_child(false, look_at_what_is_kept), 0);
}

static void the_network_is_for_those_that_download(void **state)
{
	if (in_child(true, open_network_socket) != 1)
		skip();
	assert_int_equal(in_child(false, open_network_socket), 0);
}

/* Whoever runs this, as root or not. */
static void what_is_missing_has_its_reason(void **state)
{
	for (int i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability_ops *ops = capability_get((enum capability)i);
		struct error error = {0};

		assert_non_null(ops->name);
		assert_non_null(ops->probe);
		/* Nothing works without what is required. */
		assert_true(ops->required == !ops->without);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(ops->name,
						capability_get((enum capability)j)->name);
		if (ops->probe(&error))
			continue;
		assert_true(strlen(error.text) > 20);
		assert_null(strchr(error.text, '\n'));
	}
}

static void the_first_that_is_required_and_missing_is_told(void **state)
{
	struct error error = {0}, reason = {0};
	int err = capability_check_required(&error), expected = 0;

	for (int i = 0; i < CAPABILITY_COUNT && !expected; i++) {
		const struct capability_ops *ops = capability_get((enum capability)i);

		if (ops->required && !ops->probe(&reason))
			expected = i == CAPABILITY_PRIVILEGED || i == CAPABILITY_PERF_EVENT
					   ? -EPERM
					   : -ENOTSUP;
	}
	assert_int_equal(err, expected);
	if (err)
		assert_string_equal(error.text, reason.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_that_are_never_used_are_gone),
		cmocka_unit_test(capabilities_of_a_capture_stay),
		cmocka_unit_test(the_network_is_for_those_that_download),
		cmocka_unit_test(what_is_missing_has_its_reason),
		cmocka_unit_test(the_first_that_is_required_and_missing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
