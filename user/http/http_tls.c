// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_tls.h"

#include <errno.h>
#include <stdlib.h>

#ifdef PKBPF_STATIC

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/ssl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define REASON_SIZE 160

struct http_tls {
	mbedtls_net_context socket;
	mbedtls_ssl_context ssl;
	mbedtls_ssl_config config;
	mbedtls_x509_crt authorities;
	mbedtls_entropy_context entropy;
	mbedtls_ctr_drbg_context random;
};

/* Debian, Fedora, SUSE, Alpine. */
static const char *const authority_files[] = {"/etc/ssl/certs/ca-certificates.crt",
					      "/etc/pki/tls/certs/ca-bundle.crt",
					      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

static const char *find_authorities(void)
{
	const char *chosen = getenv("SSL_CERT_FILE");

	if (chosen && *chosen)
		return chosen;
	for (size_t i = 0; i < ARRAY_SIZE(authority_files); i++)
		if (access(authority_files[i], R_OK) == 0)
			return authority_files[i];
	return NULL;
}

static int say(struct error *error, const char *what, int code)
{
	char reason[REASON_SIZE];

	mbedtls_strerror(code, reason, sizeof(reason));
	return error_set(error, EIO, "%s: %s", what, reason);
}

static int read_authorities(struct http_tls *tls, struct error *error)
{
	const char *path = find_authorities();
	int code;

	if (!path)
		return error_set(error, EIO,
				 "no file of certificate authorities is here; install "
				 "ca-certificates, or name one in SSL_CERT_FILE");
	code = mbedtls_x509_crt_parse_file(&tls->authorities, path);
	if (code == MBEDTLS_ERR_PK_FILE_IO_ERROR || code == MBEDTLS_ERR_X509_FILE_IO_ERROR)
		return error_set(error, EIO,
				 "the certificate authorities in %s cannot be read by the user "
				 "that sends",
				 path);
	/* Above 0: so many of them cannot be read, as of newer algorithms. */
	if (code < 0 || !tls->authorities.version)
		return error_set(error, EIO, "%s holds no certificate authorities", path);
	return 0;
}

static int configure(struct http_tls *tls, const char *host, struct error *error)
{
	int code =
		mbedtls_ctr_drbg_seed(&tls->random, mbedtls_entropy_func, &tls->entropy, NULL, 0);

	if (!code)
		code = mbedtls_ssl_config_defaults(&tls->config, MBEDTLS_SSL_IS_CLIENT,
						   MBEDTLS_SSL_TRANSPORT_STREAM,
						   MBEDTLS_SSL_PRESET_DEFAULT);
	if (code)
		return say(error, "cannot prepare TLS", code);
	mbedtls_ssl_conf_min_version(&tls->config, MBEDTLS_SSL_MAJOR_VERSION_3,
				     MBEDTLS_SSL_MINOR_VERSION_3);
	mbedtls_ssl_conf_authmode(&tls->config, MBEDTLS_SSL_VERIFY_REQUIRED);
	mbedtls_ssl_conf_ca_chain(&tls->config, &tls->authorities, NULL);
	mbedtls_ssl_conf_rng(&tls->config, mbedtls_ctr_drbg_random, &tls->random);
	code = mbedtls_ssl_setup(&tls->ssl, &tls->config);
	if (!code)
		code = mbedtls_ssl_set_hostname(&tls->ssl, host);
	if (code)
		return say(error, "cannot prepare TLS", code);
	mbedtls_ssl_set_bio(&tls->ssl, &tls->socket, mbedtls_net_send, mbedtls_net_recv, NULL);
	return 0;
}

int http_tls_new(int fd, const char *host, struct http_tls **ret_tls, struct error *error)
{
	struct http_tls *tls = calloc(1, sizeof(*tls));
	int err;

	if (!tls)
		return error_set(error, ENOMEM, "out of memory");
	tls->socket.fd = fd;
	mbedtls_ssl_init(&tls->ssl);
	mbedtls_ssl_config_init(&tls->config);
	mbedtls_x509_crt_init(&tls->authorities);
	mbedtls_entropy_init(&tls->entropy);
	mbedtls_ctr_drbg_init(&tls->random);
	err = read_authorities(tls, error);
	if (err == 0)
		err = configure(tls, host, error);
	if (err < 0) {
		http_tls_free(tls);
		return err;
	}
	*ret_tls = tls;
	return 0;
}

static bool is_pending(int code, short *ret_events)
{
	*ret_events = code == MBEDTLS_ERR_SSL_WANT_WRITE ? POLLOUT : POLLIN;
	return code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE;
}

int http_tls_shake_hands(struct http_tls *tls, short *ret_events, struct error *error)
{
	int code = mbedtls_ssl_handshake(&tls->ssl);
	char reason[REASON_SIZE] = "";
	uint32_t flags;

	if (!code)
		return 0;
	if (is_pending(code, ret_events))
		return -EAGAIN;
	flags = mbedtls_ssl_get_verify_result(&tls->ssl);
	if (code == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED && flags &&
	    mbedtls_x509_crt_verify_info(reason, sizeof(reason), "", flags) > 0) {
		reason[strcspn(reason, "\n")] = '\0';
		return error_set(error, EIO, "the server's certificate is refused: %s", reason);
	}
	if (code == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE)
		return error_set(error, EIO,
				 "the server refused the TLS handshake; this pkbpf has TLS 1.2, "
				 "not 1.3 alone");
	return say(error, "the TLS handshake failed", code);
}

ssize_t http_tls_send(struct http_tls *tls, const void *bytes, size_t size, short *ret_events,
		      struct error *error)
{
	int code = mbedtls_ssl_write(&tls->ssl, bytes, size);

	if (code >= 0)
		return code;
	return is_pending(code, ret_events) ? -EAGAIN : say(error, "cannot send", code);
}

ssize_t http_tls_receive(struct http_tls *tls, void *bytes, size_t size, short *ret_events,
			 struct error *error)
{
	int code = mbedtls_ssl_read(&tls->ssl, bytes, size);

	if (code == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
		return 0;
	if (code > 0)
		return code;
	/* An unsigned end of the connection may be an attacker's. */
	if (!code)
		return error_set(error, EIO, "the connection broke");
	return is_pending(code, ret_events) ? -EAGAIN : say(error, "the connection broke", code);
}

void http_tls_free(struct http_tls *tls)
{
	if (!tls)
		return;
	mbedtls_ssl_free(&tls->ssl);
	mbedtls_ssl_config_free(&tls->config);
	mbedtls_x509_crt_free(&tls->authorities);
	mbedtls_ctr_drbg_free(&tls->random);
	mbedtls_entropy_free(&tls->entropy);
	free(tls);
}

#else

int http_tls_new(int fd, const char *host, struct http_tls **ret_tls, struct error *error)
{
	(void)fd;
	(void)host;
	(void)ret_tls;
	return error_set(error, ENOTSUP, "this build has no TLS of its own");
}

int http_tls_shake_hands(struct http_tls *tls, short *ret_events, struct error *error)
{
	(void)tls;
	(void)ret_events;
	return error_set(error, ENOTSUP, "this build has no TLS of its own");
}

ssize_t http_tls_send(struct http_tls *tls, const void *bytes, size_t size, short *ret_events,
		      struct error *error)
{
	(void)bytes;
	(void)size;
	return http_tls_shake_hands(tls, ret_events, error);
}

ssize_t http_tls_receive(struct http_tls *tls, void *bytes, size_t size, short *ret_events,
			 struct error *error)
{
	(void)bytes;
	(void)size;
	return http_tls_shake_hands(tls, ret_events, error);
}

void http_tls_free(struct http_tls *tls)
{
	(void)tls;
}

#endif
