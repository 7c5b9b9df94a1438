/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as dlboost writes it: snake_case keys with the unit in the name, numbers
 * never as texts, the same keys always there.  Bytes of a path that are not
 * UTF-8 appear as \udc80..\udcff, Python's "surrogateescape".
 */
#ifndef DLBOOST_TOOL_JSON_H
#define DLBOOST_TOOL_JSON_H

#include <json-c/json.h>

#include "tool.h"

/* {"schema": @schema, "version": 1, ...} */
struct json_object *json_document(const char *schema);
void json_add(struct json_object *obj, const char *key,
	      struct json_object *value);
void json_add_u64(struct json_object *obj, const char *key, uint64_t value);
void json_add_i64(struct json_object *obj, const char *key, int64_t value);
void json_add_bool(struct json_object *obj, const char *key, bool value);
/* Rounded to @digits behind the point; NaN and infinities become null */
void json_add_real(struct json_object *obj, const char *key, double value,
		   int digits);
/* NULL becomes null */
void json_add_text(struct json_object *obj, const char *key, const char *text);
struct json_object *json_text(const char *text);
struct json_object *json_real(double value, int digits);
/* Print a document in the form -p asks for, and drop it */
void json_print(const struct context *ctx, struct json_object *obj);
/* One line, never indented (JSON Lines), and drop it */
void json_print_line(FILE *file, struct json_object *obj);
/* As json_print_line() into memory; malloc'ed, NULL without memory */
char *json_line(struct json_object *obj);

#endif /* DLBOOST_TOOL_JSON_H */
