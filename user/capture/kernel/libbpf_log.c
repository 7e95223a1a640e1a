// SPDX-License-Identifier: BSD-2-Clause
/* Keeps messages of libbpf and the verifier for the error message of a failed load. */
#include "capture/kernel/libbpf_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define KEPT_BYTES 16384

static struct {
	const struct log *log;
	char kept[KEPT_BYTES];
	size_t kept_size;
} state;

__attribute__((format(printf, 2, 0))) static int print(enum libbpf_print_level level,
						       const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;
	const char *kept;
	size_t size;

	/* A load has some three thousand messages, useful only for debugging. */
	if (level != LIBBPF_WARN && !log_wants(state.log, LOG_DEBUG))
		return 0;
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return 0;
	}
	size = strlen(text);
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	log_debug(state.log, "libbpf: %s", text);
	if (level != LIBBPF_WARN)
		return 0;
	/* The verifier's log ends with its verdict. */
	kept = text;
	if (size > KEPT_BYTES / 2) {
		kept += size - KEPT_BYTES / 2;
		size = KEPT_BYTES / 2;
	}
	if (state.kept_size + size + 2 > sizeof(state.kept))
		state.kept_size = 0; /* the newest messages explain the failure */
	memcpy(state.kept + state.kept_size, kept, size);
	state.kept_size += size;
	state.kept[state.kept_size++] = '\n';
	state.kept[state.kept_size] = '\0';
	return 0;
}

void libbpf_log_begin(const struct log *log)
{
	state.log = log;
	state.kept_size = 0;
	state.kept[0] = '\0';
	libbpf_set_print(print);
}

void libbpf_log_end(void)
{
	state.log = NULL;
	libbpf_set_print(NULL);
}

/* The verifier's reason is the line before its statistics ("processed 123 insns …"). */
static void copy_verdict(char *reason, unsigned int size)
{
	const char *stats = strstr(state.kept, "\nprocessed ");
	const char *start;

	if (!stats)
		return;
	for (start = stats; start > state.kept && start[-1] != '\n';)
		start--;
	snprintf(reason, size, "%.*s", (int)(stats - start), start);
}

void libbpf_log_failure(char *ret_program, unsigned int program_size, char *ret_reason,
			unsigned int reason_size)
{
	const char *start = strstr(state.kept, "prog '");
	const char *end = start ? strchr(start + 6, '\'') : NULL;

	ret_program[0] = ret_reason[0] = '\0';
	if (end)
		snprintf(ret_program, program_size, "%.*s", (int)(end - start - 6), start + 6);
	copy_verdict(ret_reason, reason_size);
}

const char *libbpf_version_name(void)
{
	return libbpf_version_string();
}
