// SPDX-License-Identifier: BSD-2-Clause
/* The server: who may ask, how much, and how answers are sent. */
#include "web/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/timed_wait.h"
#include "web/web_private.h"

/* Those beyond WEB_CONNECTIONS_KEPT are about to end. */
#define CONNECTIONS_MAX	  WEB_CONNECTIONS_MAX
#define CONNECTION_MEMORY (32U << 10)
#define INACTIVE_SECONDS  10
#define WORKING_MAX	  2
#define PARAMETERS_MAX	  16
/* Answers of pages that were closed take no memory. */
#define CACHED_NS	   (60 * NS_PER_SECOND)
#define THREAD_STACK_BYTES (1U << 20)

/* ---- who may ask ---- */

/* A page whose name resolves to us is not us: only addresses, and localhost. No browser asks a
 * socket of the file system. */
static bool is_our_name(const struct web *web, const char *host)
{
	char name[64], port[8];
	const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
	struct in6_addr address;
	size_t length;

	if (!web->options.port)
		return true;
	if (strlen(host) >= sizeof(name))
		return false;
	if (colon && bracket && colon < bracket)
		colon = NULL;
	snprintf(port, sizeof(port), "%u", web->options.port);
	if (colon && strcmp(colon + 1, port) != 0)
		return false;
	length = colon ? (size_t)(colon - host) : strlen(host);
	snprintf(name, sizeof(name), "%.*s", (int)length, host);
	if (name[0] == '[' && length > 2 && name[length - 1] == ']') {
		name[length - 1] = '\0';
		return inet_pton(AF_INET6, name + 1, &address) == 1;
	}
	return strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1;
}

static bool is_our_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
	       strcmp(origin + sizeof(scheme) - 1, host) == 0;
}

/* In a time that says nothing about where they differ. */
static bool is_token(const char *expected, const char *given)
{
	size_t length = strlen(expected), given_length = strlen(given);
	unsigned int differs = length != given_length;

	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)expected[i] ^
			   (unsigned char)(i < given_length ? given[i] : 0);
	return !differs;
}

static bool has_token(const struct web *web, struct MHD_Connection *connection)
{
	static const char scheme[] = "Bearer ";
	const char *given =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");

	return given && strncmp(given, scheme, sizeof(scheme) - 1) == 0 &&
	       is_token(web->options.token, given + sizeof(scheme) - 1);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

	return value ? value : "";
}

static bool needs_token(const struct web *web, const struct web_path *path)
{
	if (!web->options.token || path->is_open)
		return false;
	return !web->options.open_metrics || path->answer != web_answer_metrics;
}

/* true: the answer says why not. */
static bool refuse(struct web *web, struct MHD_Connection *connection, const char *method,
		   const struct web_path *path, struct web_answer *answer)
{
	const char *host = header(connection, "Host"), *origin = header(connection, "Origin");

	if (!is_our_name(web, host)) {
		web_say(answer, 421, "ask for an IP address or localhost, not for '%.64s'\n", host);
	} else if ((origin[0] && !is_our_origin(origin, host)) ||
		   strcmp(header(connection, "Sec-Fetch-Site"), "cross-site") == 0) {
		web_say(answer, 403, "pages of other sites may not ask\n");
	} else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		web_say(answer, 405, "only GET and HEAD\n");
	} else if (!path) {
		web_say(answer, 404,
			"there is no such path: /, /metrics, /debug/pprof/, /api/v1/profile, "
			"/api/v1/report, /api/v1/page, /api/v1/series, /api/v1/lanes, "
			"/api/v1/diff, "
			"/api/v1/windows, /api/v1/alerts, /api/v1/objectives, /healthz, "
			"/readyz\n");
	} else if (needs_token(web, path) && !has_token(web, connection)) {
		web_say(answer, 401, "this needs the header 'Authorization: Bearer TOKEN'\n");
	} else {
		return false;
	}
	return true;
}

/* ---- connections ---- */

