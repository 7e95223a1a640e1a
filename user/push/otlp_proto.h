/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of OTLP as protocol buffers, from the same in JSON: the mapping of proto3 to JSON, read
 * backwards. Numbers of fields are those of version 1.9 of the protocol (opentelemetry-proto).
 */
#ifndef PKBPF_PUSH_OTLP_PROTO_H
#define PKBPF_PUSH_OTLP_PROTO_H

#include <stddef.h>

enum otlp_request { OTLP_REQUEST_METRICS, OTLP_REQUEST_PROFILES };

/* json: of otlp_metrics_write() or otlp_profiles_write(); a name that the protocol does not have is
 * -EBADMSG, as anything else that is not theirs. *ret_body is the caller's to free. -ENOMEM. */
int otlp_proto_encode(const char *json, enum otlp_request request, char **ret_body,
		      size_t *ret_size);

#endif
