/* The help of `train`. */
#ifndef TRAIN_HELP_H
#define TRAIN_HELP_H

/* Prints the options of a topic, those of all topics for "all", or the first page for NULL. */
void train_help_print(const char* topic);

/* 1: there is such a topic, or it is "all". */
int train_help_knows(const char* topic);

#endif
