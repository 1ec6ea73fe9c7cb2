/* SPDX-License-Identifier: MIT */
#include "tests/unit/capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/log.h"

/* An example of a program's state, and functions that write each kind of field of it. */
struct state {
  const char *name;
  double rate, *rows;
  int n_rows, number, is_on;
  int has_part;
};

enum colour { RED, GREEN, COLOURS };
static const char *const colours[COLOURS] = {"red", "green"};
static const struct {
  int number;
  const char *word;
} origins[] = {{1, "asked"}, {2, NULL}, {3, "tried"}};

/* Number of calls of rate_of(): shows if a value is evaluated when only the schema is made. */
static int evaluated;

static double rate_of(const struct state *s)
{
  evaluated++;
  return s->rate;
}

static void part(struct doc *d, const struct state *s)
{
  if (!doc_object(d, "part", DOC_OPTIONAL | DOC_NULLABLE, "A part.", s->has_part)) return;
  doc_wholes(d, "procs", DOC_POSITIVE, "", 1, 2, s->number);
  doc_reals(d, "range", DOC_NULLABLE, "W", "", s->rate, 2);
  doc_wholes(d, "slots", DOC_NULLABLE | DOC_POSITIVE, "", s->number - 1, 5);
  if (doc_case(d, !s->is_on)) doc_text(d, "why_off", 0, "", "asked");
  if (doc_case(d, s->is_on)) {
    doc_real(d, "load", 0, "", "", s->rate);
    doc_text(d, "note", DOC_OPTIONAL, "", s->name);
  }
  doc_end(d);
}

static void fields(struct doc *d, const struct state *s)
{
  doc_top(d, "A test", "One state.");
  doc_text(d, "name", DOC_OPTIONAL, "", s->name);
  doc_real(d, "rate", DOC_NULLABLE, "GB/s", "Rate.", rate_of(s));
  doc_real(d, "offset", DOC_ANY, "", "", s->rate);
  doc_whole(d, "number", DOC_POSITIVE, "", s->number);
  doc_flag(d, "on", DOC_NULLABLE, "", s->is_on);
  doc_hex(d, "sum", DOC_NULLABLE, 8, "", s->is_on >= 0, (uint64_t)s->number - 1);
  doc_enum(d, "colour", 0, DOC_WORDS(colours), "", colours[s->number % COLOURS]);
  doc_enum(d, "origin", DOC_NULLABLE, DOC_COLUMN(origins, word), "", origins[1].word);
  doc_one_of(d, "width", "", 4, 4, 16);
  doc_const(d, "kind", "test");
  part(d, s);
  if (doc_list(d, "rows", DOC_POSITIVE, "", 1)) {
    for (int r = 0; doc_each(d, r, s->n_rows); r++) {
      const double *row = doc_at(d, s->rows, r);
      if (!doc_object(d, NULL, 0, "", 1)) continue;
      doc_real(d, "seconds", 0, "s", "", *row);
      doc_end(d);
    }
    doc_end(d);
  }
  if (doc_map(d, "settings", 0, "")) {
    for (int r = 0; doc_each(d, r, s->n_rows); r++) doc_text(d, colours[r], DOC_ANY, "", "");
    doc_end(d);
  }
}

static void assert_document(const struct state *s, const char *wanted)
{
  struct doc d;
  doc_open(&d, 0);
  fields(&d, s);
  json_t *document = doc_close(&d);
  char *text = json_dumps(document, JSON_COMPACT);
  assert_string_equal(text, wanted);
  free(text);
  json_decref(document);
}

TEST(each_field_has_its_name_type_and_place)
{
  double rows[] = {0.5, 1};
  const struct state s = {"n", 0, rows, 2, 3, 1, 1};
  assert_document(&s,
                  "{\"name\":\"n\",\"rate\":0.0,\"offset\":0.0,\"number\":3,\"on\":true,\"sum\":\"00000002\","
                  "\"colour\":\"green\",\"origin\":null,\"width\":4,\"kind\":\"test\",\"part\":{\"procs\":[1,"
                  "2,3],\"range\":"
                  "[0.0,2.0],\"slots\":[2,5],\"load\":0.0,\"note\":\"n\"},\"rows\":[{\"seconds\":0.5},{"
                  "\"seconds\":1.0}],\"settings\":{\"red\":\"\","
                  "\"green\":\"\"}}");
}

/* An unknown value is absent, null or written as it is, depending on its field's rules. */
TEST(unknown_values_are_absent_or_null)
{
  const struct state none = {NULL, -1, NULL, 0, 0, -1, 0}, infinite = {"n", INFINITY, NULL, 0, 1, 0, 1};
  assert_document(
      &none,
      "{\"rate\":null,\"offset\":-1.0,\"number\":0,\"on\":null,\"sum\":null,\"colour\":"
      "\"red\",\"origin\":null,\"width\":4,\"kind\":\"test\",\"part\":null,\"rows\":[],\"settings\":{}}");
  assert_document(
      &infinite,
      "{\"name\":\"n\",\"rate\":null,\"offset\":null,\"number\":1,\"on\":false,\"sum\":\"00000000\","
      "\"colour\":\"green\",\"origin\":null,\"width\":4,\"kind\":\"test\",\"part\":{\"procs\":[1,2,1],"
      "\"range\":"
      "null,\"slots\":null,\"why_off\":\"asked\"},\"rows\":[],\"settings\":{}}");
}

