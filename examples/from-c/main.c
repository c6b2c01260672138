/* Fits a line through points by gradient descent, with a loss and its gradient that were written in another language. */

#include <stdio.h>
#include <stdlib.h>

#include "loss.h"

/* Ends the program with the report of an error, if there is one. */
static void check(regraft_error *error) {
    if (error) {
        fputs(regraft_error_report(error), stderr);
        regraft_error_free(error);
        exit(1);
    }
}

int main(void) {
    /* The first index runs fastest: a column of ones, and the places 0, 1, 2, 3. The points are on 1 + 2 t. */
    const double a[] = {1, 1, 1, 1, 0, 1, 2, 3};
    const double b[] = {1, 3, 5, 7};
    double x[] = {0, 0}, dx[2], da[8], db[4], value;

    for (int step = 0; step < 500; step++) {
        check(loss_gradient(a, 4, 2, x, 2, b, 4, da, dx, db, &value));
        x[0] -= 0.1 * dx[0];
        x[1] -= 0.1 * dx[1];
    }
    check(loss(a, 4, 2, x, 2, b, 4, &value));
    printf("%.3f + %.3f t, loss %.6f\n", x[0], x[1], value);

    /* Errors say where they come from. */
    regraft_error *error = loss(a, 4, 2, x, 2, b, 3, &value);
    if (!error) {
        error = loss(a, 2, 4, x, 2, b, 4, &value);
    }
    printf("%s\n", error ? regraft_error_message(error) : "no error");
    regraft_error_free(error);
    return 0;
}
