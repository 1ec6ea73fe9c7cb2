/* SPDX-License-Identifier: MIT */
#include "tests/unit/qpu_unit.h"

#include "tests/unit/text_files.h"

/* Published machine words, with their published text. */
static const struct {
  const char *text;
  uint64_t word;
} known[] = {
    {"nop", 0x100009e7009e7000},
    {"mov ra0, unif", 0x1002002715827d80},
    {"mov r0, unif", 0x1002082715827d80},
    {"mov -, unif", 0x100009e715827d80},
    {"mov r2, ra1", 0x100208a715067d80},
    {"add ra16, unif, elem_num", 0x100204270c9a0f80},
    {"add ra1, r0, unif", 0x100200670c827180},
    {"add.ifz ra30, r1, r2", 0x100407a70c9e7280},
    {"add vr_setup, r1, r2", 0x10020c670c9e7280},
    {"add vw_setup, r0, r3", 0x10021c670c9e70c0},
    {"sub.setf -, elem_num, 8", 0xd00229e70d988dc0},
    {"shl r0, elem_num, 3", 0xd002082711983dc0},
    {"shl rb3, r0, -2", 0xd00210e7119de1c0},
    {"shl r3, ra2, 2", 0xd00208e711082dc0},
    {"ldi rb0, 0x7c", 0xe00210270000007c},
    {"mov r1, 0x101a02", 0xe002086700101a02},
    {"srel -, 12", 0xe80009e70000000c},
    {"nop; ldtmu0", 0xa00009e7009e7000},
    {"mov r0, r4; ldtmu0", 0xa0020827159e7900},
    {"add ra1, ra1, 4; mov t0s, ra1", 0xd00240788c044df6},
    {"add ra1, ra1, rb0; mov t0s, ra1", 0x100240788c040df6},
    {"add r1, r1, r2; mov vw_addr, r1", 0x100248728c9e7289},
    {"mov irq, r4; thrend", 0x300209a7159e7900},
    {"nop; fmul vpm, r0, r1", 0x100049f0209e7001},
    {"sub.setf ra0, ra0, 1", 0xd00220270d001dc0},
    {"mov vw_setup, 0x88104000", 0xe0021c6788104000},
    {"brr.anynz -, -568", 0xf03809e7fffffdc8},
};

static struct qpu_program made;

static uint64_t word_of(const char *text)
{
  made = qpu_must_assemble(text, 1);
  assert_int_equal(made.n_words, 1);
  uint64_t word = made.words[0];
  qpu_program_free(&made);
  return word;
}

TEST(words_are_those_of_published_programs)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (word_of(known[i].text) != known[i].word) fail_msg("%s", known[i].text);
}

/* Asserts that two texts give the same word. */
static void expect_same(const char *a, const char *b)
{
  if (word_of(a) != word_of(b)) fail_msg("%s / %s", a, b);
}

TEST(operations_find_their_alu)
{
  expect_same("mov r0, r1; mov r2, r3", "or r0, r1, r1; v8min r2, r3, r3");
  expect_same("mov r0, r1; fadd r2, r3, r1", "fadd r2, r3, r1; v8min r0, r1, r1");
  expect_same("mov r0, r1 >> 3", "nop; v8min r0, r1, r1 >> 3");
  expect_same("mov r0, r1 << 3", "mov r0, r1 >> 13");
  expect_same("mov ra1, 1.0; mov rb2, 1.0", "or ra1, 1.0, 1.0; v8min rb2, 1.0, 1.0");
}

TEST(constants_take_the_smallest_form)
{
  expect_same("mov r0, 5", "or r0, 5, 5");
  expect_same("mov r0, 16", "ldi r0, 16");
  expect_same("ldi r0, -(3.0)", "ldi r0, 0xc0400000");
  expect_same("mov r0, -0x80000000", "ldi r0, 0x80000000");
  expect_same("mov r0, 0; mov r1, rb2", "xor r0, r0, r0; mov r1, rb2");
}

TEST(expressions_follow_c)
{
  expect_same("ldi r0, 2 + 3 * 4 << 1", "ldi r0, 28");
  expect_same("ldi  r0 , ( 2+ 3 ) *4 ", "ldi r0, 20");
  expect_same("ldi r0, -7 / 2", "ldi r0, -3");
  expect_same("ldi r0, 0x10 | 3 == 1 + 2", "ldi r0, 0x11");
  expect_same("ldi r0, 1 == 3 > 2", "ldi r0, 1");
  expect_same("ldi r0, 017 + 0xa", "ldi r0, 25");
  expect_same("ldi r0, -3 - -5", "ldi r0, 2");
  expect_same("mov r0, ra3 + 4", "mov r0, ra7");
  expect_same("mov rb9 - 2, r0", "mov rb7, r0");
}

TEST(every_operator_works_on_whole_numbers)
{
  expect_same("ldi r0, (3 < 4) + (4 < 4) * 2 + (4 > 4) * 4 + (5 > 4) * 8 + (4 == 4) * 16", "ldi r0, 25");
  expect_same("ldi r0, 5 | 12", "ldi r0, 13");
  expect_same("ldi r0, (1 << 4 >> 2) + (1 << 64) + (-8 >> 1) * 2 + (-1 >> 64) + (1 >> 63)", "ldi r0, -5");
}

