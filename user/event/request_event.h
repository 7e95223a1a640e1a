/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks records of requests. */
#ifndef PKBPF_EVENT_REQUEST_EVENT_H
#define PKBPF_EVENT_REQUEST_EVENT_H

#include <pkbpf/context.h>

/* -EBADMSG. Texts are NUL-terminated then, and the parts add up to the time. */
int request_event_check(const struct pkbpf_event_header *header);

#endif
