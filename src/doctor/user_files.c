/* user_files - the user's directory, <config>: settings, keys, who may read them, and whether the
 * alarm of sleeping runs is there. */
#include "doctor/doctor.h"

#include "base/path.h"
#include "doctor/file_mode.h"
#include "doctor/stale_files.h"
#include "run/sleeping.h"

#include <poll.h>
#include <unistd.h>

static const struct {
    const char *name, *path;
    enum file_kind kind;
} files[] = {
    { "settings.json", "settings.json", FILE_PRIVATE },
    { "admin.key", "admin.key", FILE_PRIVATE },
    { "trusted", "trusted", FILE_OWN },
    { "agents", "agents", DIR_OWN },
};

enum { N_FILES = sizeof files / sizeof *files, ALARM_TRIES = 500, ALARM_TRY_MS = 10 };

/* Do the settings say what they should? Both files, merged: an error names its file. */
static void
look_at_settings(struct doctor *d)
{
    struct settings s = { 0 };
    struct err e;

    if (settings_load(&s, d->project.state_dir, &e))
        doctor_add(d, DOCTOR_ERROR, "settings", "cliq help settings", "%s", e.text);
    else
        doctor_add(d, DOCTOR_OK, "settings", NULL, "%s/settings.json%s", d->config,
                   d->project.state_dir ? " and the project's" : "");
    settings_release(&s);
}

/* The next command that deals with reviews would start it, too; until then nobody is reminded. */
static void
look_at_alarm(struct doctor *d)
{
    bool is_watched;
    size_t n = sleeping_count(d->config, &is_watched);

    if (n && is_watched)
        doctor_add(d, DOCTOR_OK, "alarm", NULL, "%zu run%s sleep%s until people answer", n,
                   n == 1 ? "" : "s", n == 1 ? "s" : "");
    else if (n)
        doctor_add_mendable(d, DOCTOR_WARNING, "alarm", "cliq review --all",
                            "%zu run%s sleep%s, and the process that reminds people and ends their "
                            "reviews was killed",
                            n, n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static void
mend_alarm(const struct doctor *d)
{
    bool is_watched = false;

    sleeping_alarm_start(d->config);
    for (int i = 0; i < ALARM_TRIES && sleeping_count(d->config, &is_watched) && !is_watched; i++)
        poll(NULL, 0, ALARM_TRY_MS);
}

void
user_files_look(struct doctor *d)
{
    if (!d->config) {
        doctor_add(d, DOCTOR_ERROR, "home", "export HOME=/home/YOU",
                   "neither HOME nor CLIQ_HOME is set");
        return;
    }
    if (access(d->config, F_OK) != 0) {
        doctor_add_mendable(d, DOCTOR_NOTE, "directory", "cliq setup", "%s is not there yet",
                            d->config);
        return;
    }
    file_mode_look(d, "directory", d->config, DIR_OWN);
    for (size_t i = 0; i < N_FILES; i++)
        file_mode_look(d, files[i].name, doctor_text(d, "%s/%s", d->config, files[i].path),
                       files[i].kind);
    stale_files_look(d, d->config);
    look_at_settings(d);
    look_at_alarm(d);
}

void
user_files_mend(struct doctor *d)
{
    int dir = -1;

    if (!d->config || path_open_dir(d->config, true, &dir, NULL))
        return;
    close(dir);
    file_mode_mend(d->config, DIR_OWN);
    for (size_t i = 0; i < N_FILES; i++)
        file_mode_mend(doctor_text(d, "%s/%s", d->config, files[i].path), files[i].kind);
    stale_files_mend(d->config);
    mend_alarm(d);
}
