/* SPDX-License-Identifier: BSD-2-Clause */
/* What reports say about a slow request. */
#ifndef PKBPF_ROWS_REQUEST_TEXT_H
#define PKBPF_ROWS_REQUEST_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account/request_list.h"

#define REQUEST_ID_TEXT 33

/* An id of at most 16 bytes as hexadecimal digits; returns the buffer. */
const char *request_id_text(char buffer[REQUEST_ID_TEXT], const uint8_t *id, size_t size);
/* Of its waits, without the run queue, what its reasons do not have. */
uint64_t request_other_wait_ns(const struct slow_request *request);

#endif
