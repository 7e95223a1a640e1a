// SPDX-License-Identifier: BSD-2-Clause
#include "cli/mcp_sources.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "cli/mcp_child.h"
#include "cli/server_address.h"
#include "http/http_client.h"

#define SOURCES_MAX	256
#define PROFILES_MAX	32
#define REPORT_SECONDS	120
#define SERVER_SECONDS	30
#define PROFILE_SECONDS 120 /* besides its own length */
#define URL_SIZE	8192

struct source {
	char *name; /* as it was given, or of a recording that was made */
	char *path;
	enum mcp_source_kind kind;
	struct server_address address; /* of a server */
};

struct mcp_sources {
	struct mcp_sources_options options;
	ARRAY_OF(struct source) items;
	unsigned int profiles;
	char folder[64]; /* of recordings that were made; "": none yet */
	struct http_client *http;
};

struct mcp_sources *mcp_sources_new(const struct mcp_sources_options *options)
{
	struct mcp_sources *sources = calloc(1, sizeof(*sources));

	if (sources)
		sources->options = *options;
	return sources;
}

/* ---- what there is ---- */

static struct source *add(struct mcp_sources *sources, const char *name, const char *path,
			  enum mcp_source_kind kind, struct error *error)
{
	struct source *source;

	if (sources->items.count == SOURCES_MAX) {
		error_set(error, E2BIG,
			  "cannot add %s: there are %d sources, the most there can be", path,
			  SOURCES_MAX);
		return NULL;
	}
	source = array_add(&sources->items);
	if (source)
		*source = (struct source){strdup(name), strdup(path), kind, {{0}, NULL, NULL}};
	if (source && source->name && source->path)
		return source;
	error_set(error, ENOMEM, "cannot add %s: out of memory", path);
	return NULL;
}

static int add_server(struct mcp_sources *sources, const char *path, struct error *error)
{
	struct source *source = add(sources, path, path, MCP_SERVER, error);
	int err = source && !sources->http ? http_client_new(&sources->http, error) : 0;

	if (!source || err < 0)
		return err < 0 ? err : -ENOMEM;
	return server_address_read(source->path, "a source", sources->options.token_file,
				   &source->address, error);
}

static bool is_recording(const char *name)
{
	size_t length = strlen(name), suffix = sizeof(".pkbpf") - 1;

	return length > suffix && strcmp(name + length - suffix, ".pkbpf") == 0;
}

