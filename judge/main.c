/* SPDX-License-Identifier: MIT */
/* himeno-judge: does a stored run pass a policy, and is it as fast as an earlier one?
 * judge_run_program reads the limits and visits each document; judge_one judges it and prints its
 * checks. --make-policy derives limits from healthy runs instead. The exit code is the gravest
 * verdict's. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/options.h"
#include "base/output.h"
#include "base/start.h"
#include "judge/judge.h"
#include "judge/documents.h"

#define CONFIG struct judge_config

/* The modes, as bits of an option's readers. */
enum { JUDGE = 1, MAKE = 2 };

struct judge_config {
  struct document_files documents;
  const char *policy, *against, *json;
  int make;
};

static const struct option_spec documents = {"DOCUMENT", 0, JUDGE | MAKE,
                                             OPTION_EACH(documents, document_file_parse, "DOCUMENT"), ""};

static const struct option_spec options[] = {
    {"policy", 0, JUDGE, OPTION_INPUT(policy, "POLICY"),
     "Judge by this policy of limits: default, h100, h200, or a JSON file as in doc/reference/policy.md "
     "(default: policy default; with --against: none)."},
    {"against", 0, JUDGE, OPTION_INPUT(against, "DOCUMENT"),
     "Compare the speed with that of an earlier run: fail if it is lower by more than the noise of both, "
     "or if a device has less than rate_of_installation_min (of the policy; 0.9 by default) of its earlier "
     "rate. List the change of each device."},
    {"make-policy", 0, MAKE, OPTION_FLAG(make),
     "Print a policy made from verified himeno-gpu runs on healthy devices, with the source of each limit. "
     "Together the documents must have at least three devices, all of one type."},
    {OPTION_JSON(JUDGE, NULL,
                 " It is a copy of DOCUMENT, of which there must be one, with the verdict added.")},
};

static status_t judge_options_check(void *config)
{
  struct judge_config *c = config;
  if (c->documents.n == 0) return log_fail(STATUS_USAGE, "no document is named: see --help");
  if (c->json && c->documents.n > 1) return log_fail(STATUS_USAGE, "--json goes with one document");
  if (!c->policy && !c->against) c->policy = "default";
  return STATUS_OK;
}

static const struct option_pair exclusive[] = {{"make-policy", "policy|against|json"}, {0}};

static const struct option_program about = {
    .name = "himeno-judge",
    .summary = "Judge stored --json files of himeno-gpu, gemm-gpu and comm-gpu by a policy of limits",
    .usage = "DOCUMENT... [OPTION]...",
    .epilogue =
        "A DOCUMENT is a file that --json wrote, or a FILE.jsonl with one per line.\n"
        "\nExamples:\n"
        "  himeno-judge run.json                            with the default policy\n"
        "  himeno-judge monday.json --policy site.json      with the site's own policy\n"
        "  himeno-judge tuesday.json --against monday.json  compared with an earlier run\n"
        "\nExit status: 0 pass; 2 wrong option, or nothing could be judged; 3 unreadable, too noisy or not\n"
        "verified; 5 a limit was not met; if the run itself failed: 4 wrong result; 6 hang;\n"
        "7 runtime fault; 8 ended by a signal.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .operands = &documents,
    .check = judge_options_check,
    .exclusive = exclusive,
};

struct judging {
  const struct judge_config *config;
  struct judge_limits limits;
  FILE *out;
};

static void judge_text(const struct judged *j, const char *name, FILE *out)
{
  const struct judge_run *run = &j->run;
  fprintf(out, "%s: %s, %d rank%s, %d block%s", name, run->program, run->n_ranks,
          run->n_ranks == 1 ? "" : "s", run->n_samples, run->n_samples == 1 ? "" : "s");
  if (run->n_blocks > 0) fprintf(out, " in %.1f s", run->ends[run->n_blocks - 1].end);
  fprintf(out, ": %s\n", j->verdict == STATUS_SLOW ? "fail" : status_verdict(j->verdict));
  judged_headline(j, out);
  judged_text(j, out);
}

static status_t judge_one(json_t *document, const char *name, void *context)
{
  struct judging *judging = context;
  const char *json = judging->config->json;
  struct judged judged;
  if (judging->limits.reference_name) RETURN_IF_FAILED(reference_same(document, &judging->limits.reference));
  RETURN_IF_FAILED(judge_document(&judging->limits, document, name, &judged));
  judge_text(&judged, name, judging->out);
  if (judging->limits.reference_name) drift_text(document, &judging->limits.reference, judging->out);
  status_t status = judged.verdict;
  if (json) status = status_worst(status, document_write(document, json));
  judged_free(&judged);
  return status;
}

static status_t judge_run_program(const struct judge_config *config)
{
  struct judging judging = {.config = config};
  judging.out = config->json && strcmp(config->json, "-") == 0 ? stderr : output_stream();
  if (config->make) return make_policy(&config->documents, judging.out);
  if (config->json) RETURN_IF_FAILED(file_check(config->json));
  RETURN_IF_FAILED(judge_limits_read(config->policy, config->against, &judging.limits));
  status_t status = documents_visit(&config->documents, judge_one, &judging);
  judge_limits_free(&judging.limits);
  return status;
}

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  struct judge_config config = {0};
  enum option_request request = OPTION_RUN;
  start_program(about.name);
  start_signals();
  status_t status = option_parse_all(&about, argc, argv, &config, &request);
  if (status == STATUS_OK && request == OPTION_SHOW_HELP) option_print_help(&about, output_stream());
  if (status == STATUS_OK && request == OPTION_SHOW_VERSION)
    fprintf(output_stream(), "%s %s\n", about.name, meta_version());
  if (status == STATUS_OK && request == OPTION_SHOW_SCHEMA)
    status =
        log_fail(STATUS_USAGE, "--schema: a document keeps that of its own program, himeno-gpu --schema");
  if (status == STATUS_OK && request == OPTION_RUN) status = judge_run_program(&config);
  return status_exit_code(status_worst(status, file_flush_stdout()));
}
