/* SPDX-License-Identifier: MIT */
/* Rows of many ranks: values that all rows share are stored once, in DOC_COMMON. */
#include "base/document.h"

/* Removes from \a common all values that \a row does not share. */
static void common_keep(json_t *common, const json_t *row)
{
  const char *key;
  void *next;
  json_t *value;
  json_object_foreach_safe(common, next, key, value)
  {
    const json_t *own = json_object_get(row, key);
    common_keep(value, own);
    if (json_object_size(value) == 0 && !json_equal(value, own)) json_object_del(common, key);
  }
}

/* If \a add, copies to \a row the values of \a common that the row lacks. Otherwise removes from
 * the row all values whose names are in \a common. */
static void common_move(json_t *row, json_t *common, int add)
{
  const char *key;
  json_t *value;
  json_object_foreach(common, key, value)
  {
    json_t *own = json_object_get(row, key);
    common_move(own, value, add);
    if (add && !own) json_object_set(row, key, value);
    if (!add && json_object_size(own) == 0) json_object_del(row, key);
  }
}

void doc_row_compare(struct doc *d, int is_first)
{
  json_t *rows = d->open[d->depth - 1], *common = json_object_get(d->open[0], DOC_COMMON);
  json_t *row = json_array_get(rows, 0);
  if (is_first) json_object_update(common, row);
  common_keep(common, row);
  json_array_clear(rows);
}

void doc_row_pack(struct doc *d)
{
  const json_t *rows = d->open[d->depth - 1];
  common_move(json_array_get(rows, json_array_size(rows) - 1), json_object_get(d->open[0], DOC_COMMON), 0);
}

void document_rows_pack(const json_t *document)
{
  size_t r;
  json_t *row, *first, *ranks = json_object_get(document, "ranks"),
                       *common = json_object_get(document, DOC_COMMON);
  if (!common || json_object_size(common) > 0) return;
  json_object_update(common, first = json_deep_copy(json_array_get(ranks, 0)));
  json_decref(first);
  json_array_foreach(ranks, r, row) common_keep(common, row);
  json_array_foreach(ranks, r, row) common_move(row, common, 0);
}

void document_rows_unpack(const json_t *document)
{
  size_t r;
  json_t *row, *common = json_object_get(document, DOC_COMMON);
  json_array_foreach(json_object_get(document, "ranks"), r, row) common_move(row, common, 1);
  json_object_clear(common);
}