static struct web_address address_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct web_address address = {0};

	if (!info || !info->client_addr)
		return address;
	if (info->client_addr->sa_family == AF_INET)
		memcpy(address.bytes, &((const struct sockaddr_in *)info->client_addr)->sin_addr,
		       sizeof(struct in_addr));
	else if (info->client_addr->sa_family == AF_INET6)
		memcpy(address.bytes, &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr,
		       sizeof(struct in6_addr));
	return address;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct web *web = context;
	const union MHD_ConnectionInfo *info;
	struct web_address address;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		web_connection_forget(&web->connections, *socket_context);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	address = address_of(connection);
	*socket_context =
		info ? web_connection_add(&web->connections, info->connect_fd, &address) : NULL;
}

static struct web_connection *connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* It may go on to ask. */
static void note_completed(void *context, struct MHD_Connection *connection, void **state,
			   enum MHD_RequestTerminationCode code)
{
	struct web *web = context;

	(void)state;
	(void)code;
	web_connection_enter(&web->connections, connection_of(connection), WEB_CONNECTION_ASKS);
}

/* What ends in the middle is no name of ours, so that it stays as it was written. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/* ---- answers ---- */

struct parameters {
	struct web_query query;
	struct error error;
	unsigned int count;
	int err;
};

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct parameters *parameters = context;

	(void)kind;
	if (++parameters->count > PARAMETERS_MAX)
		parameters->err = error_set(&parameters->error, EINVAL, "too many parameters");
	else
		parameters->err = web_query_set(&parameters->query, name, value ? value : "",
						&parameters->error);
	return parameters->err < 0 ? MHD_NO : MHD_YES;
}

static int64_t now_unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec;
}

void web_begin_work(struct web *web)
{
	pthread_mutex_lock(&web->lock);
	while (web->working >= WORKING_MAX && !web->stops)
		pthread_cond_wait(&web->news, &web->lock);
	web->working++;
	pthread_mutex_unlock(&web->lock);
}

void web_end_work(struct web *web)
{
	pthread_mutex_lock(&web->lock);
	web->working--;
	pthread_cond_broadcast(&web->news);
	pthread_mutex_unlock(&web->lock);
}

static int make_answer(struct web *web, const struct web_path *path,
		       struct MHD_Connection *connection, struct web_answer *answer)
{
	struct parameters parameters = {0};
	uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int err;

	web_query_init(&parameters.query, now_unix_ns());
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &parameters);
	if (parameters.err < 0)
		return web_say(answer, 400, "%s\n", parameters.error.text);
	err = path->answer(web, &parameters.query, answer);
	answer->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return err;
}

static void add_time(struct MHD_Response *response, const char *name, int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char text[32];

	if (unix_ns && gmtime_r(&seconds, &calendar) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &calendar))
		MHD_add_response_header(response, name, text);
}

static void add_headers(struct MHD_Response *response, const struct web_answer *answer)
{
	static const char *const policies[] = {
		[WEB_POLICY_DATA] = "default-src 'none'; frame-ancestors 'self'",
		[WEB_POLICY_PAGE] =
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
			"'self'; frame-src 'self'; img-src data:; frame-ancestors 'none'; base-uri "
			"'none'; form-action 'none'",
		[WEB_POLICY_REPORT] =
			"default-src 'none'; script-src 'unsafe-inline'; style-src "
			"'unsafe-inline'; img-src data:; frame-src blob:; frame-ancestors 'self'; "
			"base-uri 'none'; "
			"form-action 'none'",
	};
	char disposition[128], cost[48];

	MHD_add_response_header(response, "Content-Type", answer->type);
	MHD_add_response_header(response, "Content-Security-Policy", policies[answer->policy]);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	add_time(response, "X-Pkbpf-From", answer->from_unix_ns);
	add_time(response, "X-Pkbpf-To", answer->to_unix_ns);
	/* A live page asks more rarely where answers cost more. */
	snprintf(cost, sizeof(cost), "cpu;dur=%.3f", (double)answer->cpu_ns / NS_PER_MS);
	MHD_add_response_header(response, "Server-Timing", cost);
	if (answer->for_pprof && answer->status != 200)
		MHD_add_response_header(response, "X-Go-Pprof", "1");
	if (answer->status == 503)
		MHD_add_response_header(response, "Retry-After", "2");
	if (answer->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (answer->file_name[0]) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"",
			 answer->file_name);
		MHD_add_response_header(response, "Content-Disposition", disposition);
	}
}

