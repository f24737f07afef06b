/* Writes all settings as JSON, one a line, by subject: bindings/settings.json, which the generators
 * of the bindings read.
 *   describe                   writes to stdout
 *   describe <settings.json>   fails if the file has other lines */
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const kSubjects[] = {
    "context", "dataset",   "split",   "folds",      "parts",      "served",
    "sampler", "loader",    "model",   "norm",       "model_file", "optimizer",
    "trainer", "predictor", "planted", "log_normal", "rmat",       "erdos_renyi"};

static void write_text(FILE* out, const char* text) {
  fputc('"', out);
  for (; *text != '\0'; ++text) {
    if (*text == '\n') {
      fputs("\\n", out);
    } else {
      if (*text == '"' || *text == '\\') fputc('\\', out);
      fputc(*text, out);
    }
  }
  fputc('"', out);
}

static void write_member(FILE* out, const char* name, const char* text) {
  fprintf(out, "\"%s\": ", name);
  write_text(out, text);
  fputs(", ", out);
}

static int write_subject(FILE* out, const char* subject) {
  gnnmg_setting_info info = {.struct_size = sizeof info};
  gnnmg_status status = GNNMG_OK;
  fprintf(out, "  \"%s\": [", subject);
  for (int64_t i = 0; (status = gnnmg_setting_get_info(subject, i, &info)) == GNNMG_OK; ++i) {
    fputs(i == 0 ? "\n    {" : ",\n    {", out);
    write_member(out, "name", info.name);
    write_member(out, "type", info.type);
    write_member(out, "default", info.default_value);
    write_member(out, "values", info.values);
    write_member(out, "help", info.help);
    fprintf(out, "\"field\": %s}", info.is_field ? "true" : "false");
  }
  fputs("\n  ]", out);
  if (status == GNNMG_END) return 0;
  fprintf(stderr, "%s: %s\n", subject, gnnmg_last_error());
  return 1;
}

/* Tells if the rest of a file is equal to the rest of another. */
static int are_equal(FILE* a, FILE* b) {
  char line[8192], other[8192];
  while (fgets(line, sizeof line, a) != NULL) {
    if (fgets(other, sizeof other, b) == NULL || strcmp(line, other) != 0) {
      fprintf(stderr, "the library says\n%s", line);
      return 0;
    }
  }
  return fgets(other, sizeof other, b) == NULL;
}

int main(int argc, char** argv) {
  FILE* out = argc > 1 ? tmpfile() : stdout;
  if (out == NULL) return 1;
  fputs("{\n", out);
  const size_t count = sizeof kSubjects / sizeof *kSubjects;
  for (size_t i = 0; i < count; ++i) {
    if (write_subject(out, kSubjects[i]) != 0) return 1;
    fputs(i + 1 < count ? ",\n" : "\n}\n", out);
  }
  if (argc == 1) return 0;
  FILE* kept = fopen(argv[1], "r");
  rewind(out);
  if (kept != NULL && are_equal(out, kept)) return 0;
  fprintf(stderr, "%s has other settings: run `%s >%s`, then the generators of the bindings\n",
          argv[1], argv[0], argv[1]);
  return 1;
}
