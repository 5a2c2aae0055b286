// libmemcached for the program `peers`, which becomes this one: PROTOCOL (ascii or binary), then the arguments that `peers` had,
// without the client's name. Threads take their connections from libmemcached's own pool.
#include <libmemcached/memcached.h>
#include <libmemcached/util.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIB 1024
#define MOST_KEYS 1000
#define KEY_LEN 16

enum kind { GET, MISS, SET, INCR, CAS, MULTI };

struct op {
    const char *name;
    enum kind kind;
    size_t amount; // bytes of the value, or keys in a call
};

static const struct op ops[] = {
    {"get100", GET, 100},         {"get10k", GET, 10 * KIB},    {"get100k", GET, 100 * KIB}, {"get900k", GET, 900 * KIB},
    {"miss", MISS, 0},            {"set100", SET, 100},         {"set10k", SET, 10 * KIB},   {"set100k", SET, 100 * KIB},
    {"set900k", SET, 900 * KIB},  {"incr", INCR, 0},            {"cas", CAS, 100},           {"multi10", MULTI, 10},
    {"multi100", MULTI, 100},     {"multi1000", MULTI, 1000},
};

// What one thread works with.
struct work {
    const struct op *op;
    size_t count;
    char text[MOST_KEYS][KEY_LEN + 1];
    const char *keys[MOST_KEYS];
    size_t lens[MOST_KEYS];
    memcached_result_st result;
};

static char value[900 * KIB];

static void fail(const char *what) {
    fprintf(stderr, "libmemcached: %s\n", what);
    exit(1);
}

static void check(memcached_st *client, memcached_return_t code) {
    if (code != MEMCACHED_SUCCESS) fail(memcached_strerror(client, code));
}

static const struct op *find(const char *name) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name)) return &ops[i];
    fail("no such operation");
    return NULL;
}

static memcached_st *connect_to(const char *protocol, const struct op *op, const char *addr) {
    memcached_st *client = memcached_create(NULL);
    if (!client) fail("no memory");
    check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1));
    if (!strcmp(protocol, "binary")) check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1));
    if (op->kind == CAS) check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1));
    char *copy = strdup(addr), *rest = NULL;
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *colon = strrchr(one, ':');
        if (!colon) fail("an address without a port");
        *colon = 0;
        check(client, memcached_server_add(client, one, (in_port_t)atoi(colon + 1)));
    }
    free(copy);
    return client;
}

static void store(memcached_st *client, const char *key, const char *bytes, size_t len) {
    check(client, memcached_set(client, key, KEY_LEN, bytes, len, 0, 0));
}

static struct work *new_work(memcached_st *master, const struct op *op, unsigned thread) {
    struct work *work = calloc(1, sizeof *work);
    if (!work || !memcached_result_create(master, &work->result)) fail("no memory");
    // Operations that meet on one server at different times must not find each other's keys.
    char kind = "gnsicm"[op->kind];
    work->op = op;
    work->count = op->kind == MULTI ? op->amount : 1;
    for (size_t i = 0; i < work->count; i++) {
        snprintf(work->text[i], sizeof work->text[i], "peers_%c_%03u_%04u", kind, thread % 1000, (unsigned)(i % 10000));
        work->keys[i] = work->text[i];
        work->lens[i] = KEY_LEN;
    }
    return work;
}

static void get(memcached_st *client, const struct work *work) {
    size_t len;
    uint32_t flags;
    memcached_return_t code;
    char *found = memcached_get(client, work->keys[0], KEY_LEN, &len, &flags, &code);
    if (work->op->kind == MISS) {
        if (code != MEMCACHED_NOTFOUND) fail("no miss");
    } else {
        check(client, code);
        if (len != work->op->amount) fail("not the answer due");
    }
    free(found);
}

static void cas(memcached_st *client, struct work *work) {
    memcached_return_t code;
    check(client, memcached_mget(client, work->keys, work->lens, 1));
    if (!memcached_fetch_result(client, &work->result, &code)) fail("a miss");
    uint64_t number = memcached_result_cas(&work->result);
    while (memcached_fetch_result(client, &work->result, &code));
    check(client, memcached_cas(client, work->keys[0], KEY_LEN, value, work->op->amount, 0, 0, number));
}

static void multi(memcached_st *client, struct work *work) {
    memcached_return_t code;
    size_t found = 0;
    check(client, memcached_mget(client, work->keys, work->lens, work->count));
    while (memcached_fetch_result(client, &work->result, &code)) found++;
    if (found != work->count) fail("keys are missing");
}

static void run(memcached_st *client, struct work *work) {
    uint64_t counter;
    switch (work->op->kind) {
    case GET:
    case MISS: get(client, work); break;
    case SET: store(client, work->keys[0], value, work->op->amount); break;
    case INCR: check(client, memcached_increment(client, work->keys[0], KEY_LEN, 1, &counter)); break;
    case CAS: cas(client, work); break;
    case MULTI: multi(client, work); break;
    }
}

