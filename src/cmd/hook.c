/*
 * hook - called by Claude Code, Codex and Gemini CLI at events of their agents.
 *
 * The client waits for it, so it ends within its time whatever happens, and with exit code 0: any
 * other is an answer to the client.
 */
#include "hook/hook.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { LIMIT_MS = 200, LIMIT_MAX_MS = 60000, EVENT_MAX = 64 << 20 };

static const struct opt opts[] = {
    { "client", OPT_TEXT, "CLIENT", "claude, codex or gemini; else known by the event" },
    { "as", OPT_TEXT, "IDENTITY", "who the agent is; as with cliq mcp without it" },
    { "limit", OPT_TIME, "TIME", "the client goes on after that time; default 200ms" },
    { 0 },
};

static void
give_up(int signo)
{
    (void)signo;
    _exit(0);
}

static void
set_limit(int64_t ms)
{
    struct sigaction act = { .sa_handler = give_up };
    struct itimerval when = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &when, NULL);
}

/* The whole answer, or none of it: the limit does not cut it. */
static void
print(const struct buf *answer)
{
    sigset_t alarm, mask;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, &mask);
    for (size_t at = 0; at < answer->len;) {
        ssize_t n = SYS_RETRY(sys->write(STDOUT_FILENO, answer->p + at, answer->len - at));
        if (n <= 0)
            _exit(0); /* the client is gone: what it would have told stays unread */
        at += (size_t)n;
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void
tell(const struct err *e)
{
    struct buf line = { 0 };

    term_escape(&line, e->text, strlen(e->text), false);
    if (!buf_failed(&line) && line.len)
        fprintf(stderr, "cliq hook: %s\n", line.p);
    buf_release(&line);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf text = BUF_MAX(EVENT_MAX), answer = { 0 };
    const char *id = args_text(a, "client");
    int64_t limit = args_ms(a, "limit", LIMIT_MS);
    struct hook_options o = { .identity = args_text(a, "as"),
                              .client = agent_client_find(id),
                              .lock_wait_ms = LIMIT_MAX_MS };
    struct err why = { "" };
    struct hook h = { 0 };

    if (id && !o.client)
        return err_set(e, ST_INVALID, "--client is claude, codex or gemini, not \"%s\"", id);
    if (o.identity && path_check_name("identity", o.identity, e))
        return ST_INVALID;
    if (limit < 1 || limit > LIMIT_MAX_MS)
        return err_set(e, ST_INVALID, "--limit is a time up to one minute, as in 200ms");
    set_limit(limit);
    signal(SIGPIPE, SIG_IGN);
    enum status s = path_read_fd(STDIN_FILENO, "the event on standard input", &text, &why);
    if (!s)
        s = hook_begin(&h, &o, text.p ? text.p : "", text.len, &answer, &why);
    if (s)
        tell(&why);
    else
        print(&answer);
    hook_end(&h);
    buf_release(&text);
    buf_release(&answer);
    return ST_OK;
}

const struct cmd cmd_hook = {
    .name = "hook",
    .brief = "answer an event of Claude Code, Codex or Gemini CLI",
    .about =
        "The clients call it at events of their agents; cliq install registers it. It reads\n"
        "the event on standard input and answers in the client's form:\n"
        "\n"
        "The agent stops: unread messages make it go on with them, once.\n"
        "It is asked something: unread messages are added to the prompt.\n"
        "It is to write a file: refused if another identity has leased the file (cliq lease),\n"
        "with the holder and until when.\n"
        "It used a tool: its claims and leases that would end soon become longer.\n"
        "Its session begins, or ends: agent:ID:wake or agent:ID:sleep is broadcast.\n"
        "\n"
        "A message that was told is marked as seen. The agent is --as, else CLIQ_IDENTITY,\n"
        "else the phase that cliq run started it for, else client and directory, like\n"
        "claude-shop: the same as for cliq mcp. With CLIQ_URL and CLIQ_KEY the server is\n"
        "asked.\n"
        "\n"
        "It never holds up a client: after --limit, and whenever something is wrong (a locked\n"
        "store, no store, an event that it does not know), it ends with exit code 0 and no\n"
        "answer, which means: go on. Messages then stay unread until the next event. Files\n"
        "that a shell command writes are not known before it runs, except those of a patch;\n"
        "cliq lease guard --install checks commits.\n"
        "\n"
        "cliq serve answers POST /hooks/claude in the same way, for HTTP hooks of Claude Code\n"
        "where cliq is not installed: the key of the request, with the scope inbox, says who the\n"
        "agent is. In ~/.claude/settings.json, for each of SessionStart, UserPromptSubmit,\n"
        "PreToolUse, PostToolUse, Stop and SessionEnd:\n"
        "  \"Stop\": [{\"hooks\": [{\"type\": \"http\", \"url\": "
        "\"http://HOST:PORT/hooks/claude\",\n"
        "    \"headers\": {\"Authorization\": \"Bearer KEY\"}}]}]",
    .examples =
        "cliq install --client claude\n"
        "echo '{\"hook_event_name\":\"Stop\",\"cwd\":\"/srv/shop\"}' | cliq hook --client claude",
    .opts = opts,
    .run = run,
};
