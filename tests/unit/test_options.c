/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "base/options.h"
#include "base/values.h"
#include "tests/unit/capture.h"

struct settings {
  int64_t sweeps;
  double seconds;
  const char *file, *runs;
  int verify;
  int weak;
  int overlap;
  char size[8];
  int sweeps_given;
  char each[8];
};

static status_t parse_size(const char *option, const char *text, void *field)
{
  if (strlen(text) > 2 && strcmp(text, "auto") != 0)
    return log_fail(STATUS_USAGE, "%s \"%s\": must be XS, S, M, L or XL", option, text);
  strcpy(field, text);
  return STATUS_OK;
}

static status_t parse_each(const char *option, const char *text, void *field)
{
  (void)option;
  strcat(field, text);
  return *text == '9' ? STATUS_NOISY : STATUS_OK;
}

#define CONFIG struct settings

enum { SWEEPS = 1, SECONDS = 2 };

static const struct option_spec table[] = {
    {"size", 's', OPTION_ALWAYS, OPTION_CUSTOM(size, parse_size, "SIZE"), "grid", .group = "Problem",
     .old = "grid"},
    {"sweeps", 'n', SWEEPS, OPTION_INT(sweeps, 1, 1000, "N"), "number of sweeps",
     .given = OPTION_GIVEN(sweeps_given)},
    {"seconds", 't', SECONDS, OPTION_REAL(seconds, 0.5, 60, "S"),
     "time to run for, in a sentence that is so long that it does not fit into one line of the help text"},
    {"weak", 'w', OPTION_ALWAYS, OPTION_FLAG(weak), "weak scaling"},
    {"verify", 0, OPTION_ALWAYS, OPTION_CHOICE_AS(verify, "auto|full|off", "HOW"), "what is checked",
     .group = "Result"},
    {"json", 0, OPTION_ALWAYS, OPTION_OUTPUT(file, "FILE"), "document"},
    {"runs", 0, OPTION_ALWAYS, OPTION_INPUT(runs, "FILE,..."), "what is read", .missing = "all"},
    {"overlap", 0, OPTION_ALWAYS, OPTION_FLAG(overlap), "compute meanwhile"},
    {"each", 0, OPTION_ALWAYS, OPTION_EACH(each, parse_each, "A..."), "some"},
};

static const struct option_pair exclusive[] = {{"overlap", "sweeps|runs"}, {"size", "verify full"}, {0}};
static const struct option_pair joined[] = {{"overlap", "weak"}, {0}};
static struct option_program program = {.name = "prog",
                                        .summary = "does things",
                                        .epilogue = "Examples:\n  prog -n 3\n",
                                        .options = table,
                                        .n_options = sizeof table / sizeof *table,
                                        .exclusive = exclusive,
                                        .joined = joined};

static struct settings settings;
static enum option_request request;

/** Parses a line of words as options. Errors are held back, so that tests can read them. */
static status_t parse(const char *line)
{
  static char words[256];
  char *argv[32] = {"prog"};
  int argc = 1;
  snprintf(words, sizeof words, "%s", line);
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
  memset(&settings, 0, sizeof settings);
  log_drop();
  log_hold(1);
  return option_parse_all(&program, argc, argv, &settings, &request);
}

/** The line must be refused with exactly this message. */
static void assert_refused(const char *line, const char *message)
{
  assert_int_equal(parse(line), STATUS_USAGE);
  assert_string_equal(log_held(), message);
}

TEST(the_empty_line_changes_nothing_and_a_value_has_four_spellings)
{
  static const char *const lines[] = {"--sweeps 12", "--sweeps=12", "-n 12", "-n12"};
  struct settings untouched = {0};
  assert_int_equal(parse(""), STATUS_OK);
  assert_int_equal(request, OPTION_RUN);
  assert_memory_equal(&settings, &untouched, sizeof settings);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(parse(lines[i]), STATUS_OK);
    assert_int_equal(settings.sweeps, 12);
  }
}

