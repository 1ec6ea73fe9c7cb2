/* SPDX-License-Identifier: MIT */
#include "base/document.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/options.h"
#include "base/values.h"

#define SCHEMA_COLUMNS 140 /* maximum columns of a property that is printed on one line */
/** Real numbers have 17 digits, which restore the same double. Documents of many ranks are compact
 * and have 8 digits, exact to 1e-7. */
#define JSON_FORMAT    (JSON_INDENT(2) | JSON_REAL_PRECISION(17))
#define JSON_COMPACTED (JSON_COMPACT | JSON_REAL_PRECISION(8))

/* ---- calls that write data ---- */

static int doc_put(struct doc *d, const char *name, json_t *value)
{
  json_t *in = d->open[d->depth - 1];
  const int failed = name ? json_object_set_new(in, name, value) : json_array_append_new(in, value);
  d->lost |= failed;
  return !failed;
}

/* Enters a container; NULL if memory ran out. No document is as deep as DOC_DEPTH_MAX. */
static int doc_enter(struct doc *d, json_t *value)
{
  d->open[d->depth++] = value;
  return 1;
}

int doc_put_unknown(struct doc *d, const char *name, int rules)
{
  if (rules & DOC_NULLABLE || !(rules & DOC_OPTIONAL)) doc_put(d, name, json_null());
  return 0;
}

static int is_unknown(int rules, double value)
{
  const int bounded = rules & (DOC_NULLABLE | DOC_OPTIONAL) && !(rules & DOC_ANY);
  return !isfinite(value) || (bounded && (rules & DOC_POSITIVE ? value <= 0 : value < 0));
}

int doc_put_real(struct doc *d, const char *name, int rules, double value)
{
  return is_unknown(rules, value) ? doc_put_unknown(d, name, rules) : doc_put(d, name, json_real(value));
}

int doc_put_whole(struct doc *d, const char *name, int rules, int64_t value)
{
  return is_unknown(rules, (double)value) ? doc_put_unknown(d, name, rules)
                                          : doc_put(d, name, json_integer((json_int_t)value));
}

int doc_put_text(struct doc *d, const char *name, int rules, const char *value)
{
  if (!value && rules & (DOC_NULLABLE | DOC_OPTIONAL)) return doc_put_unknown(d, name, rules);
  return doc_put(d, name, document_text(value));
}

int doc_put_flag(struct doc *d, const char *name, int rules, int value)
{
  return value < 0 ? doc_put_unknown(d, name, rules) : doc_put(d, name, json_boolean(value));
}

int doc_put_hex(struct doc *d, const char *name, int rules, int digits, int known, uint64_t value)
{
  if (!known) return doc_put_unknown(d, name, rules);
  char text[17];
  snprintf(text, sizeof text, "%0*" PRIx64, digits, value);
  return doc_put(d, name, json_string(text));
}

int doc_put_numbers(struct doc *d, const char *name, int rules, size_t n, const double *reals,
                    const int64_t *wholes)
{
  for (size_t i = 0; i < n && rules & DOC_NULLABLE; i++)
    if (is_unknown(rules, reals ? reals[i] : (double)wholes[i])) return doc_put_unknown(d, name, rules);
  if (!doc_put_open(d, name, json_array())) return 0;
  for (size_t i = 0; i < n; i++)
    reals ? doc_put_real(d, NULL, 0, reals[i]) : doc_put_whole(d, NULL, 0, wholes[i]);
  doc_end(d);
  return 1;
}

int doc_put_open(struct doc *d, const char *name, json_t *value)
{
  return doc_enter(d, doc_put(d, name, value) ? value : NULL);
}

/* ---- calls that declare the schema ---- */

static int keyword(struct doc *d, json_t *node, const char *name, json_t *value)
{
  d->lost |= json_object_set_new(node, name, value);
  return !d->lost;
}

/* Declares \a node: as a property if the open schema has properties, otherwise as the schema of all
 * elements of a list or all values of a map. */
static int declare(struct doc *d, const char *name, int rules, json_t *node)
{
  json_t *in = d->open[d->depth - 1], *properties = json_object_get(in, "properties"),
         *cases = json_object_get(in, "oneOf"), *last = json_array_get(cases, json_array_size(cases) - 1),
         *required = json_object_get(cases ? last : in, "required");
  if (!properties) return keyword(d, in, name ? "additionalProperties" : "items", node);
  if (!(rules & DOC_OPTIONAL) && (cases || !json_object_get(properties, name)))
    d->lost |= json_array_append_new(required, json_string(name));
  return keyword(d, properties, name, node);
}

