/* SPDX-License-Identifier: BSD-2-Clause */
/* What is used of the interpreter that this library is loaded into. */
#ifndef PKBPF_PRELOAD_PYTHON_API_H
#define PKBPF_PRELOAD_PYTHON_API_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

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
	X(void *, PyThreadState_Get, (void))                                                       \
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

struct python_api {
#define X(result, name, arguments) result(*name) arguments;
	NEEDED(X)
	OPTIONAL(X)
#undef X
	int (*pthread_key_create)(pthread_key_t *, void (*)(void *));
	int (*pthread_setspecific)(pthread_key_t, const void *);
};

extern struct python_api python_api;

/* false: something is missing. */
bool python_api_look_up(void);
/* 0x30b of "3.11.2 (main, ...)"; 0: it is no version 3. */
uint32_t python_api_version(const char *text);
/* Its structures are those of here. */
bool python_api_is_known(uint32_t version, const char *text);

/* ---- names (python_names.c); the row's function is the object ---- */

/* Both leave a row without a name where its strings find no room. */
void python_name_code(struct pkbpf_python_function *row, PyObject *code);
void python_name_c_function(struct pkbpf_python_function *row, const struct c_function *function);

#endif