static enum MHD_Result send_answer(struct web *web, struct MHD_Connection *connection,
				   struct web_answer *answer)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	web_connection_enter(&web->connections, connection_of(connection), WEB_CONNECTION_RECEIVES);
	response =
		MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(answer->body);
		return MHD_NO;
	}
	add_headers(response, answer);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

/* NOLINTNEXTLINE(readability-function-size): its parameters are the library's. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_size, void **ret_state)
{
	static int seen;
	struct web *web = context;
	const struct web_path *path = web_path_find(url);
	struct web_answer answer = {0};

	(void)version;
	(void)upload_data;
	/* The first call has no body yet; what a body holds nobody reads. */
	if (!*ret_state) {
		*ret_state = &seen;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	web_connection_enter(&web->connections, connection_of(connection), WEB_CONNECTION_WAITS);
	if (!refuse(web, connection, method, path, &answer) &&
	    make_answer(web, path, connection, &answer) < 0) {
		free(answer.body);
		answer = (struct web_answer){0};
		web_say(&answer, 500,
			"the answer could not be made: out of memory or a broken "
			"store\n");
	}
	return answer.body ? send_answer(web, connection, &answer) : MHD_NO;
}

/* ---- life ---- */

int web_start(const struct web_options *options, struct store *store, struct web **ret_web,
	      struct error *error)
{
	struct web *web = calloc(1, sizeof(*web));

	if (!web) {
		close(options->socket);
		return error_set(error, ENOMEM, "cannot start the server: out of memory");
	}
	web->options = *options;
	web->store = store;
	pthread_mutex_init(&web->lock, NULL);
	timed_wait_init(&web->news);
	web_connections_init(&web->connections);
	answer_cache_init(&web->cache);
	web->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, handle, web, MHD_OPTION_LISTEN_SOCKET, options->socket,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		INACTIVE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, web, MHD_OPTION_NOTIFY_COMPLETED,
		note_completed, web, MHD_OPTION_UNESCAPE_CALLBACK, unescape, web, MHD_OPTION_END);
	if (!web->daemon) {
		close(options->socket);
		web_connections_done(&web->connections);
		answer_cache_done(&web->cache);
		pthread_cond_destroy(&web->news);
		pthread_mutex_destroy(&web->lock);
		free(web);
		return error_set(error, EIO, "cannot start the server");
	}
	*ret_web = web;
	return 0;
}

void web_note_slice(struct web *web, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	uint64_t now_ns = clock_now_ns();

	web_connections_end_slow(&web->connections, now_ns);
	if (now_ns > CACHED_NS)
		answer_cache_expire(&web->cache, now_ns - CACHED_NS);
	pthread_mutex_lock(&web->lock);
	metrics_add(&web->metrics, rows);
	web->last_end_unix_ns = info->start_unix_ns + (int64_t)(info->end_ns - info->start_ns);
	pthread_cond_broadcast(&web->news);
	pthread_mutex_unlock(&web->lock);
}

void web_note_dropped(struct web *web, uint64_t slices)
{
	pthread_mutex_lock(&web->lock);
	web->metrics.dropped += slices;
	pthread_mutex_unlock(&web->lock);
}

void web_note_detail(struct web *web, unsigned int step)
{
	pthread_mutex_lock(&web->lock);
	web->metrics.detail_step = step;
	pthread_mutex_unlock(&web->lock);
}

void web_note_config(struct web *web, bool good)
{
	pthread_mutex_lock(&web->lock);
	web->metrics.config_failed = !good;
	pthread_mutex_unlock(&web->lock);
}

void web_stop(struct web *web)
{
	if (!web)
		return;
	pthread_mutex_lock(&web->lock);
	web->stops = true;
	pthread_cond_broadcast(&web->news);
	pthread_mutex_unlock(&web->lock);
	MHD_stop_daemon(web->daemon);
	web_connections_done(&web->connections);
	answer_cache_done(&web->cache);
	metrics_done(&web->metrics);
	pthread_cond_destroy(&web->news);
	pthread_mutex_destroy(&web->lock);
	free(web);
}
