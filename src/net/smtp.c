#include "net/smtp.h"

#include "base/digest.h"
#include "base/term.h"
#include "net/libcurl.h"

#include <stdio.h>
#include <string.h>

enum { REPLY_MAX = 300 };

/* One conversation. */
struct smtp_talk {
    CURL *curl;
    const struct smtp_server *server;
    const struct smtp_mail *mail; /* NULL: none is sent */
    size_t sent;
    char error[CURL_ERROR_SIZE];
    char reply[REPLY_MAX]; /* the server's last refusal */
};

static size_t
give_mail(char *to, size_t one, size_t n, void *ctx)
{
    struct smtp_talk *t = ctx;
    size_t left = t->mail->len - t->sent, len = n * one < left ? n * one : left;

    memcpy(to, t->mail->text + t->sent, len);
    t->sent += len;
    return len;
}

/* A line of the server: "550 no such person". */
static size_t
take_reply(char *p, size_t one, size_t n, void *ctx)
{
    struct smtp_talk *t = ctx;
    size_t len = n * one < REPLY_MAX ? n * one : REPLY_MAX;

    if (len > 3 && memcmp(p, "235", 3) == 0) /* logged in: an earlier AUTH does not count */
        t->reply[0] = '\0';
    if (len && (p[0] == '4' || p[0] == '5')) {
        snprintf(t->reply, sizeof t->reply, "%.*s", (int)len, p);
        t->reply[strcspn(t->reply, "\r\n")] = '\0';
    }
    return n * one;
}

#define SET(t, option, value) (ok = !curl.easy_setopt((t)->curl, (option), (value)) && ok)