/* A store has a folder for its slices. */
static bool is_store(const char *path)
{
	char slices[PATH_MAX];
	struct stat st;

	return snprintf(slices, sizeof(slices), "%s/slice", path) < (int)sizeof(slices) &&
	       stat(slices, &st) == 0 && S_ISDIR(st.st_mode);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int choose_recording(const struct dirent *entry)
{
	return is_recording(entry->d_name);
}

static int add_folder(struct mcp_sources *sources, const char *path, struct error *error)
{
	struct dirent **entries;
	int count = scandir(path, &entries, choose_recording, compare_names), err = 0;

	if (count < 0)
		return error_set(error, errno, "cannot read %s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (err == 0 && !add(sources, file, file, MCP_RECORDING, error))
			err = -ENOMEM;
		free(entries[i]);
	}
	free(entries);
	if (err == 0 && !count)
		return error_set(error, ENOENT,
				 "%s is no store of pkbpf serve, and has no recordings (*.pkbpf)",
				 path);
	return err;
}

int mcp_sources_add(struct mcp_sources *sources, const char *path, struct error *error)
{
	struct stat st;

	if (strncmp(path, "http://", sizeof("http://") - 1) == 0)
		return add_server(sources, path, error);
	if (stat(path, &st) < 0)
		return error_set(error, errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISSOCK(st.st_mode)) {
		if (path[0] == '/')
			return add_server(sources, path, error);
		return error_set(error, EINVAL, "%s is a socket: name it by its absolute path",
				 path);
	}
	if (S_ISDIR(st.st_mode) && !is_store(path))
		return add_folder(sources, path, error);
	if (access(path, R_OK) < 0)
		return error_set(error, errno, "cannot read %s: %s", path, strerror(errno));
	return add(sources, path, path, S_ISDIR(st.st_mode) ? MCP_STORE : MCP_RECORDING, error)
		       ? 0
		       : -ENOMEM;
}

static bool source_at(void *context, size_t index, struct mcp_source *ret_source)
{
	const struct mcp_sources *sources = context;

	if (index >= sources->items.count)
		return false;
	*ret_source = (struct mcp_source){sources->items.items[index].name,
					  sources->items.items[index].kind};
	return true;
}

/* NULL: none has this name. */
static const struct source *find(const struct mcp_sources *sources, const char *name)
{
	array_foreach(&sources->items, each)
		if (!name || strcmp(each->name, name) == 0)
			return each;
	return NULL;
}

/* ---- recordings and stores ---- */

struct words {
	struct mcp_child child;
	char pid[16], seconds[16];
};

static void begin(struct words *words, const struct mcp_sources *sources, unsigned int seconds)
{
	*words = (struct words){.child = {.limit_seconds = seconds,
					  .is_cancelled = sources->options.is_cancelled,
					  .context = sources->options.context}};
	mcp_child_add(&words->child, "pkbpf");
}

static void add_targets(struct words *words, const struct mcp_question *question)
{
	snprintf(words->pid, sizeof(words->pid), "%u", question->pid);
	mcp_child_add_option(&words->child, "--pid", question->pid ? words->pid : NULL);
	mcp_child_add_option(&words->child, "--comm", question->comm);
	mcp_child_add_option(&words->child, "--container", question->container);
}

static void add_range(struct words *words, const struct mcp_question *question)
{
	mcp_child_add_option(&words->child, "--from", question->from);
	mcp_child_add_option(&words->child, "--to", question->to);
}

static void add_stacks(struct words *words, const struct mcp_question *question)
{
	mcp_child_add_option(&words->child, "--events", question->kind);
	mcp_child_add_option(&words->child, "--format", "folded");
	if (question->wait_states && strcmp(question->kind, "offcpu") == 0)
		mcp_child_add(&words->child, "--wait-states");
}

static int ask_recording(struct mcp_sources *sources, const struct source *source,
			 const struct mcp_question *question, char **ret_text, struct error *error)
{
	struct words words;

	if (question->what == MCP_SERIES || question->what == MCP_WINDOWS)
		return error_set(error, ENOTSUP,
				 "%s is a recording: figures over time are those of a history",
				 source->name);
	begin(&words, sources, REPORT_SECONDS);
	mcp_child_add(&words.child, "report");
	mcp_child_add(&words.child, "--quiet");
	add_targets(&words, question);
	add_range(&words, question);
	if (question->what == MCP_STACKS) {
		add_stacks(&words, question);
	} else {
		mcp_child_add_option(&words.child, "--by", question->by);
		mcp_child_add_option(&words.child, "--format", "json");
	}
	mcp_child_add_option(&words.child, "--output", "-");
	mcp_child_add(&words.child, "--");
	mcp_child_add(&words.child, source->path);
	return mcp_child_run(&words.child, ret_text, error);
}

static int ask_store(struct mcp_sources *sources, const struct source *source,
		     const struct mcp_question *question, char **ret_text, struct error *error)
{
	static const char *const commands[] = {
		[MCP_REPORT] = "report",   [MCP_STACKS] = "profile", [MCP_SERIES] = "series",
		[MCP_WINDOWS] = "windows", [MCP_DIFF] = "diff",
	};
	struct words words;

	begin(&words, sources, REPORT_SECONDS);
	mcp_child_add(&words.child, "query");
	mcp_child_add(&words.child, commands[question->what]);
	mcp_child_add(&words.child, "--quiet");
	mcp_child_add_option(&words.child, "--store", source->path);
	add_targets(&words, question);
	add_range(&words, question);
	if (question->what == MCP_STACKS)
		add_stacks(&words, question);
	else
		mcp_child_add_option(&words.child, "--format",
				     question->what == MCP_DIFF ? "text" : "json");
	if (question->what == MCP_DIFF)
		mcp_child_add(&words.child, "--full");
	mcp_child_add_option(&words.child, "--base", question->base);
	mcp_child_add_option(&words.child, "--figure", question->figure);
	if (question->what == MCP_REPORT || question->what == MCP_SERIES)
		mcp_child_add_option(&words.child, "--by", question->by);
	mcp_child_add_option(&words.child, "--output", "-");
	return mcp_child_run(&words.child, ret_text, error);
}

/* ---- servers ---- */

/* false: the URL is too long. */
static bool add_parameter(char *url, const char *name, const char *value)
{
	if (!value)
		return true;
	text_append(url, URL_SIZE, "%c%s=", strchr(url, '?') ? '&' : '?', name);
	return escape_uri(url, URL_SIZE, value, "");
}

static int write_url(const struct source *source, const struct mcp_question *question,
		     char url[URL_SIZE], struct error *error)
{
	static const char *const paths[] = {
		[MCP_REPORT] = "report",   [MCP_STACKS] = "profile", [MCP_SERIES] = "series",
		[MCP_WINDOWS] = "windows", [MCP_DIFF] = "diff",
	};
	bool is_stacks = question->what == MCP_STACKS, is_diff = question->what == MCP_DIFF;
	char pid[16];
	const struct {
		const char *name, *value;
	} parameters[] = {
		{"pid", question->pid ? pid : NULL},
		{"comm", question->comm},
		{"container", question->container},
		{"from", question->from},
		{"to", question->to},
		{"base", question->base},
		{"figure", question->figure},
		{"by", question->by},
		{"kind", is_stacks ? question->kind : NULL},
		{"format", is_stacks ? "folded"
			   : is_diff ? "text"
				     : NULL},
	};

	snprintf(pid, sizeof(pid), "%u", question->pid);
	snprintf(url, URL_SIZE, "%s/api/v1/%s", source->address.base, paths[question->what]);
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (!add_parameter(url, parameters[i].name, parameters[i].value))
			return error_set(error, E2BIG,
					 "the arguments are too long for a URL: "
					 "shorten names and times");
	return 0;
}

static int ask_server(struct mcp_sources *sources, const struct source *source,
		      const struct mcp_question *question, char **ret_text, struct error *error)
{
	const char *headers[] = {source->address.authorization, NULL};
	struct http_body body = {.most = MCP_OUTPUT_MAX};
	char url[URL_SIZE];
	struct http_request request = {
		.url = url,
		.socket_path = source->address.socket_path,
		.headers = headers,
		.timeout_seconds = SERVER_SECONDS,
		.is_cancelled = sources->options.is_cancelled,
		.context = sources->options.context,
	};
	struct http_answer answer;
	int err;

	err = write_url(source, question, url, error);
	if (err < 0)
		return err;
	err = http_get(sources->http, &request, &body, &answer, error);
	if (err < 0)
		return err;
	if (answer.status == 404)
		err = error_set(error, ENODATA, "%s has no history of this interval", source->name);
	else if (answer.status != 200)
		err = server_address_explain(&source->address, &answer, error);
	else
		*ret_text = strndup(body.size ? (const char *)body.bytes : "", body.size);
	free(body.bytes);
	if (err < 0)
		return err;
	return *ret_text ? 0 : error_set(error, ENOMEM, "out of memory");
}

/* ---- comparisons ---- */

static int ask_diff(struct mcp_sources *sources, const struct source *source,
		    const struct mcp_question *question, char **ret_text, struct error *error)
{
	const struct source *base = find(sources, question->base);
	struct words words;

	if (source->kind != MCP_RECORDING) {
		if (base)
			return error_set(error, ENOTSUP,
					 "%s is a history: its base is an interval of itself: "
					 "before, hour, yesterday or lastweek",
					 source->name);
		return source->kind == MCP_STORE
			       ? ask_store(sources, source, question, ret_text, error)
			       : ask_server(sources, source, question, ret_text, error);
	}
	if (!base || base->kind != MCP_RECORDING)
		return error_set(error, ENOENT,
				 "no recording '%.100s': the tool sources lists those there are",
				 question->base);
	if (question->from || question->to)
		return error_set(error, ENOTSUP,
				 "recordings are compared as they are, without from and to");
	begin(&words, sources, REPORT_SECONDS);
	mcp_child_add(&words.child, "diff");
	mcp_child_add(&words.child, "--quiet");
	add_targets(&words, question);
	mcp_child_add(&words.child, "--full");
	mcp_child_add_option(&words.child, "--width", "160");
	mcp_child_add_option(&words.child, "--format", "text");
	mcp_child_add_option(&words.child, "--output", "-");
	mcp_child_add(&words.child, "--");
	mcp_child_add(&words.child, base->path);
	mcp_child_add(&words.child, source->path);
	return mcp_child_run(&words.child, ret_text, error);
}

/* ---- new recordings ---- */

static int make_folder(struct mcp_sources *sources, struct error *error)
{
	const char *parent = getenv("TMPDIR");

	if (sources->folder[0])
		return 0;
	if (!parent || strlen(parent) + sizeof("/pkbpf-mcp-XXXXXX") > sizeof(sources->folder))
		parent = "/tmp";
	snprintf(sources->folder, sizeof(sources->folder), "%s/pkbpf-mcp-XXXXXX", parent);
	if (mkdtemp(sources->folder))
		return 0;
	sources->folder[0] = '\0';
	return error_set(error, errno, "cannot make a folder for recordings below %s: %s", parent,
			 strerror(errno));
}

static int make_profile(struct mcp_sources *sources, const struct mcp_question *question,
			char **ret_name, struct error *error)
{
	_cleanup_free_ char *said = NULL;
	char path[128], name[32];
	struct words words;
	int err = make_folder(sources, error);

	if (err < 0)
		return err;
	if (sources->profiles == PROFILES_MAX)
		return error_set(error, E2BIG,
				 "%d profiles are kept, the most there can be: start "
				 "pkbpf mcp anew",
				 PROFILES_MAX);
	snprintf(name, sizeof(name), "profile-%u", sources->profiles + 1);
	snprintf(path, sizeof(path), "%s/%s.pkbpf", sources->folder, name);
	begin(&words, sources, question->seconds + PROFILE_SECONDS);
	add_targets(&words, question);
	snprintf(words.seconds, sizeof(words.seconds), "%u", question->seconds);
	mcp_child_add_option(&words.child, "--duration", words.seconds);
	mcp_child_add(&words.child, "--quiet");
	mcp_child_add_option(&words.child, "--output", path);
	err = mcp_child_run(&words.child, &said, error);
	if (err < 0)
		return err;
	sources->profiles++;
	if (!add(sources, name, path, MCP_RECORDING, error))
		return -ENOMEM;
	*ret_name = strdup(name);
	return *ret_name ? 0 : error_set(error, ENOMEM, "out of memory");
}

/* ---- all of them ---- */

static int ask(void *context, const struct mcp_question *question, char **ret_text,
	       struct error *error)
{
	struct mcp_sources *sources = context;
	const struct source *source = find(sources, question->source);

	*ret_text = NULL;
	if (question->what == MCP_PROFILE)
		return make_profile(sources, question, ret_text, error);
	if (!source && !question->source)
		return error_set(error, ENOENT, "there is no source yet");
	if (!source)
		return error_set(error, ENOENT,
				 "no source '%.100s': the tool sources lists those there are",
				 question->source);
	if (question->what == MCP_DIFF)
		return ask_diff(sources, source, question, ret_text, error);
	if (source->kind == MCP_RECORDING)
		return ask_recording(sources, source, question, ret_text, error);
	return source->kind == MCP_STORE ? ask_store(sources, source, question, ret_text, error)
					 : ask_server(sources, source, question, ret_text, error);
}

struct mcp_backend mcp_sources_backend(struct mcp_sources *sources)
{
	return (struct mcp_backend){source_at, ask, sources, sources->options.allows_profile};
}

static void remove_profiles(struct mcp_sources *sources)
{
	char path[128];

	if (!sources->folder[0])
		return;
	/* One more: it may have been interrupted. */
	for (unsigned int i = 1; i <= sources->profiles + 1; i++) {
		snprintf(path, sizeof(path), "%s/profile-%u.pkbpf", sources->folder, i);
		unlink(path);
	}
	rmdir(sources->folder);
}

void mcp_sources_free(struct mcp_sources *sources)
{
	if (!sources)
		return;
	remove_profiles(sources);
	array_foreach(&sources->items, source) {
		free(source->name);
		free(source->path);
		server_address_done(&source->address);
	}
	array_free(&sources->items);
	http_client_free(sources->http);
	free(sources);
}
