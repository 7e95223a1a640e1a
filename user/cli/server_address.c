// SPDX-License-Identifier: BSD-2-Clause
#include "cli/server_address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/serve_token.h"

static int read_address(const char *text, const char *what, struct server_address *address,
			struct error *error)
{
	static const char scheme[] = "http://";
	bool has_scheme = strncmp(text, scheme, sizeof(scheme) - 1) == 0, fits;
	int length;

	if (text[0] == '/') {
		address->socket_path = text;
		snprintf(address->base, sizeof(address->base), "http://localhost");
		return 0;
	}
	length = snprintf(address->base, sizeof(address->base), "%s%s", has_scheme ? "" : scheme,
			  text);
	fits = length >= 0 && length < (int)sizeof(address->base);
	while (fits && length > 0 && address->base[length - 1] == '/')
		address->base[--length] = '\0';
	if (!fits || strchr(address->base + sizeof(scheme) - 1, '/') ||
	    http_url_check(address->base, error) < 0)
		return error_set(
			error, EINVAL,
			"invalid value '%.64s' for %s: expected ADDRESS:PORT or the path of a "
			"socket",
			text, what);
	return 0;
}

static int read_token(const char *path, struct server_address *address, struct error *error)
{
	_cleanup_free_ char *token = NULL;
	int err = serve_token_read(path, &token, error);

	if (err < 0)
		return err;
	if (asprintf(&address->authorization, "Authorization: Bearer %s", token) < 0) {
		address->authorization = NULL;
		return error_set(error, ENOMEM, "cannot ask: out of memory");
	}
	return 0;
}

int server_address_read(const char *text, const char *what, const char *token_file,
			struct server_address *ret_address, struct error *error)
{
	int err;

	*ret_address = (struct server_address){0};
	err = read_address(text, what, ret_address, error);
	return err < 0 || !token_file ? err : read_token(token_file, ret_address, error);
}

int server_address_explain(const struct server_address *address, const struct http_answer *answer,
			   struct error *error)
{
	char line[128], said[sizeof(line)];

	if (answer->status == 401)
		return error_set(error, EIO, "%s asks for its token: --token-file FILE",
				 address->base);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(answer->text, "\r\n"), answer->text);
	escape_terminal(said, sizeof(said), line);
	return error_set(error, answer->status == 503 ? EAGAIN : EIO,
			 "%s answers with status %u: %s", address->base, answer->status, said);
}

void server_address_done(struct server_address *address)
{
	free(address->authorization);
	address->authorization = NULL;
}