TEST(every_type_is_stored)
{
  assert_int_equal(parse("-s XL -n 7 -t 2.5 -w --verify off --json a.json --runs b,c"), STATUS_OK);
  assert_string_equal(settings.size, "XL");
  assert_int_equal(settings.sweeps, 7);
  assert_true(settings.seconds == 2.5);
  assert_int_equal(settings.weak, 1);
  assert_int_equal(settings.verify, 2);
  assert_string_equal(settings.file, "a.json");
  assert_string_equal(settings.runs, "b,c");
  assert_int_equal(settings.sweeps_given, 1);
  assert_int_equal(parse("-w --json -"), STATUS_OK);
  assert_true(settings.sweeps_given == 0 && strcmp(settings.file, "-") == 0);
  assert_int_equal(parse("--each a b -w --each c"), STATUS_OK);
  assert_true(settings.weak == 1 && strcmp(settings.each, "abc") == 0);
  assert_int_equal(parse("--each a 9"), STATUS_NOISY);
  program.operands = &table[8];
  assert_int_equal(parse("a -w b"), STATUS_OK);
  assert_true(settings.weak == 1 && strcmp(settings.each, "ab") == 0);
  assert_int_equal(parse("a 9"), STATUS_NOISY);
  program.operands = NULL;
  struct capture capture = capture_begin(stderr);
  assert_int_equal(parse("--grid=XL -t 2"), STATUS_OK);
  char *warning = capture_end(&capture);
  assert_string_equal(warning, "warning: --grid is deprecated: use --size\n");
  assert_string_equal(settings.size, "XL");
  free(warning);
}

/** A message names the option, the value and what is allowed. */
TEST(what_is_wrong_is_refused_with_the_reason)
{
  static const char *const refused[][2] = {
      {"-n 0", "--sweeps \"0\": must be a whole number from 1 to 1000"},
      {"-n -5", "--sweeps \"-5\": must be a whole number from 1 to 1000"},
      {"-n 12abc", "--sweeps \"12abc\": must be a whole number from 1 to 1000"},
      {"--sweeps=99999999999999999999",
       "--sweeps \"99999999999999999999\": must be a whole number from 1 to 1000"},
      {"-t 0.1", "--seconds \"0.1\": must be a number from 0.5 to 60"},
      {"-t nan", "--seconds \"nan\": must be a number from 0.5 to 60"},
      {"--verify some", "--verify \"some\": must be auto, full or off"},
      {"--verify aut", "--verify \"aut\": must be auto, full or off"},
      {"--size huge", "--size \"huge\": must be XS, S, M, L or XL"},
      {"-n", "--sweeps needs a value: a whole number from 1 to 1000"},
      {"--sweeps=", "--sweeps needs a value: a whole number from 1 to 1000"},
      {"--json --weak", "--json needs a value: FILE"},
      {"--verify -w", "--verify needs a value: auto, full or off"},
      {"--weak=yes", "--weak takes no value, not \"yes\""},
      {"-wn", "--weak takes no value, not \"n\""},
      {"-n 3 --sweeps 4", "--sweeps is given twice"},
      {"-w -w", "--weak is given twice"},
      {"--json a.json --runs a.json", "--json \"a.json\" is also the file of --runs"},
      {"--runs b.json,./a.json --json a.json", "--json \"a.json\" is also the file of --runs"},
      {"--overlap -n 4", "--overlap and --sweeps exclude each other"},
      {"--runs a --overlap", "--overlap and --runs exclude each other"},
      {"--verify full -s M", "--size and --verify full exclude each other"},
      {"--overlap", "--overlap goes with --weak"},
      {"--colour=red", "unknown option \"--colour\": see --help"},
      {"-x", "unknown option \"-x\": see --help"},
      {"fast", "unknown argument \"fast\": see --help"},
      {"-", "unknown argument \"-\": see --help"},
      {"--", "unknown argument \"--\": see --help"},
      {"-w 3", "unknown argument \"3\": see --help"},
      {"--swee 3", "unknown option \"--swee\": did you mean --sweeps?"},
      {"--s", "unknown option \"--s\": did you mean --size?"}};
  static const char *const good[] = {"--json a.json --runs b.json,a.jso", "--verify off -s M -n 4",
                                     "--overlap -w", "--verify full -s auto"};
  for (size_t r = 0; r < sizeof refused / sizeof *refused; r++) assert_refused(refused[r][0], refused[r][1]);
  for (size_t g = 0; g < sizeof good / sizeof *good; g++) assert_int_equal(parse(good[g]), STATUS_OK);
}