static json_t *schema_of(void (*document)(struct doc *d, const struct state *s))
{
  static const struct state none;
  struct doc d;
  doc_open(&d, 1);
  document(&d, &none);
  json_t *schema = doc_close(&d);
  assert_non_null(schema);
  return schema;
}

static void assert_property(const json_t *schema, const char *name, const char *wanted)
{
  char *text = json_dumps(json_object_get(json_object_get(schema, "properties"), name), JSON_COMPACT);
  assert_string_equal(text, wanted);
  free(text);
}

TEST(the_same_calls_make_the_schema)
{
  evaluated = 0;
  json_t *schema = schema_of(fields);
  assert_int_equal(evaluated, 0);
  assert_string_equal(json_string_value(json_object_get(schema, "$schema")),
                      "https://json-schema.org/draft/2020-12/schema");
  assert_string_equal(json_string_value(json_object_get(schema, "title")), "A test");
  assert_string_equal(json_string_value(json_object_get(schema, "description")), "One state.");
  assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
  char *required = json_dumps(json_object_get(schema, "required"), JSON_COMPACT);
  assert_string_equal(
      required, "[\"rate\",\"offset\",\"number\",\"on\",\"sum\",\"colour\",\"origin\",\"width\",\"kind\","
                "\"rows\",\"settings\"]");
  free(required);
  assert_property(schema, "name", "{\"type\":\"string\",\"minLength\":1}");
  assert_property(schema, "rate",
                  "{\"type\":[\"number\",\"null\"],\"description\":\"Rate. [GB/s]\",\"minimum\":0}");
  assert_property(schema, "offset", "{\"type\":\"number\"}");
  assert_property(schema, "number", "{\"type\":\"integer\",\"minimum\":1}");
  assert_property(schema, "on", "{\"type\":[\"boolean\",\"null\"]}");
  assert_property(schema, "sum", "{\"type\":[\"string\",\"null\"],\"pattern\":\"^[0-9a-f]{8}$\"}");
  assert_property(schema, "colour", "{\"enum\":[\"red\",\"green\"]}");
  assert_property(schema, "origin", "{\"enum\":[\"asked\",\"tried\",null]}");
  assert_property(schema, "width", "{\"enum\":[4,16]}");
  assert_property(schema, "kind", "{\"const\":\"test\"}");
  assert_property(
      schema, "part",
      "{\"type\":[\"object\",\"null\"],\"description\":\"A "
      "part.\",\"required\":[\"procs\",\"range\",\"slots\"],"
      "\"additionalProperties\":false,\"properties\":{\"procs\":{\"type\":\"array\",\"items\":{\"type\":"
      "\"integer\",\"minimum\":1},\"minItems\":3,\"maxItems\":3},\"range\":{\"type\":[\"array\",\"null\"],"
      "\"description\":\"[W]\",\"items\":{\"type\":\"number\",\"minimum\":0},\"minItems\":2,\"maxItems\":"
      "2},\"slots\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"integer\",\"minimum\":1},"
      "\"minItems\":2,"
      "\"maxItems\":2},\"why_off\":{\"type\":\"string\",\"minLength\":1},\"load\":{\"type\":\"number\","
      "\"minimum\":"
      "0},\"note\":{\"type\":\"string\",\"minLength\":1}},\"oneOf\":[{\"required\":[\"why_off\"]},{"
      "\"required\":"
      "[\"load\"]}]}");
  assert_property(
      schema, "rows",
      "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"object\",\"required\":[\"seconds\"],"
      "\"additionalProperties\":false,\"properties\":{\"seconds\":{\"type\":\"number\",\"description\":"
      "\"[s]\",\"minimum\":0}}}}");
  assert_property(schema, "settings", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}");
  json_decref(schema);
}

static void open_with(struct doc *d, const char *name, const char *about, const char *field)
{
  doc_object(d, name, 0, about, 1);
  doc_flag(d, field, 0, "", 1);
}

/* Writes nested objects. One equals an object outside, others have a name that is taken. */
static void repeated(struct doc *d, const struct state *s)
{
  static const char *const names[] = {"low", "high", "top", "x", "y"};
  (void)s;
  doc_top(d, "", "");
  for (int n = 0; n < 5; n++) {
    open_with(d, names[n], n < 1 ? "Low." : "", n < 3 ? "at" : names[n]);
    open_with(d, n < 3 ? "part" : "high", "", n < 3 ? "on" : "off");
    doc_end(d);
    doc_end(d);
  }
  open_with(d, "other", "Too.", "on");
  doc_end(d);
}

