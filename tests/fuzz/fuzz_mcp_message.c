// SPDX-License-Identifier: BSD-2-Clause
/* Messages of a client, a line each, and answers of sources. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mcp/mcp_server.h"

#define TOKENS 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool source_at(void *context, size_t index, struct mcp_source *ret_source)
{
	(void)context;
	*ret_source = (struct mcp_source){"a", index ? MCP_STORE : MCP_RECORDING};
	return index < 2;
}

/* The input itself: what a source says is a file of anybody. */
static int ask(void *context, const struct mcp_question *question, char **ret_text,
	       struct error *error)
{
	(void)question;
	(void)error;
	*ret_text = strdup(context);
	return *ret_text ? 0 : -12;
}

static void answer(struct mcp_server *server, const char *line, size_t size)
{
	char *id = mcp_message_id(line, size);
	char *text = mcp_server_answer(server, line, size);

	if (text && strlen(text) > 8 * TOKENS * 6 + 16384)
		abort();
	if (id)
		mcp_message_cancels(line, size, id);
	free(text);
	free(id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1), *rest = copy, *line;
	char *text = malloc(size + 1);
	struct mcp_backend backend = {source_at, ask, text, true};
	struct mcp_server server = {&backend, "1", TOKENS, false};

	if (!copy || !text)
		abort();
	memcpy(copy, data, size);
	copy[size] = '\0';
	/* The source says what stands behind the last line. */
	strcpy(text, copy);
	if (strrchr(text, '\n'))
		memmove(text, strrchr(text, '\n') + 1, strlen(strrchr(text, '\n')));
	while ((line = strsep(&rest, "\n")))
		answer(&server, line, strlen(line));
	free(text);
	free(copy);
	return 0;
}
