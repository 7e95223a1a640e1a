// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_client.h"

#include <errno.h>
#include <string.h>

#include "http/http_message.h"

int http_url_check(const char *url, struct error *error)
{
	size_t scheme = strncmp(url, "http://", 7) == 0	   ? 7
			: strncmp(url, "https://", 8) == 0 ? 8
							   : 0;
	struct http_url parsed;
	bool is_address = scheme && url[scheme] && url[scheme] != '/' && !strpbrk(url, " \t\"<>");

#ifndef PKBPF_STATIC
	/* libcurl knows user names in addresses, too. */
	if (is_address && strchr(url, '@'))
		return 0;
#endif
	if (!is_address || http_url_parse(url, &parsed) < 0)
		return error_set(error, EINVAL,
				 "'%.200s' is no address: expected http://HOST:PORT/PATH", url);
	return 0;
}

#ifdef PKBPF_STATIC

#include "http/http_exchange.h"

/* Without libraries, which cannot be loaded; what it is like has no state. */
int http_client_new(struct http_client **ret_client, struct error *error)
{
	static char any;

	(void)error;
	*ret_client = (struct http_client *)&any;
	return 0;
}

int http_post(struct http_client *client, const struct http_request *request,
	      struct http_answer *ret_answer, struct error *error)
{
	(void)client;
	return http_exchange_post(request, ret_answer, error);
}

int http_get(struct http_client *client, const struct http_request *request, struct http_body *body,
	     struct http_answer *ret_answer, struct error *error)
{
	(void)client;
	return http_exchange_get(request, body, ret_answer, error);
}

void http_client_free(struct http_client *client)
{
	(void)client;
}

#else

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "base/array.h"
#include "http/http_body.h"

struct library {
	void *handle;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_reset) *easy_reset;
	/* Variadic, and macros. */
	CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
	__typeof__(curl_easy_perform) *easy_perform;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
};

struct http_client {
	struct library library;
	CURL *curl;
};

static int load(struct library *library, struct error *error)
{
	const struct {
		const char *name;
		void *function;
	} symbols[] = {
		{"curl_easy_init", &library->easy_init},
		{"curl_easy_cleanup", &library->easy_cleanup},
		{"curl_easy_reset", &library->easy_reset},
		{"curl_easy_setopt", &library->easy_setopt},
		{"curl_easy_getinfo", &library->easy_getinfo},
		{"curl_easy_perform", &library->easy_perform},
		{"curl_easy_strerror", &library->easy_strerror},
		{"curl_slist_append", &library->slist_append},
		{"curl_slist_free_all", &library->slist_free_all},
	};

	library->handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		library->handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return error_set(error, ENOTSUP,
				 "libcurl is not installed, which sends to servers (%s)",
				 dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library->handle, symbols[i].name);

		if (!symbol)
			return error_set(error, ENOTSUP, "this libcurl has no %s", symbols[i].name);
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	return 0;
}

int http_client_new(struct http_client **ret_client, struct error *error)
{
	struct http_client *client = calloc(1, sizeof(*client));
	int err;

	if (!client)
		return error_set(error, ENOMEM, "cannot send: out of memory");
	err = load(&client->library, error);
	if (err == 0) {
		client->curl = client->library.easy_init();
		if (!client->curl)
			err = error_set(error, ENOMEM, "cannot send: out of memory");
	}
	if (err < 0) {
		http_client_free(client);
		return err;
	}
	*ret_client = client;
	return 0;
}

static size_t take_beginning(char *bytes, size_t one, size_t count, void *context)
{
	(void)one;
	return http_beginning_take(context, (const uint8_t *)bytes, count) ? count : 0;
}

static size_t take_all(char *bytes, size_t one, size_t count, void *context)
{
	(void)one;
	return http_collected_take(context, (const uint8_t *)bytes, count) ? count : 0;
}

static int note_progress(void *context, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
			 curl_off_t up)
{
	const struct http_request *request = context;

	(void)down_all;
	(void)down;
	(void)up_all;
	(void)up;
	return request->is_cancelled(request->context);
}

