#include "train_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300 };

static train_setting known[MOST];
static int num_known;

void train_complain(const char* option, const char* value, const char* expected) {
  fprintf(stderr, "train: --%s %s: expected %s (try --help)\n", option, value, expected);
  exit(2);
}

void train_settings_load(void) {
  static const char* const subjects[] = {"dataset", "model", "sampler", "trainer"};
  for (size_t s = 0; s < sizeof subjects / sizeof *subjects; ++s) {
    gnnmg_setting_info info = {.struct_size = sizeof info};
    for (int64_t i = 0; gnnmg_setting_get_info(subjects[s], i, &info) == GNNMG_OK; ++i) {
      if (num_known == MOST) abort();
      train_setting* setting = &known[num_known++];
      setting->subject = subjects[s];
      setting->info = info;
      snprintf(setting->option, sizeof setting->option, "%s", info.name);
      for (char* c = setting->option; *c; ++c)
        if (*c == '_') *c = '-';
    }
  }
}

train_setting* train_settings_at(int index) { return index < num_known ? &known[index] : NULL; }

train_setting* train_settings_find(const char* subject, const char* name) {
  for (int i = 0; i < num_known; ++i)
    if (strcmp(known[i].subject, subject) == 0 && strcmp(known[i].info.name, name) == 0)
      return &known[i];
  fprintf(stderr, "train: libgnnmg has no setting %s of the subject %s\n", name, subject);
  exit(1);
}

const char* train_setting_value(const char* subject, const char* name) {
  const train_setting* setting = train_settings_find(subject, name);
  return setting->value ? setting->value : setting->info.default_value;
}

int train_setting_given(const char* subject, const char* name) {
  return train_settings_find(subject, name)->value != NULL;
}

void train_setting_set(const char* subject, const char* name, const char* value) {
  train_settings_find(subject, name)->value = value;
}

/* Ranges are "1 to 64", "0 to below 1", "above 0 to 1", "0 or more" or "above 0"; whatever else a
 * text says, the library checks. */
static int in_range(double value, const char* range) {
  const int above = strncmp(range, "above ", 6) == 0;
  const char* begin = above ? range + 6 : range;
  char* end;
  const double low = strtod(begin, &end);
  if (end == begin) return 1;
  if (above ? !(value > low) : !(value >= low)) return 0;
  if (strncmp(end, " to below ", 10) == 0) return value < strtod(end + 10, NULL);
  return strncmp(end, " to ", 4) != 0 || value <= strtod(end + 4, NULL);
}

/* 1: `text` is one number of the setting. */
static int is_number(const gnnmg_setting_info* info, const char* text) {
  char* end;
  errno = 0;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value - value == 0) || !in_range(value, info->values)) return 0;
  if (strcmp(info->type, "number") == 0) return 1;
  (void)(*text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10));
  return !*end && errno == 0;
}

/* 1: `word` is one of the words in `list`, which has ", " between them. */
static int is_word(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; length > 0 && (at = strstr(at, word)) != NULL; ++at)
    if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ',')) return 1;
  return 0;
}

static int is_value(const gnnmg_setting_info* info, const char* text) {
  if (strcmp(info->type, "flag") == 0) return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
  if (strcmp(info->type, "choice") == 0 || strcmp(info->type, "choices") == 0)
    return is_word(info->values, text);
  return strcmp(info->type, "text") == 0 ? *text != 0 : is_number(info, text);
}

static void check(const gnnmg_setting_info* info, const char* option, const char* value) {
  const int words = strncmp(info->type, "choice", 6) == 0;
  const int flag = strcmp(info->type, "flag") == 0, integers = strcmp(info->type, "integers") == 0;
  int right = 1;
  if (integers || strcmp(info->type, "choices") == 0) {
    for (const char* at = value; right; ++at) { /* parts with commas between */
      char part[64];
      const size_t length = strcspn(at, ",");
      snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : 0), at);
      right = is_value(info, part);
      at += length;
      if (!*at) break;
    }
  } else {
    right = is_value(info, value);
  }
  if (right) return;
  char expected[512];
  snprintf(expected, sizeof expected, "%s%s%s",
           words                                ? "one of "
           : flag                               ? ""
           : integers                           ? "integers with commas between"
           : strcmp(info->type, "integer") == 0 ? "an integer"
           : strcmp(info->type, "number") == 0  ? "a number"
                                                : "a text",
           *info->values && !words && !flag ? ", " : "", info->values);
  train_complain(option, value, expected);
}

void train_setting_take(train_setting* setting, const char* option, char* value) {
  static const char* const shorter[][2] = {{"leaky", "leaky_relu"}, {"auc", "roc_auc"}};
  const gnnmg_setting_info* info = &setting->info;
  const char* text = value;
  if (strncmp(info->type, "choice", 6) == 0) {
    for (char* c = value; *c; ++c)
      if (*c == '-') *c = '_';
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; ++i)
      if (strcmp(value, shorter[i][0]) == 0) text = shorter[i][1];
  }
  check(info, option, text);
  setting->value = text;
}

char* train_settings_text(const char* subject, const char* more) {
  size_t size = strlen(more) + 1;
  for (int i = 0; i < num_known; ++i)
    if (known[i].value) size += strlen(known[i].info.name) + 2 * strlen(known[i].value) + 4;
  char* text = malloc(size);
  if (text == NULL) abort();
  char* at = text;
  for (int i = 0; i < num_known; ++i) {
    const train_setting* setting = &known[i];
    if (strcmp(setting->subject, subject) != 0 || !setting->value) continue;
    at += sprintf(at, "%s=", setting->info.name);
    const int quoted = strpbrk(setting->value, " \t\"\\") != NULL;
    if (quoted) *at++ = '"';
    for (const char* c = setting->value; *c; ++c) {
      if (quoted && (*c == '"' || *c == '\\')) *at++ = '\\';
      *at++ = *c;
    }
    if (quoted) *at++ = '"';
    *at++ = ' ';
  }
  strcpy(at, more);
  return text;
}
