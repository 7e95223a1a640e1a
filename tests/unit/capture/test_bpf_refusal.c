// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/kernel/bpf_refusal: which of the causes of one EPERM it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "capture/kernel/bpf_refusal.h"
#include "temp_tree.h"

#define NO_RIGHTS  "0000000000000000"
#define ADMIN	   "0000000000200000"
#define BPF_ALONE  "0000008000000000"
#define TWO_RIGHTS "000000c000000000"

static struct bpf_refusal machine(const char *effective, const char *seccomp, const char *lockdown,
				  const char *modules)
{
	struct temp_tree tree;
	struct bpf_refusal refusal;
	char status[256];

	snprintf(status, sizeof(status),
		 "Name:\tpkbpf\nCapPrm:\t000001ffffffffff\nCapEff:\t%s\nSeccomp:\t%s\n"
		 "Seccomp_filters:\t2\n",
		 effective, seccomp);
	temp_tree_init(&tree);
	temp_tree_file(&tree, "proc/self/status", status);
	temp_tree_file(&tree, "sys/kernel/security/lockdown", lockdown);
	temp_tree_file(&tree, "sys/kernel/security/lsm", modules);
	refusal = bpf_refusal_read(tree.root);
	temp_tree_done(&tree);
	return refusal;
}

static void assert_says(struct bpf_refusal refusal, const char *part)
{
	assert_non_null(strstr(bpf_refusal_text(&refusal), part));
	assert_non_null(strstr(bpf_refusal_text(&refusal), "; "));
}

static void without_rights_they_are_named(void **state)
{
	(void)state;
	assert_says(machine(NO_RIGHTS, "2", "none integrity [confidentiality]", "selinux"),
		    "CAP_BPF and CAP_PERFMON are missing");
	assert_says(machine(BPF_ALONE, "0", "[none]", ""), "CAP_BPF and CAP_PERFMON are missing");
}

static void with_rights_a_filter_is_the_cause(void **state)
{
	(void)state;
	assert_says(machine(TWO_RIGHTS, "2", "[none]", "selinux"), "seccomp filter");
	assert_says(machine(ADMIN, "2", "[none]", ""), "seccompProfile.type: Unconfined");
}

static void lockdown_counts_in_one_of_its_modes(void **state)
{
	(void)state;
	assert_says(machine(ADMIN, "0", "none integrity [confidentiality]", "selinux"),
		    "lockdown=integrity");
	assert_says(machine(ADMIN, "0", "none [integrity] confidentiality", "lockdown,selinux"),
		    "security module");
}

static void nothing_known_is_the_log(void **state)
{
	(void)state;
	assert_says(machine(ADMIN, "0", "[none] integrity confidentiality", "capability,yama"),
		    "dmesg");
}

static void rights_in_a_user_namespace_are_none(void **state)
{
	struct bpf_refusal refusal;
	struct temp_tree tree;

	(void)state;
	temp_tree_init(&tree);
	temp_tree_file(&tree, "proc/self/status", "CapEff:\t000001ffffffffff\nSeccomp:\t2\n");
	temp_tree_file(&tree, "proc/self/ns/user", "");
	refusal = bpf_refusal_read(tree.root);
	temp_tree_done(&tree);
	assert_says(refusal, "user namespace");
}

static void missing_files_are_no_rights(void **state)
{
	struct bpf_refusal refusal = bpf_refusal_read("/nonexistent");

	(void)state;
	assert_false(refusal.has_rights || refusal.is_filtered || refusal.is_locked ||
		     refusal.has_lsm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rights_they_are_named),
		cmocka_unit_test(with_rights_a_filter_is_the_cause),
		cmocka_unit_test(lockdown_counts_in_one_of_its_modes),
		cmocka_unit_test(nothing_known_is_the_log),
		cmocka_unit_test(rights_in_a_user_namespace_are_none),
		cmocka_unit_test(missing_files_are_no_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