static json_t *node_new(struct doc *d, int rules, const char *type, const char *about)
{
  json_t *node = json_object();
  const int nullable = rules & DOC_NULLABLE;
  if (type) keyword(d, node, "type", nullable ? json_pack("[s,s]", type, "null") : json_string(type));
  if (about[0]) keyword(d, node, "description", json_string(about));
  return node;
}

static void minimum_set(struct doc *d, json_t *node, int rules, int is_real)
{
  if (rules & DOC_ANY) return;
  if (rules & DOC_POSITIVE)
    keyword(d, node, is_real ? "exclusiveMinimum" : "minimum", json_integer(!is_real));
  else
    keyword(d, node, "minimum", json_integer(0));
}

static json_t *number_new(struct doc *d, int rules, const char *type, const char *unit, const char *about)
{
  char text[1024];
  snprintf(text, sizeof text, "%s%s%s%s%s", about, about[0] && unit[0] ? " " : "", unit[0] ? "[" : "", unit,
           unit[0] ? "]" : "");
  return node_new(d, rules, type, text);
}

int doc_declare_number(struct doc *d, const char *name, int rules, const char *type, const char *unit,
                       const char *about)
{
  json_t *node = number_new(d, rules, type, unit, about);
  minimum_set(d, node, rules, strcmp(type, "number") == 0);
  return declare(d, name, rules, node);
}

int doc_declare_numbers(struct doc *d, const char *name, int rules, const char *type, const char *unit,
                        const char *about, size_t n)
{
  json_t *node = number_new(d, rules, "array", unit, about), *item = node_new(d, 0, type, "");
  minimum_set(d, item, rules, strcmp(type, "number") == 0);
  keyword(d, node, "items", item);
  keyword(d, node, "minItems", json_integer((json_int_t)n));
  keyword(d, node, "maxItems", json_integer((json_int_t)n));
  return declare(d, name, rules, node);
}

int doc_declare_flag(struct doc *d, const char *name, int rules, const char *about)
{
  return declare(d, name, rules, node_new(d, rules, "boolean", about));
}

int doc_declare_text(struct doc *d, const char *name, int rules, const char *pattern, const char *about)
{
  json_t *node = node_new(d, rules, "string", about);
  if (pattern || !(rules & DOC_ANY))
    keyword(d, node, pattern ? "pattern" : "minLength", pattern ? json_string(pattern) : json_integer(1));
  return declare(d, name, rules, node);
}

int doc_declare_enum(struct doc *d, const char *name, int rules, struct doc_words words, const char *about)
{
  json_t *node = node_new(d, rules, NULL, about), *list = json_array();
  for (size_t w = 0; w < words.n; w++) {
    const char *word = *(const char *const *)(const void *)((const char *)words.first + w * words.stride);
    if (word) d->lost |= json_array_append_new(list, json_string(word));
  }
  if (rules & DOC_NULLABLE) d->lost |= json_array_append_new(list, json_null());
  if (words.n == 1)
    keyword(d, node, "const", json_incref(json_array_get(list, 0)));
  else
    keyword(d, node, "enum", json_incref(list));
  json_decref(list);
  return declare(d, name, rules, node);
}

int doc_declare_one_of(struct doc *d, const char *name, const char *about, size_t n, const int64_t *values)
{
  json_t *node = node_new(d, 0, NULL, about), *list = json_array();
  for (size_t v = 0; v < n; v++) d->lost |= json_array_append_new(list, json_integer((json_int_t)values[v]));
  keyword(d, node, "enum", list);
  return declare(d, name, 0, node);
}

static void fields_begin(struct doc *d, json_t *node)
{
  keyword(d, node, "required", json_array());
  keyword(d, node, "additionalProperties", json_false());
  keyword(d, node, "properties", json_object());
}

int doc_declare_object(struct doc *d, const char *name, int rules, const char *about)
{
  json_t *node = node_new(d, rules, "object", about);
  fields_begin(d, node);
  return doc_enter(d, declare(d, name, rules, node) ? node : NULL);
}

int doc_declare_open(struct doc *d, const char *name, int rules, const char *type, const char *about)
{
  json_t *node = node_new(d, rules, type, about);
  if (rules & DOC_POSITIVE) keyword(d, node, "minItems", json_integer(1));
  return doc_enter(d, declare(d, name, rules, node) ? node : NULL);
}

