// The programs of the benchmark `scalar`, as in C.

#include <stdint.h>

int64_t fib(int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// A hash of 1 to n, by the algorithm FNV-1a, a number instead of a byte at a time.
int64_t hash(int64_t n) {
    uint64_t h = 1469598103934665603u;
    for (int64_t i = 1; i <= n; i++)
        h = (h ^ (uint64_t)i) * 1099511628211u;
    return (int64_t)h;
}

// The logistic map after n steps.
double logistic(int64_t n) {
    double x = 0.5;
    for (int64_t i = 1; i <= n; i++)
        x = 3.75 * x * (1.0 - x);
    return x;
}

// The number of steps that the integers up to n take to come to 1 by the rule of Collatz.
int64_t collatz(int64_t n) {
    int64_t steps = 0;
    for (int64_t i = 1; i <= n; i++)
        for (int64_t k = i; k != 1; steps++)
            k = k % 2 == 0 ? k / 2 : 3 * k + 1;
    return steps;
}
