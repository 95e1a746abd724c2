#include "run/dag.h"

#include "test.h"

/* A team of n phases; edges are pairs (from, to), ended by SIZE_MAX. */
static void
team_of(struct team *t, size_t n, size_t n_main, const size_t *edges)
{
    *t = (struct team){ .n_phases = n, .n_main = n_main };
    t->phases = calloc(n + 1, sizeof *t->phases);
    for (size_t i = 0; i < n; i++)
        t->phases[i].is_support = i >= n_main;
    for (; edges && *edges != SIZE_MAX; edges += 2) {
        struct phase *p = &t->phases[edges[1]];
        p->deps = realloc(p->deps, (p->n_depends_on + 1) * sizeof *p->deps);
        p->deps[p->n_depends_on++] = edges[0];
    }
}

static void
team_drop(struct team *t)
{
    for (size_t i = 0; i < t->n_phases; i++)
        free(t->phases[i].deps);
    free(t->phases);
}

static uint64_t
bits(const char *members) /* "0 3 4": the members below 64 */
{
    uint64_t set = 0;
    char *end;

    for (const char *at = members; *at; at = end + strspn(end, " "))
        bit_add(&set, strtoul(at, &end, 10));
    return set;
}

/*  0 -> 1 -> 3 -> 5     2 -> 4 -> 5    0 -> 4     6 alone    7 support */
static const size_t shape[] = { 0, 1, 1, 3, 3, 5, 2, 4, 4, 5, 0, 4, SIZE_MAX };

static void
steps_are_the_longest_path_from_a_root(void **state)
{
    const uint32_t steps[] = { 0, 1, 0, 2, 1, 3, 0, 0 };
    const uint32_t order[] = { 0, 2, 6, 7, 1, 4, 3, 5 };
    struct team t;

    (void)state;
    team_of(&t, 8, 7, shape);
    struct dag *d = dag_new(&t);
    assert_non_null(d);
    assert_memory_equal(d->step, steps, sizeof steps);
    assert_memory_equal(d->order, order, sizeof order);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(d->order[d->rank[i]], i);
    dag_free(d);
    team_drop(&t);
}

static void
successors_and_edges_are_those_of_depends_on(void **state)
{
    struct team t;

    (void)state;
    team_of(&t, 8, 7, shape);
    struct dag *d = dag_new(&t);
    assert_int_equal(d->first[1] - d->first[0], 2);
    assert_int_equal(d->succ[d->first[0]], 1);
    assert_int_equal(d->succ[d->first[0] + 1], 4);
    assert_int_equal(d->first[6] - d->first[5], 0);
    assert_true(dag_is_edge(d, 0, 1));
    assert_false(dag_is_edge(d, 1, 0));
    assert_false(dag_is_edge(d, 0, 3));
    dag_free(d);
    team_drop(&t);
}

static void
paths_before_after_and_between(void **state)
{
    static const struct {
        size_t from, to;
        const char *between;
    } cases[] = {
        { 0, 5, "1 3 4" }, { 1, 5, "3" }, { 2, 5, "4" }, { 3, 5, "" },
        { 5, 0, "" },      { 6, 5, "" },  { 0, 3, "1" }, { 7, 5, "" },
    };
    struct team t;
    uint64_t set[1];

    (void)state;
    team_of(&t, 8, 7, shape);
    struct dag *d = dag_new(&t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dag_between(d, cases[i].from, cases[i].to, set);
        assert_true(set[0] == bits(cases[i].between));
    }
    dag_successors(d, 0, set);
    assert_true(set[0] == bits("1 3 4 5"));
    assert_true(dag_is_before(d, 0, 5));
    assert_false(dag_is_before(d, 5, 0));
    assert_false(dag_is_before(d, 5, 5));
    dag_free(d);
    team_drop(&t);
}

static void
the_nearest_successor_on_the_way_comes_first(void **state)
{
    struct team t;
    uint32_t way[8];

    (void)state;
    team_of(&t, 8, 7, shape);
    struct dag *d = dag_new(&t);
    assert_int_equal(dag_on_the_way(d, 0, 3, way), 1);
    assert_int_equal(way[0], 1);
    assert_int_equal(dag_on_the_way(d, 0, 5, way), 2);
    assert_int_equal(way[0], 4); /* a predecessor of 5; 1 is one further up */
    assert_int_equal(way[1], 1);
    assert_int_equal(dag_on_the_way(d, 3, 5, way), 1);
    assert_int_equal(way[0], 5); /* the phase itself */
    assert_int_equal(dag_on_the_way(d, 5, 0, way), 0);
    assert_int_equal(dag_on_the_way(d, 6, 5, way), 0);
    dag_free(d);
    team_drop(&t);
}

static void
gates_route_to_earlier_phases_and_to_support_phases(void **state)
{
    struct team t;

    (void)state;
    team_of(&t, 8, 7, shape);
    t.phases[5].type = t.phases[7].type = PHASE_GATE;
    struct dag *d = dag_new(&t);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(dag_may_route(d, 5, i), i < 5 || i == 7);
    for (size_t i = 0; i < 8; i++)
        assert_false(dag_may_route(d, 7, i)); /* no earlier phase */
    assert_false(dag_may_route(d, 3, 0));     /* not a gate */
    assert_false(dag_may_route(d, 5, 8));
    assert_false(dag_may_route(d, 99, 0));
    assert_false(dag_may_route(d, 5, SIZE_MAX));
    dag_free(d);
    team_drop(&t);
}

