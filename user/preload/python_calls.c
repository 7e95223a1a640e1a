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

#include "preload/python_calls.h"

typedef struct object PyObject;

/* As all 64-bit builds lay them out, but those with Py_TRACE_REFS or without a GIL. */
struct object {
	intptr_t references;
	struct object *type;
};

struct method {
	const char *name;
};

struct c_function {
	struct object object;
	struct method *method;
	PyObject *self, *module;
};

struct frame_3_8 {
	struct object object;
	intptr_t size;
	void *back;
	PyObject *code;
};

enum { ON_CALL, ON_EXCEPTION, ON_LINE, ON_RETURN, ON_C_CALL, ON_C_EXCEPTION, ON_C_RETURN };

typedef int trace_function(PyObject *self, PyObject *frame, int what, PyObject *argument);

/* X(result, name, arguments): what every version has. */
#define NEEDED(X)                                                                                  \
	X(void, PyEval_SetProfile, (trace_function *, PyObject *))                                 \
	X(void, PyEval_SetTrace, (trace_function *, PyObject *))                                   \
	X(int, PyFrame_GetLineNumber, (PyObject *))                                                \
	X(const char *, Py_GetVersion, (void))                                                     \
	X(int, PySys_AddAuditHook, (int (*)(const char *, PyObject *, void *), void *))            \
	X(void *, PyInterpreterState_Main, (void))                                                 \
	X(void *, PyInterpreterState_ThreadHead, (void *))                                         \
	X(void *, PyThreadState_Next, (void *))                                                    \
	X(void *, PyThreadState_Swap, (void *))                                                    \
	X(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                              \
	X(void, PyErr_Restore, (PyObject *, PyObject *, PyObject *))                               \
	X(void, PyErr_Clear, (void))                                                               \
	X(PyObject *, PyObject_GetAttrString, (PyObject *, const char *))                          \
	X(PyObject *, PyObject_Repr, (PyObject *))                                                 \
	X(const char *, PyUnicode_AsUTF8AndSize, (PyObject *, intptr_t *))                         \
	X(PyObject *, PyUnicode_FromFormat, (const char *, ...))                                   \
	X(PyObject *, PyUnicode_FromString, (const char *))                                        \
	X(PyObject *, PyModule_GetNameObject, (PyObject *))                                        \
	X(long, PyLong_AsLong, (PyObject *))                                                       \
	X(PyObject *, _PyType_Lookup, (PyObject *, PyObject *))                                    \
	X(void, Py_IncRef, (PyObject *))                                                           \
	X(void, Py_DecRef, (PyObject *))

/* Newer than 3.8, or not in all. */
#define OPTIONAL(X)                                                                                \
	X(PyObject *, PyFrame_GetCode, (PyObject *))                                               \
	X(int, _PyEval_SetProfile, (void *, trace_function *, PyObject *))                         \
	X(void, PyEval_SetTraceAllThreads, (trace_function *, PyObject *))                         \
	X(int, _PyEval_SetTrace, (void *, trace_function *, PyObject *))                           \
	X(uint64_t, PyThreadState_GetID, (void *))

static struct {
#define X(result, name, arguments) result(*name) arguments;
	NEEDED(X)
	OPTIONAL(X)
#undef X
	int (*pthread_key_create)(pthread_key_t *, void (*)(void *));
	int (*pthread_setspecific)(pthread_key_t, const void *);
} api;

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

/* ---- names ---- */

/* 0: not known. */
static uint32_t put_text(PyObject *text, size_t most)
{
	const char *bytes;
	intptr_t size = 0;
	uint32_t at = 0;

	bytes = text ? api.PyUnicode_AsUTF8AndSize(text, &size) : NULL;
	if (bytes)
		at = calls_put_string(bytes, (size_t)size < most ? (size_t)size : most);
	else
		api.PyErr_Clear();
	if (text)
		api.Py_DecRef(text);
	return at;
}

static PyObject *attribute(PyObject *code, const char *name)
{
	PyObject *value = api.PyObject_GetAttrString(code, name);

	if (!value)
		api.PyErr_Clear();
	return value;
}

static void name_code(struct pkbpf_python_function *row, PyObject *code)
{
	PyObject *line = attribute(code, "co_firstlineno");

	row->name = put_text(attribute(code, "co_name"), PKBPF_PYTHON_NAME_MAX);
	row->file = put_text(attribute(code, "co_filename"), PKBPF_PYTHON_PATH_MAX);
	row->qualified = put_text(attribute(code, "co_qualname"), PKBPF_PYTHON_NAME_MAX);
	if (line) {
		row->first_line = (uint32_t)api.PyLong_AsLong(line);
		api.Py_DecRef(line);
	}
}

/* Of a method of a type: the text of its descriptor. */
static PyObject *method_text(const struct c_function *function)
{
	PyObject *name = api.PyUnicode_FromString(function->method->name), *found = NULL;
	PyObject *text = NULL;

	if (name)
		found = api._PyType_Lookup(function->self->type, name);
	if (found) {
		api.Py_IncRef(found);
		text = api.PyObject_Repr(found);
		api.Py_DecRef(found);
	}
	if (name)
		api.Py_DecRef(name);
	api.PyErr_Clear();
	return text;
}

/* A function's module is a module or its name. */
static PyObject *module_name(PyObject *module)
{
	PyObject *name = NULL;

	if (module && api.PyUnicode_AsUTF8AndSize(module, NULL)) {
		api.Py_IncRef(module);
		return module;
	}
	api.PyErr_Clear();
	if (module)
		name = api.PyModule_GetNameObject(module);
	api.PyErr_Clear();
	return name;
}

/* The texts are those of cProfile. */
static PyObject *c_function_text(const struct c_function *function)
{
	const char *name = function->method->name;
	PyObject *module, *text = function->self ? method_text(function) : NULL;
	const char *module_text;

	if (text)
		return text;
	module = module_name(function->module);
	module_text = module ? api.PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
	if (function->self)
		text = module_text ? api.PyUnicode_FromFormat("<built-in method %s.%s>",
							      module_text, name)
				   : api.PyUnicode_FromFormat("<built-in method %s>", name);
	else if (module_text && strcmp(module_text, "builtins"))
		text = api.PyUnicode_FromFormat("<%s.%s>", module_text, name);
	else
		text = api.PyUnicode_FromFormat("<%s>", name);
	if (module)
		api.Py_DecRef(module);
	return text;
}

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
	api.PyErr_Fetch(&type, &value, &trace);
	if (is_code) {
		api.Py_IncRef(object);
		name_code(calls_function(number), object);
	} else {
		note_starter(number, ((const struct c_function *)object)->method->name);
		calls_function(number)->name = put_text(
			c_function_text((const struct c_function *)object), PKBPF_PYTHON_NAME_MAX);
	}
	api.PyErr_Restore(type, value, trace);
	return number;
}

