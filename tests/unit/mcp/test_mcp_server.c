// SPDX-License-Identifier: BSD-2-Clause
/* Tests the protocol: both ways to begin, errors with their codes, and what gets no answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/array.h"
#include "fake_backend.h"
#include "mcp/mcp_server.h"
#include "mcp/mcp_text.h"

#define META                                                                                       \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

static struct fake_backend fake;
static struct mcp_backend backend;
static struct mcp_server server;

static int begin(void **state)
{
	(void)state;
	fake = (struct fake_backend){.texts = {[MCP_REPORT] = "{\"findings\":[]}"}, .sources = 2};
	backend = fake_backend_of(&fake);
	server = (struct mcp_server){.backend = &backend, .version = "1.2", .answer_tokens = 1000};
	return 0;
}

/* NULL: no answer. */
static json_t *ask(const char *message)
{
	char *text = mcp_server_answer(&server, message, strlen(message));
	json_t *answer = text ? json_loads(text, 0, NULL) : NULL;

	assert_true(!text || answer);
	assert_true(!text || !strchr(text, '\n'));
	free(text);
	if (answer)
		assert_string_equal(mcp_json_text(answer, "jsonrpc"), "2.0");
	return answer;
}

static void assert_error(const char *message, int code)
{
	json_t *answer = ask(message);

	assert_non_null(answer);
	assert_null(json_object_get(answer, "result"));
	assert_int_equal(json_integer_value(mcp_json_at(answer, "error.code")), code);
	assert_true(mcp_json_text(answer, "error.message")[0] != '\0');
	json_decref(answer);
}

static void a_request_that_says_its_version_needs_no_beginning(void **state)
{
	json_t *answer = ask("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\","
			     "\"params\":{" META "}}");

	(void)state;
	assert_string_equal(mcp_json_text(answer, "id"), "a");
	assert_string_equal(mcp_json_text(answer, "result.resultType"), "complete");
	assert_true(json_is_integer(mcp_json_at(answer, "result.ttlMs")));
	assert_string_equal(mcp_json_text(answer, "result.cacheScope"), "public");
	assert_true(json_array_size(mcp_json_at(answer, "result.tools")) >= 10);
	json_decref(answer);
	assert_false(server.is_initialized);

	answer =
		ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META
		    "}}");
	assert_string_equal(json_string_value(json_array_get(
				    mcp_json_at(answer, "result.supportedVersions"), 0)),
			    "2026-07-28");
	assert_true(json_is_object(mcp_json_at(answer, "result.capabilities.tools")));
	json_decref(answer);
}

static void earlier_clients_begin_with_initialize(void **state)
{
	static const char *const versions[][2] = {{"2025-06-18", "2025-06-18"},
						  {"2024-11-05", "2024-11-05"},
						  {"2031-01-01", "2025-11-25"},
						  {"2026-07-28", "2025-11-25"}};
	char message[200];
	json_t *answer;

	(void)state;
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", -32602);
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
			 "\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
			 versions[i][0]);
		answer = ask(message);
		assert_string_equal(mcp_json_text(answer, "result.protocolVersion"),
				    versions[i][1]);
		assert_string_equal(mcp_json_text(answer, "result.serverInfo.version"), "1.2");
		assert_null(mcp_json_at(answer, "result.resultType"));
		json_decref(answer);
	}
	assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	answer = ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
	assert_null(mcp_json_at(answer, "result.resultType"));
	assert_non_null(mcp_json_at(answer, "result.tools"));
	json_decref(answer);
}

static void wrong_messages_have_their_codes(void **state)
{
	(void)state;
	assert_error("", -32700);
	assert_error("{\"jsonrpc\":\"2.0\",", -32700);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32700);
	assert_error("[]", -32600);
	assert_error("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600);
	assert_error("{\"id\":1,\"method\":\"ping\"}", -32600);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}", -32602);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{" META
		     "}}",
		     -32601);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}",
		     -32602);
	assert_error(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
		"{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
		-32602);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META
		     ",\"name\":\"rm\"}}",
		     -32602);
	assert_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META
		     ",\"name\":\"findings\",\"arguments\":[]}}",
		     -32602);
	/* Answers and notifications get none. */
	assert_null(ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
	assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}"));
	assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}"));
	assert_int_equal(fake.asked, 0);
}

