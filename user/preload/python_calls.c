// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts the calls, and the lines, of Python programs that are started with this library in
 * LD_PRELOAD. Nothing of CPython is linked or compiled in: what is called is looked up in the
 * program, and is of its stable interface, but for names that every version has (3.8 to 3.13).
 *
 * An audit hook hears when the interpreter begins its script; from then on the profile function of
 * each thread is ours. Threads are found when the call that starts one returns: the new one cannot
 * have begun, since the starter has not given up the GIL.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/python_api.h"
#include "preload/python_calls.h"

static const char *directory;
static size_t directory_length;
static bool wants_lines;
static uint32_t version;
/* Zero in a child after fork(): what is counted is its parent's. */
static uint64_t *is_own;
static uint64_t generation;
static struct calls_table edges, functions, lines;
static pthread_key_t thread_key;
static uint64_t last_thread; /* number of the newest thread that was found */
/* The functions in C that start threads: older versions have no audit event for that. */
static uint32_t starters[2];

static __thread struct calls_thread *this_thread;
static __thread bool sets_hooks;
/* The program has audit hooks of its own. */
static bool has_other_hooks;

/* ---- functions, edges, lines ---- */

static void note_starter(uint32_t function, const char *name)
{
	if (!strcmp(name, "start_new_thread"))
		starters[0] = function;
	else if (!strcmp(name, "start_new") || !strcmp(name, "start_joinable_thread"))
		starters[1] = function;
}

/* A code object is kept, so that no other one comes to its address. */
static uint32_t add_function(uint64_t key, PyObject *object, bool is_code)
{
	PyObject *type, *value, *trace;
	uint32_t number = calls_new_function();

	if (!number || !calls_put(&functions, key, 0, number))
		return 0;
	python_api.PyErr_Fetch(&type, &value, &trace);
	if (is_code) {
		python_api.Py_IncRef(object);
		python_name_code(calls_function(number), object);
	} else {
		note_starter(number, ((const struct c_function *)object)->method->name);
		python_name_c_function(calls_function(number), (const struct c_function *)object);
	}
	python_api.PyErr_Restore(type, value, trace);
	return number;
}

/* 0: it found no room, or its name did. */
static uint32_t find_function(uint64_t key, PyObject *object, bool is_code)
{
	uint32_t number = calls_find(&functions, key, 0);

	number = number ? number : add_function(key, object, is_code);
	return number && calls_function(number)->name ? number : 0;
}

static __attribute__((noinline)) uint32_t add_edge(uint64_t key, uint32_t caller, PyObject *object,
						   bool is_code)
{
	int saved = errno;
	uint32_t callee = find_function(key, object, is_code), edge = 0;

	if (callee)
		edge = calls_new_edge();
	if (edge) {
		calls_edges[edge].caller = caller;
		calls_edges[edge].callee = callee;
		if (!calls_put(&edges, key, caller, edge))
			edge = 0;
	}
	errno = saved;
	return edge;
}

static void enter(struct calls_thread *thread, uint64_t key, PyObject *object, bool is_code)
{
	uint32_t caller = calls_caller(thread), edge = calls_find(&edges, key, caller);

	if (!edge)
		edge = add_edge(key, caller, object, is_code);
	calls_enter(thread, edge, edge ? calls_edges[edge].callee : 0);
}

/* ---- processes and threads ---- */

static bool begin_process(void)
{
	int saved = errno;
	bool has_file = calls_file_open(directory, directory_length, version);

	calls_table_done(&edges);
	calls_table_done(&functions);
	calls_table_done(&lines);
	starters[0] = starters[1] = 0;
	generation++;
	*is_own = 1;
	if (has_file)
		calls_head->has_lines = wants_lines;
	errno = saved;
	return has_file;
}

static void end_thread(void *thread)
{
	this_thread = NULL;
	calls_thread_free(thread);
}