static void expect_words(const char *text, const uint64_t *words, size_t n)
{
  made = qpu_must_assemble(text, 1);
  assert_int_equal(made.n_words, n);
  for (size_t i = 0; i < n; i++) assert_int_equal(made.words[i], words[i]);
  qpu_program_free(&made);
}

/* Asserts that two programs give the same words, line by line. */
static void expect_same_program(const char *a, const char *b)
{
  struct qpu_program other = qpu_must_assemble(b, 1);
  expect_words(a, other.words, other.n_words);
  qpu_program_free(&other);
}

TEST(macros_loops_and_conditions_expand)
{
  expect_same_program(".macro twice, target, value\n mov target, value\n mov target + 1, value\n.endm\n"
                      "twice ra3, 5\n",
                      "mov ra3, 5\nmov ra4, 5\n");
  expect_same_program(".rep i, 3\n.rep j, 2\nldi ra0 + i, 10 * i + j\n.endr\n.endr\n",
                      "ldi ra0, 0\nldi ra0, 1\nldi ra1, 10\nldi ra1, 11\nldi ra2, 20\nldi ra2, 21\n");
  expect_same_program(
      ".set n, 2\n.if n == 1\nmov r0, 1\n.elseif n == 2\nmov r0, 2\n.else\nmov r0, 3\n.endif\n",
      "mov r0, 2\n");
  expect_same_program(".if 0\n.if 1\nmov r0, 1\n.endif\n.else\n.if 1\nmov r0, 4\n.endif\n.endif\n",
                      "mov r0, 4\n");
  expect_same_program(" .set  twice( x )  2 * x\n ldi r0 ,twice ( 100 )+ 4 \n", "ldi r0, 204\n");
  expect_same_program(".set clear(s) s + 2\nmov clear( ra1 ) , 0 \n", "mov ra3, 0\n");
}

TEST(labels_reach_forward_and_back)
{
  expect_same_program(":a nop\nbrr -, r:b\nnop\nnop\nnop\nbrr -, r:a\nnop\nnop\nnop\n:b nop\n",
                      "nop\nbrr -, 32\nnop\nnop\nnop\nbrr -, -72\nnop\nnop\nnop\nnop\n");
  made = qpu_must_assemble("nop\n::entry nop\n:inner nop\n", 1);
  assert_int_equal(made.n_labels, 2);
  assert_string_equal(made.labels[0].name, "entry");
  assert_int_equal(made.labels[0].address, 8);
  assert_string_equal(made.labels[1].name, "inner");
  assert_int_equal(made.labels[1].address, 16);
  assert_true(made.labels[0].exported && !made.labels[1].exported);
  qpu_program_free(&made);
}

TEST(halves_make_an_instruction)
{
  static const uint64_t words[] = {0x4000000000000001, 0x100009e7009e7000};
  expect_words(".int 1, 2.0\n.int 0x009e7000, 0x100009e7\n", words, 2);
}

TEST(files_include_others_of_their_directory)
{
  char folder[] = "/tmp/qpu-asm-XXXXXX", path[64], inner[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/outer.qasm", folder);
  snprintf(inner, sizeof inner, "%s/inner.qinc", folder);
  put(path, ".include \"inner.qinc\"\nldi r0, seven\n");
  put(inner, ".set seven, 7\nnop\n");
  assert_int_equal(qpu_assemble(path, NULL, 1, &made), STATUS_OK);
  assert_int_equal(made.n_words, 2);
  assert_int_equal(made.words[1], 0xe002082700000007);
  assert_string_equal(made.origins[0].file, inner);
  assert_int_equal(made.origins[1].line, 2);
  qpu_program_free(&made);
  remove(path);
  remove(inner);
  rmdir(folder);
}

/* Assembles parts of the language in random order: any text may be refused, but none may crash. */
TEST(random_text_never_crashes_the_assembler)
{
  static const char *const pieces[] = {
      ".set f(x) x\n", ".endr\n", ".else\n", ".ifz", "\xff", "0x7", "r0", "<<", "1e", "m", "a",
      ".rep i, 3\n",   ".macro ", "fmul ",   "unif", "f(1)", "vpm", ", ", ":x", "(",  "[", "#",
      ".endif\n",      ".endm\n", ".setf",   "ldi ", "ra1",  "r:x", "; ", "\t", ")",  "]", "~",
      ".set a, ",      ".if 1\n", "mov ",    "brr ", "1.0",  "/ 0", "\n", "* ", "+",  "-"};
  uint64_t seed = 1;
  log_hold(1);
  for (int round = 0; round < 20000; round++) {
    char text[512] = "";
    int n = (int)(qpu_random(&seed) % 24);
    for (int i = 0; i < n; i++) strcat(text, pieces[qpu_random(&seed) % (sizeof pieces / sizeof pieces[0])]);
    if (qpu_assemble("random", text, 0, &made) == STATUS_OK) qpu_program_free(&made);
    log_drop();
  }
  log_hold(0);
}

UNIT_MAIN(NULL, NULL)