#define OBJECT(required, properties)                                                                         \
  "{\"type\":\"object\",\"required\":" required                                                              \
  ",\"additionalProperties\":false,\"properties\":{" properties "}}"

TEST(objects_that_occur_again_are_defined_once)
{
  json_t *schema = schema_of(repeated), *properties = json_object_get(schema, "properties"),
         *defs = json_pack("{s:O}", "properties", json_object_get(schema, "$defs"));
  assert_property(schema, "low", "{\"description\":\"Low.\",\"$ref\":\"#/$defs/high\"}");
  assert_property(schema, "top", "{\"$ref\":\"#/$defs/high\"}");
  assert_property(schema, "other", "{\"description\":\"Too.\",\"$ref\":\"#/$defs/other\"}");
  assert_property(
      defs, "high",
      OBJECT("[\"at\",\"part\"]", "\"at\":{\"type\":\"boolean\"},\"part\":{\"$ref\":\"#/$defs/other\"}"));
  assert_property(defs, "other", OBJECT("[\"on\"]", "\"on\":{\"type\":\"boolean\"}"));
  assert_property(json_object_get(properties, "x"), "high",
                  OBJECT("[\"off\"]", "\"off\":{\"type\":\"boolean\"}"));
  assert_property(json_object_get(properties, "y"), "high",
                  OBJECT("[\"off\"]", "\"off\":{\"type\":\"boolean\"}"));
  json_decref(defs);
  json_decref(schema);
}

static void frame(struct doc *d, const struct state *s)
{
  (void)s;
  doc_frame(d, "test/1", "test", "", "");
  doc_spread(d, "times", (struct stats_summary){.min = 0, .median = 1.5, .max = 2});
}

TEST(the_frame_names_its_program_and_host)
{
  static const char *const keys[] = {"schema", "program", "version", "time", "system", "ignored"};
  struct doc d;
  doc_open(&d, 0);
  frame(&d, NULL);
  json_t *document = doc_close(&d), *schema = schema_of(frame);
  assert_string_equal(json_string_value(json_object_get(document, "schema")), "test/1");
  assert_string_equal(json_string_value(json_object_get(document, "program")), "test");
  json_t *times = json_pack("{sf, sf, sf}", "min", 0.0, "median", 1.5, "max", 2.0);
  assert_true(json_equal(json_object_get(document, "times"), times));
  json_decref(times);
  assert_property(schema, "times",
                  OBJECT("[\"min\",\"median\",\"max\"]",
                         "\"min\":{\"type\":\"number\",\"description\":\"[s]\",\"minimum\":0},"
                         "\"median\":{\"type\":\"number\",\"description\":\"[s]\",\"minimum\":0},"
                         "\"max\":{\"type\":\"number\",\"description\":\"[s]\",\"minimum\":0}"));
  assert_property(schema, "schema", "{\"const\":\"test/1\"}");
  for (int i = 0; i < 6; i++) {
    assert_non_null(json_object_get(document, keys[i]));
    assert_non_null(json_object_get(json_object_get(schema, "properties"), keys[i]));
  }
  json_decref(document);
  json_decref(schema);
}

/* doc_close() fails after a missing text, or an object left open. */
TEST(what_was_lost_is_noticed)
{
  struct doc d;
  doc_open(&d, 0);
  doc_text(&d, "lost", 0, "", NULL);
  assert_null(doc_close(&d));
  doc_open(&d, 0);
  doc_object(&d, "open", 0, "", 1);
  assert_null(doc_close(&d));
}

/* A number that is read back from the file must equal the one that was written. */
TEST(numbers_keep_all_their_digits)
{
  static const double values[] = {0.1, 1.0 / 3, 6.02214076e23, 5e-324, 123456789.123456789};
  const char *path = "test_document.json";
  for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
    struct doc d;
    doc_open(&d, 0);
    doc_real(&d, "value", 0, "", "", values[v]);
    json_t *document = doc_close(&d), *read;
    assert_int_equal(document_write(document, path), STATUS_OK);
    json_decref(document);
    read = json_load_file(path, 0, NULL);
    assert_true(json_real_value(json_object_get(read, "value")) == values[v]);
    json_decref(read);
  }
  unlink(path);
}

TEST(a_printed_schema_is_the_same_schema)
{
  static const struct state none;
  struct doc d;
  FILE *file = tmpfile();
  json_t *schema = schema_of(fields);
  doc_open(&d, 1);
  fields(&d, &none);
  assert_int_equal(doc_print(&d, file), STATUS_OK);
  rewind(file);
  json_t *read = json_loadf(file, 0, NULL);
  assert_true(json_equal(read, schema));
  fclose(file);
  json_decref(read);
  json_decref(schema);
}

UNIT_MAIN(NULL, NULL)