/* NULL: this thread is not counted. */
static __attribute__((noinline)) struct calls_thread *begin_thread(void)
{
	int saved = errno;

	if (!*is_own && begin_process())
		calls_head->state = PKBPF_PYTHON_COUNTS;
	if (!calls_head)
		return NULL;
	if (!this_thread) {
		this_thread = calls_thread_new();
		if (this_thread)
			python_api.pthread_setspecific(thread_key, this_thread);
	}
	if (this_thread && this_thread->generation != generation) {
		calls_thread_clear(this_thread, generation);
		calls_head->threads++;
	}
	errno = saved;
	return this_thread;
}

static inline struct calls_thread *current_thread(void)
{
	struct calls_thread *thread = this_thread;

	return __builtin_expect(*is_own && thread && thread->generation == generation, 1)
		       ? thread
		       : begin_thread();
}

static trace_function on_event, on_line;

/* false: an audit hook refused it. */
static bool hook_other(void *state)
{
	bool is_hooked = true;

	if (python_api._PyEval_SetProfile) {
		is_hooked = python_api._PyEval_SetProfile(state, on_event, NULL) == 0;
		if (is_hooked && wants_lines && python_api._PyEval_SetTrace)
			python_api._PyEval_SetTrace(state, on_line, NULL);
		python_api.PyErr_Clear();
	} else {
		void *own = python_api.PyThreadState_Swap(state);

		python_api.PyEval_SetProfile(on_event, NULL);
		if (wants_lines)
			python_api.PyEval_SetTrace(on_line, NULL);
		python_api.PyErr_Clear();
		python_api.PyThreadState_Swap(own);
	}
	return is_hooked;
}

/*
 * Threads that were started since: they are the first ones of the list. To set a function calls
 * the audit hooks; those in Python may give up the GIL, and threads of the list may end meanwhile.
 */
static __attribute__((noinline)) void look_for_threads(void)
{
	void *own = python_api.PyThreadState_Get();
	void *state =
		python_api.PyInterpreterState_ThreadHead(python_api.PyInterpreterState_Main());
	PyObject *type, *value, *trace;
	uint64_t newest = last_thread;

	/* After a call that failed there is one. */
	python_api.PyErr_Fetch(&type, &value, &trace);
	sets_hooks = true;
	for (; state; state = python_api.PyThreadState_Next(state)) {
		uint64_t id = python_api.PyThreadState_GetID ? python_api.PyThreadState_GetID(state)
							     : UINT64_MAX;

		if (id <= last_thread)
			continue;
		if (state != own && (has_other_hooks || !hook_other(state)))
			calls_head->unhooked++;
		/* Without numbers, the first one alone is new. */
		if (has_other_hooks && id == UINT64_MAX)
			break;
		if (id > newest && id != UINT64_MAX)
			newest = id;
	}
	last_thread = newest;
	if (wants_lines && !has_other_hooks && python_api._PyEval_SetProfile &&
	    !python_api._PyEval_SetTrace)
		python_api.PyEval_SetTraceAllThreads(on_line, NULL);
	sets_hooks = false;
	python_api.PyErr_Restore(type, value, trace);
}

/* ---- what the interpreter calls ---- */

static PyObject *code_of(PyObject *frame)
{
	PyObject *code;

	if (!python_api.PyFrame_GetCode)
		return ((struct frame_3_8 *)frame)->code;
	code = python_api.PyFrame_GetCode(frame);
	python_api.Py_DecRef(code); /* the frame has it */
	return code;
}

static inline bool has_started_thread(const struct calls_thread *thread)
{
	uint32_t function = calls_caller(thread);

	return function && (function == starters[0] || function == starters[1]);
}

static int on_event(PyObject *self, PyObject *frame, int what, PyObject *argument)
{
	struct calls_thread *thread = current_thread();
	PyObject *code;

	(void)self;
	if (!thread)
		return 0;
	switch (what) {
	case ON_CALL:
		code = code_of(frame);
		enter(thread, (uintptr_t)code, code, true);
		break;
	case ON_C_CALL:
		enter(thread, (uintptr_t)((struct c_function *)argument)->method, argument, false);
		break;
	case ON_C_RETURN:
	case ON_C_EXCEPTION:
		if (has_started_thread(thread))
			look_for_threads();
		calls_leave(thread);
		break;
	case ON_RETURN:
		calls_leave(thread);
		break;
	default:
		break;
	}
	return 0;
}