static void another_version_is_told_which_there_are(void **state)
{
	json_t *answer =
		ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{"
		    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"1900-01-01\","
		    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");

	(void)state;
	assert_int_equal(json_integer_value(mcp_json_at(answer, "error.code")), -32022);
	assert_string_equal(mcp_json_text(answer, "error.data.requested"), "1900-01-01");
	assert_int_equal(json_array_size(mcp_json_at(answer, "error.data.supported")), 5);
	json_decref(answer);
}

static void large_arguments_are_refused(void **state)
{
	static const char before[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				     "\"params\":{" META ",\"name\":\"function\",\"arguments\":{"
				     "\"name\":\"",
			  after[] = "\"}}}";
	size_t size = 10U << 20;
	char *message = malloc(size + sizeof(before) + sizeof(after));

	(void)state;
	assert_non_null(message);
	strcpy(message, before);
	memset(message + strlen(before), 'x', size);
	strcpy(message + sizeof(before) - 1 + size, after);
	assert_error(message, -32602);
	free(message);
}

static void a_call_that_fails_is_a_result(void **state)
{
	json_t *answer =
		ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META
		    ",\"name\":\"series\",\"arguments\":{\"figure\":\"cpu.share\"}}}");
	const json_t *content = json_array_get(mcp_json_at(answer, "result.content"), 0);

	(void)state;
	assert_true(json_is_true(mcp_json_at(answer, "result.isError")));
	assert_string_equal(mcp_json_text(content, "text"), "no such file");
	assert_string_equal(fake.figure, "cpu.share");
	json_decref(answer);

	answer = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META
		     ",\"name\":\"findings\"}}");
	assert_true(json_is_false(mcp_json_at(answer, "result.isError")));
	json_decref(answer);
}

/* The name in the refusal is cut within a character. */
static void a_refusal_is_valid_text(void **state)
{
#define FOUR "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	json_t *answer =
		ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" META
		    ",\"name\":\"findings\",\"arguments\":{\"x" FOUR FOUR FOUR FOUR FOUR FOUR
		    "\":1}}}");
	const json_t *content = json_array_get(mcp_json_at(answer, "result.content"), 0);

	(void)state;
	assert_true(json_is_true(mcp_json_at(answer, "result.isError")));
	assert_non_null(strstr(mcp_json_text(content, "text"), "has no argument 'x"));
	json_decref(answer);
#undef FOUR
}

static void profiling_has_to_be_allowed(void **state)
{
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
				   "\"params\":{" META "}}",
			  call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				   "\"params\":{" META ",\"name\":\"profile\"}}";
	json_t *answer = ask(list);
	size_t count = json_array_size(mcp_json_at(answer, "result.tools"));

	(void)state;
	json_decref(answer);
	assert_error(call, -32602);
	assert_int_equal(fake.asked, 0);
	backend.allows_profile = true;
	answer = ask(list);
	assert_int_equal(json_array_size(mcp_json_at(answer, "result.tools")), count + 1);
	json_decref(answer);
	fake.texts[MCP_PROFILE] = "profile-1";
	answer = ask(call);
	assert_true(json_is_false(mcp_json_at(answer, "result.isError")));
	assert_int_equal(fake.asked, 2);
	assert_int_equal(fake.last.what, MCP_REPORT);
	json_decref(answer);
}

static bool cancels(const char *message, const char *id)
{
	return mcp_message_cancels(message, strlen(message), id);
}

static void a_request_is_cancelled_by_its_id(void **state)
{
	static const char number[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				     "\"params\":{\"requestId\":7}}",
			  string[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				     "\"params\":{\"requestId\":\"7\"}}";
	char *id = mcp_message_id("{\"id\":7}", 8);

	(void)state;
	assert_string_equal(id, "7");
	assert_true(cancels(number, id));
	assert_false(cancels(string, id));
	free(id);
	id = mcp_message_id("{\"id\":\"7\"}", 10);
	assert_true(cancels(string, id));
	assert_false(cancels(number, id));
	assert_false(cancels("{\"method\":\"ping\",\"params\":{\"requestId\":\"7\"}}", id));
	assert_false(cancels("nonsense", id));
	free(id);
	assert_null(mcp_message_id("{\"id\":[]}", 9));
	assert_null(mcp_message_id("x", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_request_that_says_its_version_needs_no_beginning, begin),
		cmocka_unit_test_setup(earlier_clients_begin_with_initialize, begin),
		cmocka_unit_test_setup(wrong_messages_have_their_codes, begin),
		cmocka_unit_test_setup(another_version_is_told_which_there_are, begin),
		cmocka_unit_test_setup(large_arguments_are_refused, begin),
		cmocka_unit_test_setup(a_call_that_fails_is_a_result, begin),
		cmocka_unit_test_setup(a_refusal_is_valid_text, begin),
		cmocka_unit_test_setup(profiling_has_to_be_allowed, begin),
		cmocka_unit_test(a_request_is_cancelled_by_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
