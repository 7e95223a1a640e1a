/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a running `pkbpf serve` is asked, and with which token. */
#ifndef PKBPF_CLI_SERVER_ADDRESS_H
#define PKBPF_CLI_SERVER_ADDRESS_H

#include "base/error.h"
#include "http/http_client.h"

#define SERVER_BASE_SIZE 256

struct server_address {		     /* zero-initialised is empty */
	char base[SERVER_BASE_SIZE]; /* "http://HOST:PORT" */
	const char *socket_path;     /* borrowed; NULL: none */
	char *authorization;	     /* a header; NULL: none */
};

/* text: "127.0.0.1:7747", "http://[::1]:7747", or "/path/of/socket", borrowed; what: what it is
 * given for, as "--connect". token_file NULL: without a token. -EINVAL: what is given is wrong;
 * -ENOMEM, errors of the token's file; with the sentence. */
int server_address_read(const char *text, const char *what, const char *token_file,
			struct server_address *ret_address, struct error *error);
/* The sentence to an answer with a status other than 200: -EAGAIN: it may change, else -EIO. */
int server_address_explain(const struct server_address *address, const struct http_answer *answer,
			   struct error *error);
void server_address_done(struct server_address *address);

#endif