static uint32_t add_line(PyObject *code, uint32_t line)
{
	int saved = errno;
	uint32_t function = find_function((uintptr_t)code, code, true), number = 0;

	if (function)
		number = calls_new_line();
	if (number) {
		calls_lines[number].function = function;
		calls_lines[number].line = line;
		if (!calls_put(&lines, (uintptr_t)code, line, number))
			number = 0;
	}
	errno = saved;
	return number;
}

static int on_line(PyObject *self, PyObject *frame, int what, PyObject *argument)
{
	PyObject *code;
	uint32_t line, number;

	(void)self;
	(void)argument;
	if (what != ON_LINE || !current_thread())
		return 0;
	code = code_of(frame);
	line = (uint32_t)python_api.PyFrame_GetLineNumber(frame);
	number = calls_find(&lines, (uintptr_t)code, line);
	if (!number)
		number = add_line(code, line);
	if (number)
		calls_lines[number].hits++;
	else
		calls_head->lost_lines++;
	return 0;
}

/* ---- the beginning ---- */

static void begin_script(void)
{
	static bool has_begun;
	PyObject *type, *value, *trace;

	if (has_begun || !calls_head || calls_head->state != PKBPF_PYTHON_LOADED)
		return;
	has_begun = true;
	calls_head->state = PKBPF_PYTHON_COUNTS;
	python_api.PyErr_Fetch(&type, &value, &trace);
	sets_hooks = true;
	if (wants_lines)
		python_api.PyEval_SetTrace(on_line, NULL);
	python_api.PyEval_SetProfile(on_event, NULL);
	sets_hooks = false;
	python_api.PyErr_Restore(type, value, trace);
	if (current_thread())
		look_for_threads();
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int on_audit(const char *event, PyObject *arguments, void *data)
{
	(void)arguments;
	(void)data;
	if (event[0] == 'c' && begins_with(event, "cpython.run_"))
		begin_script();
	else if (event[0] == 'c' && calls_head && this_thread &&
		 !strcmp(event, "cpython.PyInterpreterState_New"))
		__atomic_fetch_add(&calls_head->interpreters, 1, __ATOMIC_RELAXED);
	else if (event[0] == 's' && this_thread && calls_head && !sets_hooks &&
		 (!strcmp(event, "sys.setprofile") ||
		  (wants_lines && !strcmp(event, "sys.settrace"))))
		calls_head->replaced++;
	else if (event[0] == 's' && !strcmp(event, "sys.addaudithook"))
		has_other_hooks = true;
	return 0;
}

static bool read_variable(void)
{
	static const char of_lines[] = ":lines";
	size_t length;

	directory = getenv(PKBPF_PYTHON_CALLS_VARIABLE);
	if (!directory)
		return false;
	length = strlen(directory);
	directory_length = length;
	if (length > sizeof(of_lines) &&
	    !strcmp(directory + length - (sizeof(of_lines) - 1), of_lines)) {
		wants_lines = true;
		directory_length = length - (sizeof(of_lines) - 1);
	}
	/* The program may change its environment. */
	directory = strndup(directory, directory_length);
	return directory && directory_length;
}

static __attribute__((constructor)) void begin(void)
{
	const char *(*get_version)(void);

	*(void **)&get_version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	if (!get_version || !read_variable())
		return;
	is_own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (is_own == MAP_FAILED)
		return;
	version = python_api_version(get_version());
	if (!begin_process())
		return;
	calls_head->state = PKBPF_PYTHON_REFUSED;
	if (!python_api_is_known(version, get_version()) || !python_api_look_up() ||
	    madvise(is_own, 4096, MADV_WIPEONFORK) ||
	    python_api.pthread_key_create(&thread_key, end_thread) ||
	    python_api.PySys_AddAuditHook(on_audit, NULL))
		return;
	calls_head->state = PKBPF_PYTHON_LOADED;
}