typedef size_t take_bytes(char *bytes, size_t one, size_t count, void *context);

static void set_options(struct http_client *client, const struct http_request *request,
			struct curl_slist *headers, take_bytes *take, void *context)
{
	__typeof__(client->library.easy_setopt) set = client->library.easy_setopt;
	CURL *curl = client->curl;

	client->library.easy_reset(curl);
	set(curl, CURLOPT_URL, request->url);
	if (request->socket_path)
		set(curl, CURLOPT_UNIX_SOCKET_PATH, request->socket_path);
	set(curl, CURLOPT_HTTPHEADER, headers);
	set(curl, CURLOPT_TIMEOUT, (long)request->timeout_seconds);
	set(curl, CURLOPT_CONNECTTIMEOUT, (long)request->timeout_seconds);
	set(curl, CURLOPT_NOSIGNAL, 1L);
	set(curl, CURLOPT_PROXY, "");
	set(curl, CURLOPT_FOLLOWLOCATION, 0L);
	set(curl, CURLOPT_USERAGENT, "pkbpf/" PKBPF_VERSION);
	if (request->is_cancelled) {
		set(curl, CURLOPT_NOPROGRESS, 0L);
		set(curl, CURLOPT_XFERINFOFUNCTION, note_progress);
		set(curl, CURLOPT_XFERINFODATA, request);
	}
	set(curl, CURLOPT_WRITEFUNCTION, take);
	set(curl, CURLOPT_WRITEDATA, context);
}

static struct curl_slist *list_headers(struct http_client *client,
				       const struct http_request *request)
{
	struct curl_slist *headers = NULL;

	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		struct curl_slist *more =
			client->library.slist_append(headers, request->headers[i]);

		headers = more ? more : headers;
	}
	return headers;
}

static CURLcode perform(struct http_client *client, struct http_answer *answer)
{
	curl_off_t retry_after = 0;
	long status = 0;
	CURLcode code = client->library.easy_perform(client->curl);

	client->library.easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	client->library.easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &retry_after);
	answer->status = (unsigned int)status;
	answer->retry_after_seconds =
		retry_after > 0 && retry_after < 86400 ? (unsigned int)retry_after : 0;
	return code;
}

int http_post(struct http_client *client, const struct http_request *request,
	      struct http_answer *ret_answer, struct error *error)
{
	struct http_beginning beginning = {.answer = ret_answer};
	struct curl_slist *headers = list_headers(client, request);
	CURLcode code;

	*ret_answer = (struct http_answer){0};
	set_options(client, request, headers, take_beginning, &beginning);
	client->library.easy_setopt(client->curl, CURLOPT_POST, 1L);
	client->library.easy_setopt(client->curl, CURLOPT_POSTFIELDS, request->body);
	client->library.easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE,
				    (curl_off_t)request->size);
	code = perform(client, ret_answer);
	client->library.slist_free_all(headers);
	/* What was broken off is an answer all the same. */
	if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && ret_answer->status))
		return error_set(error, EIO, "%s", client->library.easy_strerror(code));
	return 0;
}

int http_get(struct http_client *client, const struct http_request *request, struct http_body *body,
	     struct http_answer *ret_answer, struct error *error)
{
	struct http_collected collected;
	struct curl_slist *headers = list_headers(client, request);
	int err = 0;
	CURLcode code;

	*ret_answer = (struct http_answer){0};
	http_collected_begin(&collected, body);
	set_options(client, request, headers, take_all, &collected);
	code = perform(client, ret_answer);
	client->library.slist_free_all(headers);
	if (code != CURLE_OK)
		err = error_set(error, EIO, "%s", client->library.easy_strerror(code));
	return http_collected_end(&collected, ret_answer, err, error);
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	if (client->curl)
		client->library.easy_cleanup(client->curl);
	if (client->library.handle)
		dlclose(client->library.handle);
	free(client);
}

#endif
