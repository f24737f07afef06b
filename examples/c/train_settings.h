/* The library's settings as options of `train`: gnnmg_setting_get_info() lists them, so that each
 * is an option under its own name, with hyphens: hidden_dim is --hidden-dim. */
#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

#include <gnnmg.h>

typedef struct train_setting {
  const char* subject; /* "dataset", "model", "sampler" or "trainer" */
  gnnmg_setting_info info;
  char option[64];
  const char* value; /* NULL: not given */
} train_setting;

/* Reads the lists of all subjects. */
void train_settings_load(void);

/* The settings from 0 on; NULL past the last. */
train_setting* train_settings_at(int index);

/* A setting that there is. */
train_setting* train_settings_find(const char* subject, const char* name);

/* The value that was given or, for the program's own defaults, set; else the library's default. */
const char* train_setting_value(const char* subject, const char* name);

/* 1: it was given or set. */
int train_setting_given(const char* subject, const char* name);

/* Sets a value that the program knows to be right. The text must live as long as the program. */
void train_setting_set(const char* subject, const char* name, const char* value);

/* Takes the value of an option; ends the program with an error if it is no value of the setting.
 * The program has further words: "labor-once", "leaky", "auc". The text must live as long as the
 * program, and may be changed. */
void train_setting_take(train_setting* setting, const char* option, char* value);

/* All values of a subject as a text for the library, with `more` at its end. The caller frees it.
 */
char* train_settings_text(const char* subject, const char* more);

/* Ends the program with an error about the value of an option. */
void train_complain(const char* option, const char* value, const char* expected);

#endif