static void
a_cycle_or_an_unknown_dependency_is_no_dag(void **state)
{
    static const size_t circle[] = { 0, 1, 1, 2, 2, 1, SIZE_MAX }, self[] = { 1, 1, SIZE_MAX },
                        unknown[] = { 17, 1, SIZE_MAX };
    const size_t *bad[] = { circle, self, unknown };
    struct team t;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        team_of(&t, 3, 3, bad[i]);
        assert_null(dag_new(&t));
        team_drop(&t);
    }
    dag_free(NULL);
}

static void
no_phases_and_one_phase(void **state)
{
    struct team t;
    uint64_t set[1] = { 1 };

    (void)state;
    team_of(&t, 0, 0, NULL);
    struct dag *d = dag_new(&t);
    assert_non_null(d);
    dag_free(d);
    team_drop(&t);
    team_of(&t, 1, 1, NULL);
    d = dag_new(&t);
    dag_successors(d, 0, set);
    assert_true(set[0] == 0);
    dag_free(d);
    team_drop(&t);
}

static void
sets_may_span_several_words(void **state)
{
    uint64_t a[3] = { 0 }, b[3] = { 0 };

    (void)state;
    assert_int_equal(dag_words(0), 0);
    assert_int_equal(dag_words(64), 1);
    assert_int_equal(dag_words(65), 2);
    bit_add(a, 0);
    bit_add(a, 63);
    bit_add(a, 64);
    bit_add(a, 129);
    assert_int_equal(bit_next(a, 130, 0), 0);
    assert_int_equal(bit_next(a, 130, 1), 63);
    assert_int_equal(bit_next(a, 130, 64), 64);
    assert_int_equal(bit_next(a, 130, 65), 129);
    assert_int_equal(bit_next(a, 130, 130), 130);
    assert_int_equal(bit_next(b, 130, 0), 130);
    assert_false(bits_meet(a, b, 3));
    assert_true(bits_within(b, a, 3));
    bit_add(b, 129);
    assert_true(bits_meet(a, b, 3));
    assert_true(bits_within(b, a, 3));
    bit_add(b, 5);
    assert_false(bits_within(b, a, 3));
    bit_drop(b, 5);
    assert_true(bits_within(b, a, 3));
}

static void
random_graphs_agree_with_brute_force(void **state)
{
    enum { N = 70 };
    static bool reach[N][N];
    uint64_t seed = 88172645463325252u, set[2];

    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t edges[2 * N * 3 + 1], n = 0;
        struct team t;
        memset(reach, 0, sizeof reach);
        for (size_t to = 1; to < N; to++)
            for (int k = 0; k < 3; k++) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                size_t from = (seed >> 20) % (to + 1);
                if (from == to)
                    continue;
                edges[n++] = from;
                edges[n++] = to;
                reach[from][to] = true;
                for (size_t i = 0; i < to; i++)
                    reach[i][to] |= reach[i][from];
            }
        edges[n] = SIZE_MAX;
        team_of(&t, N, N, edges);
        struct dag *d = dag_new(&t);
        for (size_t from = 0; from < N; from++)
            for (size_t to = 0; to < N; to++) {
                assert_int_equal(dag_is_before(d, from, to), reach[from][to]);
                if (reach[from][to])
                    assert_true(d->step[from] < d->step[to] && d->rank[from] < d->rank[to]);
                if ((from + to) % 7 == 0) {
                    dag_between(d, from, to, set);
                    for (size_t i = 0; i < N; i++)
                        assert_int_equal(bit_has(set, i), reach[from][i] && reach[i][to]);
                }
            }
        dag_free(d);
        team_drop(&t);
    }
}

static void
a_thousand_phases(void **state)
{
    static size_t chain[2 * 1000 + 1];
    static uint64_t set[16];
    struct team t;

    (void)state;
    for (size_t i = 0; i < 999; i++) {
        chain[2 * i] = i;
        chain[2 * i + 1] = i + 1;
    }
    chain[2 * 999] = SIZE_MAX;
    team_of(&t, 1000, 1000, chain);
    struct dag *d = dag_new(&t);
    assert_int_equal(d->step[999], 999);
    dag_between(d, 0, 999, set);
    assert_int_equal(bit_next(set, 1000, 0), 1);
    assert_true(bit_has(set, 998) && !bit_has(set, 999));
    dag_free(d);
    team_drop(&t);
    team_of(&t, 1000, 1000, NULL);
    d = dag_new(&t);
    assert_int_equal(d->step[999], 0);
    assert_int_equal(d->order[999], 999);
    dag_free(d);
    team_drop(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_longest_path_from_a_root),
        cmocka_unit_test(successors_and_edges_are_those_of_depends_on),
        cmocka_unit_test(paths_before_after_and_between),
        cmocka_unit_test(the_nearest_successor_on_the_way_comes_first),
        cmocka_unit_test(gates_route_to_earlier_phases_and_to_support_phases),
        cmocka_unit_test(a_cycle_or_an_unknown_dependency_is_no_dag),
        cmocka_unit_test(no_phases_and_one_phase),
        cmocka_unit_test(sets_may_span_several_words),
        cmocka_unit_test(random_graphs_agree_with_brute_force),
        cmocka_unit_test(a_thousand_phases),
    };
    return cmocka_run_group_tests_name("dag", tests, NULL, NULL);
}