/* The words have an additional, a missing or another letter, or two letters swapped. */
TEST(a_slip_is_refused_but_understood)
{
  static const char *const slips[][2] = {{"--sweepps", "--sweeps"},  {"--sweps", "--sweeps"},
                                         {"--swoeps=3", "--sweeps"}, {"--swepes", "--sweeps"},
                                         {"-json", "--json"},        {"--wekx", "--weak"},
                                         {"--overlpa", "--overlap"}};
  for (size_t s = 0; s < sizeof slips / sizeof *slips; s++) {
    char message[96], word[16];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(slips[s][0], "="), slips[s][0]);
    snprintf(message, sizeof message, "unknown option \"%s\": did you mean %s?", word, slips[s][1]);
    assert_refused(slips[s][0], message);
  }
  assert_refused("--sizzling", "unknown option \"--sizzling\": see --help");
}

/* The nearest word is suggested, the first of equally near ones, and none if all differ too
 * much. */
TEST(the_nearest_word_is_guessed)
{
  static const char *const cases[][2] = {{"strem", "stream"},
                                         {"temporal5", "temporal2"},
                                         {"temporla4", "temporal4"},
                                         {"p2q", "p2p"},
                                         {"refrence", "reference"},
                                         {"magic", NULL},
                                         {"", NULL},
                                         {"st", NULL},
                                         {"icp", "ipc"},
                                         {"temporary4", "temporal4"}};
  static const char *const words[] = {"stream", "temporal2", "temporal4", "p2p", "ipc", "reference"};
  char text[VALUE_TEXT_MAX], must_be[VALUE_TEXT_MAX];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct value_guess guess = {.text = cases[c][0]};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) value_guess(&guess, words[w]);
    snprintf(must_be, sizeof must_be, cases[c][1] ? ": did you mean %s?" : "; see", cases[c][1]);
    assert_string_equal(value_guess_text(&guess, "; see", text), must_be);
  }
}

TEST(durations_have_units)
{
  static const struct {
    const char *text;
    double seconds; /* 0: refused */
  } cases[] = {{"90", 90},   {"1.5h", 5400}, {"15m", 900}, {"2d", 172800}, {"0.5s", 0.5}, {"0.01", 0.01},
               {"0.009", 0}, {"24d", 0},     {"m", 0},     {"", 0},        {"15 m", 0},   {"15mm", 0},
               {"-1m", 0},   {"15M", 0},     {"1h30m", 0}, {"infd", 0}};
  const struct value_range range = {VALUE_TIME, NULL, 0.01, 2e6};
  char allowed[VALUE_TEXT_MAX];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double seconds = 0;
    log_drop();
    assert_int_equal(value_read(&range, "--time", cases[c].text, &seconds),
                     cases[c].seconds > 0 ? STATUS_OK : STATUS_USAGE);
    assert_true(seconds == cases[c].seconds);
  }
  assert_string_equal(value_describe(&range, allowed),
                      "a time from 0.01 to 2000000 s: a number, or one with s, m, h or d, as in 90 or 15m");
}

TEST(bytes_have_units)
{
  static const struct {
    const char *text;
    uint64_t bytes; /* 7: refused */
  } cases[] = {{"0", 0},
               {"1", 1},
               {"4K", 4096},
               {"1.5M", 3 << 19},
               {"2G", 2ull << 30},
               {"3T", 3ull << 40},
               {"", 7},
               {"K", 7},
               {"0.1K", 7},
               {"4k", 7},
               {"-1", 7},
               {"9e15", 9000000000000000},
               {"1KK", 7},
               {"9e12K", 7},
               {"0000000000000000000000000000004", 4},
               {"00000000000000000000000000000004", 7}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    uint64_t bytes = 7;
    assert_int_equal(value_read_bytes(cases[c].text, &bytes), cases[c].bytes == 7 ? STATUS_USAGE : STATUS_OK);
    assert_true(bytes == cases[c].bytes);
  }
}

