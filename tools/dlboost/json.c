// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Helpers around json-c.  Texts are written by a serializer of our own, since
 * json-c would pass bytes on that are no UTF-8 (RFC 8259 wants UTF-8; what
 * Python's json and os.fsdecode() agree on is a lone low surrogate per byte).
 */
#include "json.h"

#include <math.h>
#include <string.h>

#define FLAGS (JSON_C_TO_STRING_NOSLASHESCAPE)

static int text_serialize(struct json_object *obj, struct printbuf *pb,
			  int level, int flags)
{
	const unsigned char *s;
	char escape[8];

	s = (const unsigned char *)json_object_get_string(obj);
	printbuf_memappend(pb, "\"", 1);
	while (*s) {
		size_t len = text_utf8_length(s);

		if (!len)
			snprintf(escape, sizeof(escape), "\\udc%02x", *s);
		else if (*s == '"' || *s == '\\')
			snprintf(escape, sizeof(escape), "\\%c", *s);
		else if (*s == '\n')
			snprintf(escape, sizeof(escape), "\\n");
		else if (*s < 0x20 || *s == 0x7f)
			snprintf(escape, sizeof(escape), "\\u%04x", *s);
		else
			escape[0] = '\0';
		if (escape[0])
			printbuf_memappend(pb, escape, (int)strlen(escape));
		else
			printbuf_memappend(pb, (const char *)s, (int)len);
		s += len ? len : 1;
	}
	return printbuf_memappend(pb, "\"", 1);
}

struct json_object *json_text(const char *text)
{
	struct json_object *obj;

	if (!text)
		return NULL;
	obj = json_object_new_string(text);
	json_object_set_serializer(obj, text_serialize, NULL, NULL);
	return obj;
}

struct json_object *json_real(double value, int digits)
{
	char buf[64];
	char *end;

	if (!isfinite(value))
		return NULL;
	snprintf(buf, sizeof(buf), "%.*f", digits, value);
	/* 0.500000 -> 0.5, 3.000 -> 3.0: still a number with a point */
	end = strchr(buf, '.') ? buf + strlen(buf) : NULL;
	while (end && end[-1] == '0' && end[-2] != '.')
		*--end = '\0';
	return json_object_new_double_s(value, buf);
}

void json_add(struct json_object *obj, const char *key,
	      struct json_object *value)
{
	json_object_object_add(obj, key, value);
}

void json_add_u64(struct json_object *obj, const char *key, uint64_t value)
{
	json_add(obj, key, json_object_new_uint64(value));
}

void json_add_i64(struct json_object *obj, const char *key, int64_t value)
{
	json_add(obj, key, json_object_new_int64(value));
}

void json_add_bool(struct json_object *obj, const char *key, bool value)
{
	json_add(obj, key, json_object_new_boolean(value));
}

void json_add_real(struct json_object *obj, const char *key, double value,
		   int digits)
{
	json_add(obj, key, json_real(value, digits));
}

void json_add_text(struct json_object *obj, const char *key, const char *text)
{
	json_add(obj, key, json_text(text));
}

struct json_object *json_document(const char *schema)
{
	struct json_object *obj = json_object_new_object();

	json_add_text(obj, "schema", schema);
	json_add_u64(obj, "version", 1);
	return obj;
}

void json_print(const struct context *ctx, struct json_object *obj)
{
	int flags = FLAGS;

	if (ctx->is_pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	puts(json_object_to_json_string_ext(obj, flags));
	json_object_put(obj);
}

void json_print_line(FILE *file, struct json_object *obj)
{
	fprintf(file, "%s\n", json_object_to_json_string_ext(obj, FLAGS));
	json_object_put(obj);
}

char *json_line(struct json_object *obj)
{
	char *line = NULL;

	if (asprintf(&line, "%s\n",
		     json_object_to_json_string_ext(obj, FLAGS)) < 0)
		line = NULL;
	json_object_put(obj);
	return line;
}
