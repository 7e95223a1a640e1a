/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of libbpf and the verifier, kept for the error of a failed load. */
#ifndef PKBPF_CAPTURE_KERNEL_LIBBPF_LOG_H
#define PKBPF_CAPTURE_KERNEL_LIBBPF_LOG_H

#include "base/log.h"

/* Sends libbpf's messages to log at debug level and keeps the latest warnings. libbpf has one
 * print function for the whole process and passes it no context, so only this file has global
 * state. One session at a time. */
void libbpf_log_begin(const struct log *log);
void libbpf_log_end(void);
/* The program that failed to load and the verifier's last line, from the warnings kept; "" when
 * unknown. */
void libbpf_log_failure(char *ret_program, unsigned int program_size, char *ret_reason,
			unsigned int reason_size);

/* "v1.1": the library that is linked in or loaded. Static. */
const char *libbpf_version_name(void);

#endif