static uint32_t find_function(uint64_t key, PyObject *object, bool is_code)
{
	uint32_t number = calls_find(&functions, key, 0);

	return number ? number : add_function(key, object, is_code);
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
			api.pthread_setspecific(thread_key, this_thread);
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

static void hook_other(void *state)
{
	if (api._PyEval_SetProfile) {
		api._PyEval_SetProfile(state, on_event, NULL);
		if (wants_lines && api._PyEval_SetTrace)
			api._PyEval_SetTrace(state, on_line, NULL);
	} else {
		void *own = api.PyThreadState_Swap(state);

		api.PyEval_SetProfile(on_event, NULL);
		if (wants_lines)
			api.PyEval_SetTrace(on_line, NULL);
		api.PyThreadState_Swap(own);
	}
}

/* Threads that were started since: they are the first ones of the list. */
static __attribute__((noinline)) void look_for_threads(void)
{
	void *state = api.PyInterpreterState_ThreadHead(api.PyInterpreterState_Main());
	uint64_t newest = last_thread;

	sets_hooks = true;
	for (; state; state = api.PyThreadState_Next(state)) {
		uint64_t id = api.PyThreadState_GetID ? api.PyThreadState_GetID(state) : UINT64_MAX;

		if (id <= last_thread)
			continue;
		hook_other(state);
		if (id > newest && id != UINT64_MAX)
			newest = id;
	}
	last_thread = newest;
	if (wants_lines && api._PyEval_SetProfile && !api._PyEval_SetTrace)
		api.PyEval_SetTraceAllThreads(on_line, NULL);
	sets_hooks = false;
}

/* ---- what the interpreter calls ---- */

static PyObject *code_of(PyObject *frame)
{
	PyObject *code;

	if (!api.PyFrame_GetCode)
		return ((struct frame_3_8 *)frame)->code;
	code = api.PyFrame_GetCode(frame);
	api.Py_DecRef(code); /* the frame has it */
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
	line = (uint32_t)api.PyFrame_GetLineNumber(frame);
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

	if (has_begun || !calls_head || calls_head->state != PKBPF_PYTHON_LOADED)
		return;
	has_begun = true;
	calls_head->state = PKBPF_PYTHON_COUNTS;
	sets_hooks = true;
	if (wants_lines)
		api.PyEval_SetTrace(on_line, NULL);
	api.PyEval_SetProfile(on_event, NULL);
	sets_hooks = false;
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
	return 0;
}

static bool look_up(void)
{
	bool has_all = true;

#define X(result, name, arguments) *(void **)&api.name = dlsym(RTLD_DEFAULT, #name);
	NEEDED(X)
	OPTIONAL(X)
#undef X
#define X(result, name, arguments) has_all = has_all && api.name;
	NEEDED(X)
#undef X
	*(void **)&api.pthread_key_create = dlsym(RTLD_DEFAULT, "pthread_key_create");
	*(void **)&api.pthread_setspecific = dlsym(RTLD_DEFAULT, "pthread_setspecific");
	return has_all && api.pthread_key_create && api.pthread_setspecific;
}

/* "3.11.2 (main, ...)" */
static uint32_t read_version(const char *text)
{
	uint32_t minor = 0;

	if (text[0] != '3' || text[1] != '.')
		return 0;
	for (text += 2; *text >= '0' && *text <= '9' && minor < 100; text++)
		minor = minor * 10 + (uint32_t)(*text - '0');
	return 0x300 | minor;
}

static bool is_known(const char *text)
{
	return version >= 0x308 && version <= 0x30d && !strstr(text, "free-threading");
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
	version = read_version(get_version());
	if (!begin_process())
		return;
	calls_head->state = PKBPF_PYTHON_REFUSED;
	if (!is_known(get_version()) || !look_up() || madvise(is_own, 4096, MADV_WIPEONFORK) ||
	    api.pthread_key_create(&thread_key, end_thread) ||
	    api.PySys_AddAuditHook(on_audit, NULL))
		return;
	calls_head->state = PKBPF_PYTHON_LOADED;
}
