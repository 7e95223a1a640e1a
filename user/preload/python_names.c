// SPDX-License-Identifier: BSD-2-Clause
/* Names of functions, as cProfile has them. */
#include <string.h>

#include "preload/python_api.h"

/* 0: there is none, or no room. */
static uint32_t put_text(PyObject *text, size_t most)
{
	const char *bytes;
	intptr_t size = 0;
	uint32_t at = 0;

	if (!text)
		return 0;
	bytes = python_api.PyUnicode_AsUTF8AndSize(text, &size);
	if (bytes) {
		at = calls_put_string(bytes, (size_t)size < most ? (size_t)size : most);
	} else {
		python_api.PyErr_Clear();
		at = calls_put_string("?", 1); /* surrogates */
	}
	python_api.Py_DecRef(text);
	return at;
}

static PyObject *attribute(PyObject *code, const char *name)
{
	PyObject *value = python_api.PyObject_GetAttrString(code, name);

	if (!value)
		python_api.PyErr_Clear();
	return value;
}

void python_name_code(struct pkbpf_python_function *row, PyObject *code)
{
	PyObject *line = attribute(code, "co_firstlineno");

	row->name = put_text(attribute(code, "co_name"), PKBPF_PYTHON_NAME_MAX);
	row->file = put_text(attribute(code, "co_filename"), PKBPF_PYTHON_PATH_MAX);
	row->qualified = put_text(attribute(code, "co_qualname"), PKBPF_PYTHON_NAME_MAX);
	if (line) {
		row->first_line = (uint32_t)python_api.PyLong_AsLong(line);
		python_api.Py_DecRef(line);
	}
	/* Without a file it would be one of the functions in C. */
	if (!row->file)
		row->name = 0;
}

/* Of a method of a type: the text of its descriptor. */
static PyObject *method_text(const struct c_function *function)
{
	PyObject *name = python_api.PyUnicode_FromString(function->method->name), *found = NULL;
	PyObject *text = NULL;

	if (name)
		found = python_api._PyType_Lookup(function->self->type, name);
	if (found) {
		python_api.Py_IncRef(found);
		text = python_api.PyObject_Repr(found);
		python_api.Py_DecRef(found);
	}
	if (name)
		python_api.Py_DecRef(name);
	python_api.PyErr_Clear();
	return text;
}

/* A function's module is a module or its name. */
static PyObject *module_name(PyObject *module)
{
	PyObject *name = NULL;

	if (module && python_api.PyUnicode_AsUTF8AndSize(module, NULL)) {
		python_api.Py_IncRef(module);
		return module;
	}
	python_api.PyErr_Clear();
	if (module)
		name = python_api.PyModule_GetNameObject(module);
	python_api.PyErr_Clear();
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
	module_text = module ? python_api.PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
	if (function->self)
		text = module_text ? python_api.PyUnicode_FromFormat("<built-in method %s.%s>",
								     module_text, name)
				   : python_api.PyUnicode_FromFormat("<built-in method %s>", name);
	else if (module_text && strcmp(module_text, "builtins") != 0)
		text = python_api.PyUnicode_FromFormat("<%s.%s>", module_text, name);
	else
		text = python_api.PyUnicode_FromFormat("<%s>", name);
	if (module)
		python_api.Py_DecRef(module);
	return text;
}

void python_name_c_function(struct pkbpf_python_function *row, const struct c_function *function)
{
	row->name = put_text(c_function_text(function), PKBPF_PYTHON_NAME_MAX);
}
