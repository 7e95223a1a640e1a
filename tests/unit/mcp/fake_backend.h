/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources whose answers a test has written. */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp_backend.h"

struct fake_backend {
	/* by enum mcp_what; NULL: fails */
	const char *texts[MCP_PROFILE + 1];
	const char *offcpu; /* stacks of this kind; NULL: as the others */
	size_t sources;
	struct mcp_question last;
	char figure[64]; /* of the last one */
	size_t asked;
};

static bool fake_source_at(void *context, size_t index, struct mcp_source *ret_source)
{
	static const struct mcp_source sources[] = {{"run.pkbpf", MCP_RECORDING},
						    {"/history", MCP_STORE}};
	const struct fake_backend *fake = context;

	if (index >= fake->sources)
		return false;
	*ret_source = sources[index];
	return true;
}

static int fake_ask(void *context, const struct mcp_question *question, char **ret_text,
		    struct error *error)
{
	struct fake_backend *fake = context;
	const char *text = fake->texts[question->what];

	if (question->what == MCP_STACKS && fake->offcpu && strcmp(question->kind, "offcpu") == 0)
		text = fake->offcpu;
	fake->last = *question;
	snprintf(fake->figure, sizeof(fake->figure), "%s",
		 question->figure ? question->figure : "");
	fake->asked++;
	if (!text)
		return error_set(error, ENOENT, "no such file");
	if (!*text)
		return error_set(error, ENODATA, "nothing was recorded");
	*ret_text = strdup(text);
	return *ret_text ? 0 : -ENOMEM;
}

static inline struct mcp_backend fake_backend_of(struct fake_backend *fake)
{
	return (struct mcp_backend){fake_source_at, fake_ask, fake, false};
}

#endif