// Stores what the operation asks for, and does it once.
static void prepare(memcached_st *client, struct work *work) {
    switch (work->op->kind) {
    case GET:
    case CAS: store(client, work->keys[0], value, work->op->amount); break;
    case INCR: store(client, work->keys[0], "0", 1); break;
    case MULTI:
        for (size_t i = 0; i < work->count; i++) store(client, work->keys[i], value, 100);
        break;
    case MISS:
    case SET: break;
    }
    run(client, work);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct thread {
    pthread_t id;
    unsigned number;
    const struct op *op;
    memcached_st *master;
    memcached_pool_st *pool;
    pthread_barrier_t *start;
    uint64_t nanos;
    uint32_t *times; // nanoseconds of each operation, the last of which ended late
    size_t count, room;
};

// When all threads end: set by the first that begins.
static _Atomic uint64_t end;

// Waits for a connection as long as it takes.
static memcached_st *take(memcached_pool_st *pool) {
    memcached_return_t code;
    memcached_st *client = memcached_pool_pop(pool, true, &code);
    if (!client) fail("the pool gives no connection");
    return client;
}

static void *thread_main(void *argument) {
    struct thread *thread = argument;
    struct work *work = new_work(thread->master, thread->op, thread->number);
    memcached_st *client = take(thread->pool);
    prepare(client, work);
    memcached_pool_push(thread->pool, client);
    pthread_barrier_wait(thread->start);
    uint64_t begun = now(), unset = 0;
    atomic_compare_exchange_strong(&end, &unset, begun + thread->nanos);
    for (;;) {
        client = take(thread->pool);
        run(client, work);
        memcached_pool_push(thread->pool, client);
        uint64_t ended = now(), took = ended - begun;
        if (thread->count == thread->room) {
            thread->room = thread->room ? 2 * thread->room : 1 << 14;
            thread->times = realloc(thread->times, thread->room * sizeof *thread->times);
            if (!thread->times) fail("no memory");
        }
        thread->times[thread->count++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
        if (ended > end) break;
        begun = ended;
    }
    memcached_result_free(&work->result);
    free(work);
    return NULL;
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double micros(const uint32_t *times, size_t count, double share) {
    return times[(size_t)((double)(count - 1) * share + 0.5)] / 1e3;
}

static void print(const struct thread *threads, unsigned count) {
    size_t sum = 0, busiest = 0, laziest = SIZE_MAX;
    for (unsigned i = 0; i < count; i++) {
        size_t in_time = threads[i].count - 1;
        sum += in_time;
        if (in_time > busiest) busiest = in_time;
        if (in_time < laziest) laziest = in_time;
    }
    size_t filled = 0;
    uint32_t *all = malloc((sum + count) * sizeof *all);
    if (!all) fail("no memory");
    for (unsigned i = 0; i < count; i++) {
        memcpy(all + filled, threads[i].times, threads[i].count * sizeof *all);
        filled += threads[i].count;
    }
    qsort(all, filled, sizeof *all, ascending);
    printf("operations %zu\n", sum);
    printf("p50 %.1f p99 %.1f max %.1f\n", micros(all, filled, 0.5), micros(all, filled, 0.99), micros(all, filled, 1));
    printf("busiest %zu laziest %zu\n", busiest, laziest);
    free(all);
}

static void in_threads(memcached_st *master, const struct op *op, unsigned count, unsigned connections, uint64_t nanos) {
    // Each connection opens at its first use.
    memcached_pool_st *pool = memcached_pool_create(master, connections, connections);
    struct thread *threads = calloc(count, sizeof *threads);
    pthread_barrier_t start;
    if (!pool || !threads || pthread_barrier_init(&start, NULL, count)) fail("no memory");
    for (unsigned i = 0; i < count; i++) {
        threads[i] = (struct thread){.number = i, .op = op, .master = master, .pool = pool, .start = &start, .nanos = nanos};
        if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i])) fail("no thread");
    }
    for (unsigned i = 0; i < count; i++) pthread_join(threads[i].id, NULL);
    print(threads, count);
    for (unsigned i = 0; i < count; i++) free(threads[i].times);
    free(threads);
    memcached_pool_destroy(pool);
}

int main(int argc, char **argv) {
    memset(value, 'v', sizeof value);
    if (argc == 6 && !strcmp(argv[2], "one")) {
        const struct op *op = find(argv[3]);
        memcached_st *client = connect_to(argv[1], op, argv[5]);
        struct work *work = new_work(client, op, 0);
        prepare(client, work);
        for (long left = atol(argv[4]); left > 0; left--) run(client, work);
        memcached_result_free(&work->result);
        free(work);
        memcached_free(client);
        puts("allocations - bytes -");
        return 0;
    }
    if (argc == 8 && !strcmp(argv[2], "threads")) {
        const struct op *op = find(argv[3]);
        memcached_st *master = connect_to(argv[1], op, argv[7]);
        in_threads(master, op, (unsigned)atoi(argv[4]), (unsigned)atoi(argv[5]), (uint64_t)atol(argv[6]) * 1000000u);
        memcached_free(master);
        return 0;
    }
    fputs("started by `peers` alone\n", stderr);
    return 1;
}