TEST(help_and_version_are_requests)
{
  static const struct {
    const char *line;
    enum option_request request;
  } cases[] = {{"--help", OPTION_SHOW_HELP},
               {"-h", OPTION_SHOW_HELP},
               {"--version", OPTION_SHOW_VERSION},
               {"-V", OPTION_SHOW_VERSION},
               {"-n 3 --help", OPTION_SHOW_HELP}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(parse(cases[i].line), STATUS_OK);
    assert_int_equal(request, cases[i].request);
  }
  request = OPTION_RUN;
  assert_int_equal(parse("--colour --help"), STATUS_USAGE);
  assert_int_equal(request, OPTION_RUN);
}

TEST(help_shows_each_option_in_its_group)
{
  static const char expected[] =
      "Usage: prog [OPTION]...\n"
      "does things\n"
      "\n"
      "Problem:\n"
      "  -s, --size=SIZE         grid\n"
      "  -n, --sweeps=N          number of sweeps\n"
      "  -t, --seconds=S         time to run for, in a sentence that is so long that\n"
      "                          it does not fit into one line of the help text\n"
      "  -w, --weak              weak scaling\n"
      "\n"
      "Result:\n"
      "      --verify=HOW        what is checked\n"
      "      --json=FILE         document\n"
      "      --runs[=FILE,...]   what is read\n"
      "      --overlap           compute meanwhile\n"
      "      --each=A...         some\n"
      "\n"
      "Other:\n"
      "  -h, --help              Show this help and exit.\n"
      "  -V, --version           Show the version and exit.\n"
      "\n"
      "Write the value of an option as --json=FILE or --json FILE.\n"
      "\n"
      "Examples:\n"
      "  prog -n 3\n";
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  option_print_help(&program, out);
  fclose(out);
  assert_string_equal(text, expected);
  free(text);
}

TEST(whole_numbers_are_read_strictly)
{
  static const char *const bad[] = {"",    " 1",  "1 ",  "+1",  "-",
                                    "1.0", "0x1", "1e3", "abc", "9223372036854775808"};
  long long value = 77;
  assert_int_equal(value_read_int("-9223372036854775807", INT64_MIN, INT64_MAX, &value), STATUS_OK);
  assert_true(value == -9223372036854775807);
  value = 77;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(value_read_int(bad[i], INT64_MIN, INT64_MAX, &value), STATUS_USAGE);
  assert_int_equal(value_read_int("5", 6, 7, &value), STATUS_USAGE);
  assert_int_equal(value_read_int("8", 6, 7, &value), STATUS_USAGE);
  assert_true(value == 77);
  assert_int_equal(value_read_int("6", 6, 7, &value), STATUS_OK);
  assert_int_equal(value_read_int("7", 6, 7, &value), STATUS_OK);
  assert_true(value == 7);
}

TEST(numbers_are_read_strictly)
{
  static const char *const bad[] = {"",      " 1",  "1 ",  "nan", "inf", "0x1", "1e999",
                                    "1.5.2", "--1", "1,5", ".",   "-.",  ".e1"};
  double value = 77;
  assert_int_equal(value_read_real("-1.5e2", -1000, 1000, &value), STATUS_OK);
  assert_true(value == -150);
  assert_int_equal(value_read_real("-.5", -1, 1, &value), STATUS_OK);
  assert_true(value == -0.5);
  assert_int_equal(value_read_real("5.", 1, 7, &value), STATUS_OK);
  assert_true(value == 5);
  value = 77;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(value_read_real(bad[i], -1e308, 1e308, &value), STATUS_USAGE);
  assert_int_equal(value_read_real("5", 6, 7, &value), STATUS_USAGE);
  assert_int_equal(value_read_real("7.1", 6, 7, &value), STATUS_USAGE);
  assert_true(value == 77);
  assert_int_equal(value_read_real("7", 6, 7, &value), STATUS_OK);
  assert_int_equal(value_read_real("6", 6, 7, &value), STATUS_OK);
  assert_true(value == 6);
}

TEST(a_list_is_read_word_by_word)
{
  char word[4];
  const char *rest = value_next("one,,three,2", ',', word, sizeof word);
  assert_string_equal(word, "one");
  rest = value_next(rest, ',', word, sizeof word);
  assert_string_equal(word, "");
  rest = value_next(rest, ',', word, sizeof word);
  assert_string_equal(word, ""); /* empty, because a word that is too long is not truncated */
  assert_null(value_next(rest, ',', word, sizeof word));
  assert_string_equal(word, "2");
}

