/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS 1.2 on a socket that does not block, by mbedTLS: in the program of one file only, where
 * libcurl cannot be loaded. */
#ifndef PKBPF_HTTP_HTTP_TLS_H
#define PKBPF_HTTP_HTTP_TLS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct http_tls;

/* The server's certificate must be of this host, by an authority in the file of SSL_CERT_FILE or
 * where distributions have theirs. -ENOTSUP: this build has no TLS; -EIO: no such file; with the
 * sentence. */
int http_tls_new(int fd, const char *host, struct http_tls **ret_tls, struct error *error);
/* The next three: -EAGAIN: once the socket is ready for *ret_events, again. */
int http_tls_shake_hands(struct http_tls *tls, short *ret_events, struct error *error);
ssize_t http_tls_send(struct http_tls *tls, const void *bytes, size_t size, short *ret_events,
		      struct error *error);
/* 0: the server has said that it ends. */
ssize_t http_tls_receive(struct http_tls *tls, void *bytes, size_t size, short *ret_events,
			 struct error *error);
void http_tls_free(struct http_tls *tls); /* NULL is fine */

#endif