static bool
set_up(struct smtp_talk *t, struct curl_slist *to)
{
    const struct smtp_server *server = t->server;
    bool ok = true, is_v6 = strchr(server->host, ':') != NULL;
    char url[512];
    int len = snprintf(url, sizeof url, "smtp%s://%s%s%s:%u/", server->tls == SMTP_TLS ? "s" : "",
                       is_v6 ? "[" : "", server->host, is_v6 ? "]" : "", server->port);

    if (len >= (int)sizeof url)
        return false;
    SET(t, CURLOPT_ERRORBUFFER, t->error);
    SET(t, CURLOPT_URL, url);
    SET(t, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(t, CURLOPT_PROXY, "");
    SET(t, CURLOPT_NOSIGNAL, 1L);
    SET(t, CURLOPT_TIMEOUT_MS, (long)server->timeout_ms);
    SET(t, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(server->timeout_ms / 1000 + 1));
    if (server->tls == SMTP_STARTTLS)
        SET(t, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
    if (server->ca_file)
        SET(t, CURLOPT_CAINFO, server->ca_file);
    if (server->user)
        SET(t, CURLOPT_USERNAME, server->user);
    if (server->user)
        SET(t, CURLOPT_PASSWORD, server->password ? server->password : "");
    SET(t, CURLOPT_HEADERFUNCTION, take_reply);
    SET(t, CURLOPT_HEADERDATA, t);
    if (!t->mail) {
        SET(t, CURLOPT_CUSTOMREQUEST, "NOOP");
        SET(t, CURLOPT_NOBODY, 1L);
        return ok;
    }
    SET(t, CURLOPT_MAIL_FROM, t->mail->from);
    SET(t, CURLOPT_MAIL_RCPT, to);
    SET(t, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
    SET(t, CURLOPT_UPLOAD, 1L);
    SET(t, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->mail->len);
    SET(t, CURLOPT_READFUNCTION, give_mail);
    SET(t, CURLOPT_READDATA, t);
    return ok;
}

static struct curl_slist *
list_of(const struct smtp_mail *mail)
{
    struct curl_slist *list = NULL;

    for (size_t i = 0; mail && i < mail->n_to; i++) {
        struct curl_slist *longer = curl.slist_append(list, mail->to[i]);
        if (!longer) {
            curl.slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static enum status
status_of(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return ST_TIMEOUT;
    case CURLE_LOGIN_DENIED:
    case CURLE_USE_SSL_FAILED:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SEND_ERROR: /* "MAIL failed: 550" */
    case CURLE_WEIRD_SERVER_REPLY:
        return ST_FAILED;
    default:
        return ST_IO;
    }
}

static bool
is_known(CURLcode code)
{
    return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
           code == CURLE_OPERATION_TIMEDOUT;
}

/* Does the server's line repeat the password, as it is or as AUTH sends it? */
static bool
repeats_password(const struct smtp_talk *t)
{
    const char *user = t->server->user, *password = t->server->password;
    struct buf plain = { 0 }, forms[2] = { { 0 }, { 0 } };
    bool is_it;

    if (!password || !*password)
        return false;
    buf_addf(&plain, "%c%s%c%s", '\0', user ? user : "", '\0', password);
    digest_base64(&forms[0], plain.p ? plain.p : "", plain.len);
    digest_base64(&forms[1], password, strlen(password));
    is_it = strstr(t->reply, password) || buf_failed(&forms[0]) || buf_failed(&forms[1]) ||
            strstr(t->reply, forms[0].p) || strstr(t->reply, forms[1].p);
    buf_release(&plain);
    buf_release(&forms[0]);
    buf_release(&forms[1]);
    return is_it;
}

/* "smtp.example.org:587: Login denied (535 5.7.8 bad credentials)" */
static enum status
say_failure(const struct smtp_talk *t, CURLcode code, bool *is_temporary, struct err *e)
{
    long answer = 0;
    struct buf reply = { 0 };
    bool is_refusal;

    curl.easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &answer);
    is_refusal = answer / 100 == 4 || answer / 100 == 5;
    *is_temporary = answer / 100 == 4 || (is_known(code) && !t->sent);
    if (code == CURLE_OUT_OF_MEMORY)
        return err_nomem(e);
    if (is_refusal && t->reply[0] && !repeats_password(t))
        term_escape(&reply, t->reply, strlen(t->reply), false);
    err_say(e, "%.200s:%u: %s%s%s%s%s", t->server->host, t->server->port,
            t->error[0] ? t->error : curl.easy_strerror(code),
            code == CURLE_USE_SSL_FAILED ? ": it does not offer STARTTLS" : "",
            reply.len ? " (" : "", reply.len ? reply.p : "", reply.len ? ")" : "");
    buf_release(&reply);
    return is_refusal ? ST_FAILED : status_of(code);
}

/* Some receivers were refused; the others have the mail, so it is not sent again. */
static enum status
say_refused(const struct smtp_talk *t, struct err *e)
{
    struct buf reply = { 0 };

    if (!repeats_password(t))
        term_escape(&reply, t->reply, strlen(t->reply), false);
    err_say(e, "%.200s:%u: not every receiver was accepted; the others have the mail (%s)",
            t->server->host, t->server->port, reply.p ? reply.p : "");
    buf_release(&reply);
    return ST_FAILED;
}

static enum status
talk(struct smtp_talk *t, bool *is_temporary, struct err *e)
{
    struct curl_slist *to = NULL;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    enum status s = libcurl_load(e);

    *is_temporary = false;
    if (s)
        return s;
    t->curl = curl.easy_init();
    if (!t->curl)
        return err_nomem(e);
    to = list_of(t->mail);
    if ((to || !t->mail) && set_up(t, to))
        code = curl.easy_perform(t->curl);
    if (code)
        s = say_failure(t, code, is_temporary, e);
    else if (t->mail && t->reply[0])
        s = say_refused(t, e);
    curl.slist_free_all(to);
    curl.easy_cleanup(t->curl);
    return s;
}

enum status
smtp_send(const struct smtp_server *server, const struct smtp_mail *mail, bool *is_temporary,
          struct err *e)
{
    struct smtp_talk t = { .server = server, .mail = mail };

    return talk(&t, is_temporary, e);
}

enum status
smtp_greet(const struct smtp_server *server, struct err *e)
{
    struct smtp_talk t = { .server = server };
    bool is_temporary;

    return talk(&t, &is_temporary, e);
}