int doc_declare_case(struct doc *d)
{
  json_t *in = d->open[d->depth - 1];
  if (!json_object_get(in, "oneOf")) keyword(d, in, "oneOf", json_array());
  d->lost |= json_array_append_new(json_object_get(in, "oneOf"), json_pack("{s:[]}", "required"));
  return !d->lost;
}

const void *doc_nothing(size_t bytes)
{
  static _Alignas(max_align_t) char zeros[1 << 20];
  return bytes <= sizeof zeros ? zeros : NULL;
}

void doc_end(struct doc *d)
{
  json_t *ended = d->open[--d->depth];
  if (d->schema && json_array_size(json_object_get(ended, "required")) == 0)
    json_object_del(ended, "required");
}

void doc_open(struct doc *d, int schema)
{
  *d = (struct doc){.schema = schema, .depth = 1, .open = {json_object()}};
}

void doc_top(struct doc *d, const char *title, const char *about)
{
  json_t *top = d->open[0];
  if (!d->schema) return;
  keyword(d, top, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
  keyword(d, top, "title", json_string(title));
  keyword(d, top, "description", json_string(about));
  keyword(d, top, "type", json_string("object"));
  fields_begin(d, top);
}

void doc_time(struct doc *d)
{
  char now[32];
  meta_time(now);
  doc_pattern(d, "time", 0, "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", "", now);
}

void doc_frame(struct doc *d, const char *schema, const char *program, const char *title, const char *about)
{
  doc_top(d, title, about);
  doc_const(d, "schema", schema);
  doc_const(d, "program", program);
  doc_text(d, "version", 0, "", meta_version());
  doc_time(d);
  meta_system_document(d);
  doc_list(d, "ignored", DOC_OPTIONAL, "Options that were given and that nothing read.", 1);
  char name[64];
  for (int n = 0; d->schema ? n < 1 : option_ignored(n) != NULL; n++) {
    snprintf(name, sizeof name, "--%s", d->schema ? "" : option_ignored(n));
    doc_pattern(d, NULL, 0, "^--", "", name);
  }
  doc_end(d);
}

void doc_spread(struct doc *d, const char *name, struct stats_summary summary)
{
  doc_object(d, name, 0, "", 1);
  doc_real(d, "min", 0, "s", "", summary.min);
  doc_real(d, "median", 0, "s", "", summary.median);
  doc_real(d, "max", 0, "s", "", summary.max);
  doc_end(d);
}

static void refer(struct doc *d, json_t *node, json_t *reference)
{
  json_t *about = json_incref(json_object_get(node, "description"));
  json_object_clear(node);
  if (about) keyword(d, node, "description", about);
  keyword(d, node, "$ref", reference);
}

/* Replaces objects that are equal apart from their descriptions by references to one definition,
 * which gets the name of the second such object. \a seen maps the JSON text of an object to the
 * first object with that text. */
static void define_repeated(struct doc *d, json_t *seen, const char *name, json_t *node)
{
  const char *key;
  json_t *field, *body, *defs = json_object_get(d->open[0], "$defs");
  if (!json_is_object(node)) return;
  json_object_del(body = json_copy(node), "description");
  char *text = json_object_get(node, "properties") ? json_dumps(body, JSON_COMPACT) : NULL;
  json_t *first = text ? json_object_get(seen, text) : NULL;
  if (text && !first) d->lost |= json_object_set(seen, text, node);
  if (first && !json_object_get(first, "$ref") && !json_object_get(defs, name)) {
    json_object_update(body, first);
    json_object_del(body, "description");
    keyword(d, defs, name, json_incref(body));
    refer(d, first, json_pack("s+", "#/$defs/", name));
  }
  if (json_object_get(first, "$ref")) refer(d, node, json_incref(json_object_get(first, "$ref")));
  json_decref(body);
  free(text);
  json_object_foreach(json_object_get(node, "properties"), key, field) define_repeated(d, seen, key, field);
  define_repeated(d, seen, name, json_object_get(node, "items"));
}

json_t *doc_close(struct doc *d)
{
  json_t *document = d->open[0];
  doc_end(d);
  if (d->schema) {
    json_t *seen = json_object();
    keyword(d, document, "$defs", json_object());
    define_repeated(d, seen, "", document);
    if (json_object_size(json_object_get(document, "$defs")) == 0) json_object_del(document, "$defs");
    json_decref(seen);
  }
  if (!d->lost && d->depth == 0) return document;
  json_decref(document);
  return NULL;
}

json_t *document_text(const char *bytes)
{
  static const char replacement[] = "\xef\xbf\xbd";
  char *valid = bytes ? malloc(strlen(bytes) * (sizeof replacement - 1) + 1) : NULL;
  size_t used = 0;
  while (valid && *bytes) {
    const size_t good = value_utf8(bytes), length = good ? good : sizeof replacement - 1;
    memcpy(valid + used, good ? bytes : replacement, length);
    used += length;
    bytes += good ? good : 1;
  }
  json_t *text = valid ? json_stringn(valid, used) : NULL;
  free(valid);
  return text;
}

status_t document_read(const char *path, json_t **document)
{
  json_error_t error;
  FILE *file = file_open_text(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read \"%s\": %s", path, strerror(errno));
  json_t *read = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
  fclose(file);
  if (!read)
    return log_fail(STATUS_ENVIRONMENT, "%s: not a JSON document: %s, line %d", path, error.text, error.line);
  document_rows_unpack(*document = read);
  return STATUS_OK;
}

/* Packs the rows of \a document and sets \a text to its JSON text. The caller frees the text. */
static status_t doc_text_of(const json_t *document, char **text)
{
  const int many = json_array_size(json_object_get(document, "ranks")) > DOC_RANKS_FULL;
  const size_t format = many ? JSON_COMPACTED : JSON_FORMAT;
  document_rows_pack(document);
  /* Measure first, because json_dumps takes up to three times as much memory as the text. */
  const size_t bytes = json_dumpb(document, NULL, 0, format);
  *text = bytes > 0 ? malloc(bytes + 1) : NULL;
  if (*text) (*text)[json_dumpb(document, *text, bytes, format)] = '\0';
  return *text ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for the JSON document");
}

status_t document_reread(json_t *document, json_t **copy)
{
  char *text;
  json_error_t error;
  const status_t status = doc_text_of(document, &text);
  json_decref(document);
  RETURN_IF_FAILED(status);
  json_t *read = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  free(text);
  if (!read) return log_fail(STATUS_ENVIRONMENT, "the JSON document cannot be read again: %s", error.text);
  document_rows_unpack(*copy = read);
  return STATUS_OK;
}

status_t document_write(const json_t *document, const char *path)
{
  char *text;
  RETURN_IF_FAILED(doc_text_of(document, &text));
  size_t length = strlen(text);
  text[length] = '\n'; /* text files end with a newline; file_write needs no terminating zero */
  status_t status = file_write(path, text, length + 1);
  free(text);
  return status;
}

/* ---- printing a schema ---- */

static int print_flat(const json_t *node, size_t columns_max, FILE *out)
{
  char *line = json_dumps(node, JSON_ENCODE_ANY);
  const int fits = line && strlen(line) <= columns_max;
  if (fits) fputs(line, out);
  free(line);
  return fits;
}

/* Prints a schema on one line if it fits. Otherwise each property and each definition begins a
 * line, and is itself split like this if it does not fit. */
static int print_schema(const json_t *schema, size_t column, FILE *out)
{
  const char *name, *key, *between = "{";
  json_t *value, *property;
  int printed = 1;
  if (column > 0 && print_flat(schema, SCHEMA_COLUMNS - column, out)) return 1;
  json_object_foreach((json_t *)schema, name, value)
  {
    fprintf(out, "%s\"%s\": ", between, name);
    between = column > 0 ? ", " : ",\n ";
    if (!json_is_object(value))
      printed &= print_flat(value, SIZE_MAX, out);
    else if (strcmp(name, "properties") != 0 && strcmp(name, "$defs") != 0)
      printed &= print_schema(value, column, out);
    else {
      const char *sign = "{";
      json_object_foreach(value, key, property)
      {
        fprintf(out, "%s\n%*s\"%s\": ", sign, (int)column + 2, "", key);
        printed &= print_schema(property, column + 2, out);
        sign = ",";
      }
      fprintf(out, "}");
    }
  }
  fprintf(out, "}");
  return printed;
}

status_t doc_print(struct doc *d, FILE *out)
{
  json_t *schema = doc_close(d);
  const int printed = schema && print_schema(schema, 0, out);
  fprintf(out, "\n");
  json_decref(schema);
  return printed ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for the JSON schema");
}