/** Asserts the warning about options of the last line that none of \a readers reads. */
static void assert_ignored(unsigned readers, const char *warning, int n, const char *first)
{
  struct capture capture = capture_begin(stderr);
  option_ignore(readers, "--list");
  char *text = capture_end(&capture);
  assert_string_equal(text, warning);
  free(text);
  for (int i = 0; i < n; i++) assert_non_null(option_ignored(i));
  assert_null(option_ignored(n));
  if (n) assert_string_equal(option_ignored(0), first);
}

TEST(values_that_mean_the_same_are_the_same)
{
  static const struct {
    const char *a, *b;
    int same;
  } cases[] = {{"3", "3", 1},  {"3", "3.0", 1}, {"3", "4", 0},  {NULL, NULL, 1}, {NULL, "3", 0},
               {"3", NULL, 0}, {"7", NULL, 1},  {NULL, "7", 1}, {"0", "0", 0},   {"3", "0", 0}};
  static const struct settings defaults = {.seconds = 7};
  struct option_program with = program;
  with.defaults = &defaults;
  with.config_bytes = sizeof defaults;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    assert_int_equal(option_same(&with, &table[2], cases[c].a, cases[c].b), cases[c].same);
}

TEST(options_that_nothing_reads_are_named_in_one_warning)
{
  assert_int_equal(parse("-n 7 -w --seconds 2 --json a"), STATUS_OK);
  assert_ignored(SWEEPS | SECONDS, "", 0, NULL);
  assert_ignored(SWEEPS, "warning: --seconds: ignored, not read by --list\n", 1, "seconds");
  assert_ignored(0, "warning: --sweeps, --seconds: ignored, not read by --list\n", 2, "sweeps");
  assert_int_equal(parse("-w"), STATUS_OK);
  assert_null(option_ignored(0));
  assert_ignored(0, "", 0, NULL);
}

TEST(an_option_without_readers_is_refused)
{
  struct option_spec silent = {"new", 0, 0, OPTION_FLAG(weak), "is new"};
  struct option_program with = {.name = "prog", .options = &silent, .n_options = 1};
  char *argv[] = {"prog", NULL};
  log_drop();
  log_hold(1);
  assert_int_equal(option_parse_all(&with, 1, argv, &settings, &request), STATUS_FAULT);
  assert_non_null(strstr(log_held(), "--new: the table of options does not say what reads it"));
}

TEST(variables_are_read_strictly)
{
  static const struct {
    const char *name, *good, *bad[5];
  } cases[] = {{"HIMENO_NULL_FAIL", "1", {"0", "1x", " 1", "1e3", "99999999999999999999"}},
               {"HIMENO_NULL_DEVICES", "0", {"65", "-1", "+1", "none", "0x8"}},
               {"HIMENO_NULL_RANK", "0", {"-1", "2147483648", "1.0", "1 ", "one"}},
               {"HIMENO_OPENCL_FP64", "0", {"2", "no", "-1", "true", "00x"}},
               {"HIMENO_QPU", "pi", {"PI", "pi|emulator", "emu", "abacus", " pi"}},
               {"HIMENO_HALO_CORRUPT", "0:1", {"1", "1:", ":2", "-1:2", "1:2:3"}}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    for (int b = 0; b < 5; b++) {
      setenv(cases[c].name, cases[c].bad[b], 1);
      assert_int_equal(parse("-n 3"), STATUS_USAGE);
      assert_non_null(strstr(log_held(), cases[c].name));
      assert_non_null(strstr(log_held(), cases[c].bad[b]));
      assert_int_equal(parse("--help"), STATUS_OK);
    }
    setenv(cases[c].name, cases[c].good, 1);
    assert_int_equal(parse("-n 3"), STATUS_OK);
    setenv(cases[c].name, "", 1); /* counts as not set */
    assert_int_equal(parse("-n 3"), STATUS_OK);
    unsetenv(cases[c].name);
  }
}

UNIT_MAIN(NULL, NULL)
