/* SPDX-License-Identifier: BSD-2-Clause */
/* One request and its answer, on a connection of their own: what http_client.h offers without
 * libcurl. */
#ifndef PKBPF_HTTP_HTTP_EXCHANGE_H
#define PKBPF_HTTP_HTTP_EXCHANGE_H

#include "http/http_client.h"

/* As http_post() and, without a body, as http_get(). */
int http_exchange_post(const struct http_request *request, struct http_answer *ret_answer,
		       struct error *error);
int http_exchange_get(const struct http_request *request, struct http_body *body,
		      struct http_answer *ret_answer, struct error *error);

#endif
