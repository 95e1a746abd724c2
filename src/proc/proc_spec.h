/*
 * spec - what to run, as a file: how the orchestrator tells a tmux pane.
 *
 *     {"argv":["/usr/bin/agent","-x"],"env":["PATH=/usr/bin","A=b"],"dir":"/project",
 *      "in":"message.json","out":"logs/build.1.log","attempt_file":"attempts/build.1"}
 *
 *   field          meaning                                        when absent
 *   argv           program and arguments, one at least            refused
 *   env            the complete environment                       empty
 *   dir            working directory                              as it is
 *   in, out        standard input; output and errors, appended    /dev/null; as they are
 *   attempt_file   made when it starts, must not be there         none is made
 *
 * A text that is not UTF-8 stands there as {"hex":"ff41"}, so that every byte arrives. An
 * unknown field is ignored. Relative paths are relative to the reader's working directory.
 * The file is 0600: the environment may hold secrets.
 */
#ifndef CLIQ_PROC_PROC_SPEC_H
#define CLIQ_PROC_PROC_SPEC_H

#include "base/arena.h"
#include "proc/proc.h"

/* Replaces what is there. */
enum status proc_spec_write(const char *path, const struct proc_spec *spec, struct err *e);

/* Strings live in the arena. ST_INVALID with the place when it is not such a file. */
enum status
proc_spec_read(const char *path, struct arena *a, struct proc_spec *spec, struct err *e);

#endif
