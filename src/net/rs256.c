#include "net/rs256.h"

#include "base/dynlib.h"

#include <pthread.h>
#include <string.h>

/* The functions of libcrypto that this needs: the same in OpenSSL 1.1 and 3. */
static struct {
    void *(*BIO_new_mem_buf)(const void *p, int len);
    int (*BIO_free)(void *bio);
    void *(*PEM_read_bio_PrivateKey)(void *bio, void **key, void *password, void *ctx);
    int (*EVP_PKEY_get_base_id)(const void *key);
    void (*EVP_PKEY_free)(void *key);
    void *(*EVP_MD_CTX_new)(void);
    void (*EVP_MD_CTX_free)(void *ctx);
    const void *(*EVP_sha256)(void);
    int (*EVP_DigestSignInit)(void *ctx, void **pctx, const void *md, void *engine, void *key);
    int (*EVP_DigestSign)(void *ctx, unsigned char *to, size_t *n, const unsigned char *p,
                          size_t len);
} crypto;

enum { RSA = 6 /* NID_rsaEncryption */ };

static bool is_loaded;

static void
load_once(void)
{
    static const struct dynlib_function functions[] = {
#define NAME(name) { #name, &crypto.name, NULL }
        NAME(BIO_new_mem_buf),
        NAME(BIO_free),
        NAME(PEM_read_bio_PrivateKey),
        { "EVP_PKEY_get_base_id", &crypto.EVP_PKEY_get_base_id, "EVP_PKEY_base_id" },
        NAME(EVP_PKEY_free),
        NAME(EVP_MD_CTX_new),
        NAME(EVP_MD_CTX_free),
        NAME(EVP_sha256),
        NAME(EVP_DigestSignInit),
        NAME(EVP_DigestSign),
#undef NAME
    };
    const size_t n = sizeof functions / sizeof *functions;
    char why[256];

    is_loaded = dynlib_load("libcrypto.so.3", functions, n, why, sizeof why) ||
                dynlib_load("libcrypto.so.1.1", functions, n, why, sizeof why);
}

static enum status
sign(void *key, const void *p, size_t len, struct buf *signature, struct err *e)
{
    void *ctx = crypto.EVP_MD_CTX_new();
    enum status s = ST_OK;
    size_t n = 0;

    if (!ctx)
        return err_nomem(e);
    if (crypto.EVP_DigestSignInit(ctx, NULL, crypto.EVP_sha256(), NULL, key) != 1 ||
        crypto.EVP_DigestSign(ctx, NULL, &n, p, len) != 1) {
        s = err_set(e, ST_FAILED, "libcrypto cannot sign with this key");
    } else {
        unsigned char *room = (unsigned char *)buf_room(signature, n);
        if (!room)
            s = buf_status(signature, "the signature", e);
        else if (crypto.EVP_DigestSign(ctx, room, &n, p, len) != 1)
            s = err_set(e, ST_FAILED, "libcrypto cannot sign with this key");
        else
            buf_grew(signature, n);
    }
    crypto.EVP_MD_CTX_free(ctx);
    return s;
}

enum status
rs256_sign(const char *pem, const void *p, size_t len, struct buf *signature, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_once);
    if (!is_loaded)
        return err_set(e, ST_IO,
                       "signing a token needs OpenSSL's libcrypto, which cannot be loaded: install "
                       "it (Debian: apt-get install libssl3)");
    void *bio = crypto.BIO_new_mem_buf(pem, (int)strlen(pem));
    if (!bio)
        return err_nomem(e);
    char password[] = ""; /* given, so that libcrypto does not ask for one at the terminal */
    void *key = crypto.PEM_read_bio_PrivateKey(bio, NULL, NULL, password);
    enum status s = ST_OK;
    if (!key || crypto.EVP_PKEY_get_base_id(key) != RSA)
        s = err_set(e, ST_INVALID, "the private key is no RSA key in PEM without a password");
    if (!s)
        s = sign(key, p, len, signature, e);
    if (key)
        crypto.EVP_PKEY_free(key);
    crypto.BIO_free(bio);
    return s;
}
