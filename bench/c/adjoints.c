/* Gradients of the cases that systems are compared by, written by hand: what is asked of an adjoint, and no more.

   A function computes the gradient of its case by the arguments that have a shadow, and sets the shadows to it. The value of
   the case is not computed. Elements stand column by column. `work` is room for 2^20 numbers, whatever they were. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An argument: its elements, and the place for the derivative by it. */
struct argument {
    double *data, *shadow;
    size_t rows, columns;
};

static size_t length(const struct argument *x) { return x->rows * x->columns; }

/* sum(y .+= x) */
static void foo(double *restrict y, double *restrict dy, const double *restrict x, double *restrict dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
        dy[i] = 1;
        dx[i] = 1;
    }
}

void foo_gradient(const struct argument *args, double *work)
{
    (void)work;
    foo(args[0].data, args[0].shadow, args[1].data, args[1].shadow, length(args));
}

/* sum(x) */
void sum_gradient(const struct argument *args, double *work)
{
    (void)work;
    double *restrict dx = args->shadow;
    for (size_t i = 0, n = length(args); i < n; i++)
        dx[i] = 1;
}

/* sum(sin(cos(exp(x)))) */
static void sce(const double *restrict x, double *restrict dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double e = exp(x[i]);
        dx[i] = -cos(cos(e)) * sin(e) * e;
    }
}

void sce_gradient(const struct argument *args, double *work)
{
    (void)work;
    sce(args->data, args->shadow, length(args));
}

/* sum over i, j, k, l of a[i, j] * b[k, l], as four loops: the derivative of each product is added where it belongs. */
static void kron(const double *restrict a, double *restrict da, size_t m, const double *restrict b, double *restrict db, size_t n)
{
    memset(db, 0, n * sizeof *db);
    for (size_t i = 0; i < m; i++) {
        double by_a = 0;
        for (size_t k = 0; k < n; k++) {
            by_a += b[k];
            db[k] += a[i];
        }
        da[i] = by_a;
    }
}

void kron_gradient(const struct argument *args, double *work)
{
    (void)work;
    kron(args[0].data, args[0].shadow, length(args), args[1].data, args[1].shadow, length(args + 1));
}

/* h = tanh(w x + b) of one column */
static void layer(const double *restrict w, const double *restrict b, const double *restrict x, double *restrict h, size_t from,
                  size_t to)
{
    for (size_t j = 0; j < to; j++)
        h[j] = b[j];
    for (size_t i = 0; i < from; i++)
        for (size_t j = 0; j < to; j++)
            h[j] += w[i * to + j] * x[i];
    for (size_t j = 0; j < to; j++)
        h[j] = tanh(h[j]);
}

/* What one column adds to the derivatives by a layer, of which it is the first one or not. */
static void layer_back(double *restrict dw, double *restrict db, const double *restrict x, const double *restrict dz, size_t from,
                       size_t to, int is_first)
{
    if (is_first) {
        for (size_t j = 0; j < to; j++)
            db[j] = dz[j];
        for (size_t i = 0; i < from; i++)
            for (size_t j = 0; j < to; j++)
                dw[i * to + j] = dz[j] * x[i];
    } else {
        for (size_t j = 0; j < to; j++)
            db[j] += dz[j];
        for (size_t i = 0; i < from; i++)
            for (size_t j = 0; j < to; j++)
                dw[i * to + j] += dz[j] * x[i];
    }
}

/* The derivatives by what goes into a layer, times those of the tanh that it comes from. */
static void inputs_back(const double *restrict w, const double *restrict dz, const double *restrict h, double *restrict dx,
                        size_t from, size_t to)
{
    for (size_t i = 0; i < from; i++) {
        double by_h = 0;
        for (size_t j = 0; j < to; j++)
            by_h += w[i * to + j] * dz[j];
        dx[i] = by_h * (1 - h[i] * h[i]);
    }
}

/* sum(tanh(w2 tanh(w1 x + b1) + b2)) over all columns of x */
void mlp_gradient(const struct argument *args, double *work)
{
    const struct argument *w1 = args, *b1 = args + 1, *w2 = args + 2, *b2 = args + 3, *x = args + 4;
    size_t n0 = w1->columns, n1 = w1->rows, n2 = w2->rows;
    double *h1 = work, *h2 = h1 + n1, *dz1 = h2 + n2;
    for (size_t r = 0; r < x->columns; r++) {
        const double *column = x->data + r * n0;
        layer(w1->data, b1->data, column, h1, n0, n1);
        layer(w2->data, b2->data, h1, h2, n1, n2);
        for (size_t j = 0; j < n2; j++)
            h2[j] = 1 - h2[j] * h2[j];
        layer_back(w2->shadow, b2->shadow, h1, h2, n1, n2, r == 0);
        inputs_back(w2->data, h2, h1, dz1, n1, n2);
        layer_back(w1->shadow, b1->shadow, column, dz1, n0, n1, r == 0);
    }
}

/* Weights that are proportional to the exponentials of some terms, and add up to one, in their place. */
static void softmax(double *restrict terms, size_t n)
{
    double most = terms[0], sum = 0;
    for (size_t k = 1; k < n; k++)
        most = terms[k] > most ? terms[k] : most;
    for (size_t k = 0; k < n; k++) {
        terms[k] = exp(terms[k] - most);
        sum += terms[k];
    }
    for (size_t k = 0; k < n; k++)
        terms[k] /= sum;
}

/* The log likelihood of points under a mixture, with a Wishart prior of gamma = 1 and m = 0. Of each point, only what lies
   between its cluster's mean and itself is kept, until its weights are known. */
static void gmm(const double *restrict alphas, double *restrict dalphas, const double *restrict means, double *restrict dmeans,
                const double *restrict icf, double *restrict dicf, const double *restrict x, size_t d, size_t k, size_t n,
                double *restrict work)
{
    size_t size = d * (d + 1) / 2;
    double *restrict q = work, *restrict sums = q + d * k, *restrict terms = sums + k;
    double *restrict centers = terms + k, *restrict ys = centers + d * k, *restrict dc = ys + d * k;
    memset(dalphas, 0, k * sizeof *dalphas);
    memset(dmeans, 0, d * k * sizeof *dmeans);
    memset(dicf, 0, size * k * sizeof *dicf);
    for (size_t j = 0; j < k; j++) {
        sums[j] = 0;
        for (size_t i = 0; i < d; i++) {
            q[j * d + i] = exp(icf[j * size + i]);
            sums[j] += icf[j * size + i];
        }
    }
    for (size_t p = 0; p < n; p++) {
        for (size_t j = 0; j < k; j++) {
            double *restrict c = centers + j * d, *restrict y = ys + j * d, square = 0;
            const double *restrict factor = icf + j * size + d;
            for (size_t i = 0; i < d; i++) {
                c[i] = x[p * d + i] - means[j * d + i];
                y[i] = q[j * d + i] * c[i];
            }
            for (size_t i = 0; i < d; factor += d - 1 - i, i++)
                for (size_t l = i + 1; l < d; l++)
                    y[l] += factor[l - i - 1] * c[i];
            for (size_t i = 0; i < d; i++)
                square += y[i] * y[i];
            terms[j] = alphas[j] + sums[j] - 0.5 * square;
        }
        softmax(terms, k);
        for (size_t j = 0; j < k; j++) {
            const double *restrict c = centers + j * d, *restrict factor = icf + j * size + d, weight = terms[j];
            double *restrict y = ys + j * d, *restrict dfactor = dicf + j * size + d;
            dalphas[j] += weight;
            for (size_t i = 0; i < d; i++) {
                y[i] *= -weight;
                dc[i] = q[j * d + i] * y[i];
                dicf[j * size + i] += y[i] * c[i];
            }
            for (size_t i = 0; i < d; factor += d - 1 - i, dfactor += d - 1 - i, i++) {
                double by_c = 0;
                for (size_t l = i + 1; l < d; l++) {
                    by_c += factor[l - i - 1] * y[l];
                    dfactor[l - i - 1] += y[l] * c[i];
                }
                dc[i] += by_c;
            }
            for (size_t i = 0; i < d; i++)
                dmeans[j * d + i] -= dc[i];
        }
    }
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < d; i++) {
            double at = q[j * d + i];
            dicf[j * size + i] = (dicf[j * size + i] + at) * at + dalphas[j];
        }
        for (size_t i = d; i < size; i++)
            dicf[j * size + i] += icf[j * size + i];
        terms[j] = alphas[j];
    }
    softmax(terms, k);
    for (size_t j = 0; j < k; j++)
        dalphas[j] -= (double)n * terms[j];
}

void gmm_gradient(const struct argument *args, double *work)
{
    const struct argument *alphas = args, *means = args + 1, *icf = args + 2, *x = args + 3;
    gmm(alphas->data, alphas->shadow, means->data, means->shadow, icf->data, icf->shadow, x->data, x->rows, length(alphas), x->columns,
        work);
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* A rotation: its axis, angle, and the sine and cosine of that. */
struct rotation {
    double axis[3], angle, sine, cosine;
};

/* The derivatives by the rotation vector and the point, of what has the derivatives `g` by the rotated point. */
static void rotate_back(const struct rotation *r, const double *p, const double *g, double *restrict dr, double *restrict dp)
{
    double pg[3], wg[3];
    cross(p, g, pg);
    if (r->angle == 0) {
        for (int i = 0; i < 3; i++) {
            dr[i] = pg[i];
            dp[i] = g[i];
        }
        return;
    }
    cross(r->axis, g, wg);
    double along_p = dot(r->axis, p), along_g = dot(r->axis, g), rest = 1 - r->cosine, by_axis[3];
    for (int i = 0; i < 3; i++) {
        dp[i] = g[i] * r->cosine - wg[i] * r->sine + r->axis[i] * along_g * rest;
        by_axis[i] = r->sine * pg[i] + rest * (along_p * g[i] + along_g * p[i]);
    }
    double by_angle = r->cosine * dot(r->axis, pg) + r->sine * (along_p * along_g - dot(g, p));
    double along = dot(r->axis, by_axis), inverse = 1 / r->angle;
    for (int i = 0; i < 3; i++)
        dr[i] = (by_axis[i] - r->axis[i] * along) * inverse + r->axis[i] * by_angle;
}

/* The derivatives of both errors of an observation by the camera, the point and the weight, in two columns. */
static void observe(const double *restrict camera, const double *restrict point, double weight, const double *restrict feature,
                    double *restrict columns)
{
    struct rotation r = {{0, 0, 0}, sqrt(dot(camera, camera)), 0, 1};
    double p[3], y[3], wp[3];
    for (int i = 0; i < 3; i++)
        p[i] = point[i] - camera[3 + i];
    if (r.angle == 0) {
        cross(camera, p, wp);
        for (int i = 0; i < 3; i++)
            y[i] = p[i] + wp[i];
    } else {
        double inverse = 1 / r.angle;
        for (int i = 0; i < 3; i++)
            r.axis[i] = camera[i] * inverse;
        r.sine = sin(r.angle);
        r.cosine = cos(r.angle);
        cross(r.axis, p, wp);
        double along = dot(r.axis, p) * (1 - r.cosine);
        for (int i = 0; i < 3; i++)
            y[i] = p[i] * r.cosine + wp[i] * r.sine + r.axis[i] * along;
    }
    double inverse = 1 / y[2], at[2] = {y[0] * inverse, y[1] * inverse};
    double square = at[0] * at[0] + at[1] * at[1], focal = camera[6];
    double distortion = 1 + square * (camera[9] + square * camera[10]);
    double slope = 2 * focal * (camera[9] + 2 * square * camera[10]), scale = focal * distortion;
    for (int e = 0; e < 2; e++) {
        double *restrict out = columns + 15 * e, by_at[2], g[3], dp[3];
        for (int i = 0; i < 2; i++)
            by_at[i] = weight * (slope * at[e] * at[i] + (i == e ? scale : 0));
        g[0] = by_at[0] * inverse;
        g[1] = by_at[1] * inverse;
        g[2] = -(by_at[0] * at[0] + by_at[1] * at[1]) * inverse;
        rotate_back(&r, p, g, out, dp);
        for (int i = 0; i < 3; i++) {
            out[3 + i] = -dp[i];
            out[11 + i] = dp[i];
        }
        out[6] = weight * at[e] * distortion;
        out[7] = e == 0 ? weight : 0;
        out[8] = e == 1 ? weight : 0;
        out[9] = weight * focal * at[e] * square;
        out[10] = out[9] * square;
        out[14] = at[e] * scale + camera[7 + e] - feature[e];
    }
}

void ba_gradient(const struct argument *args, double *work)
{
    (void)work;
    const int64_t *camera = (const int64_t *)args[4].data, *point = (const int64_t *)args[5].data;
    for (size_t i = 0, n = length(args + 3); i < n; i++)
        observe(args[1].data + 11 * (camera[i] - 1), args[2].data + 3 * (point[i] - 1), args[3].data[i], args[6].data + 2 * i,
                args[0].data + 30 * i);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* The places for what a unit of a layer computes at a step, each a row of `b` numbers. */
enum { INPUT, HIDDEN, CELL, FORGET, INGATE, OUTGATE, CHANGE, SQUASHED, KEPT };

/* A layer reads `x` and leaves there what it puts out. What its derivative needs goes to `kept`. */
static void lstm_layer(const double *restrict w, double *restrict hidden, double *restrict cell, double *restrict x,
                       double *restrict kept, size_t b)
{
    for (size_t i = 0; i < b; i++) {
        double forget = sigmoid(x[i] * w[i] + w[4 * b + i]), ingate = sigmoid(hidden[i] * w[b + i] + w[5 * b + i]);
        double outgate = sigmoid(x[i] * w[2 * b + i] + w[6 * b + i]), change = tanh(hidden[i] * w[3 * b + i] + w[7 * b + i]);
        double next = cell[i] * forget + ingate * change, squashed = tanh(next);
        kept[INPUT * b + i] = x[i];
        kept[HIDDEN * b + i] = hidden[i];
        kept[CELL * b + i] = cell[i];
        kept[FORGET * b + i] = forget;
        kept[INGATE * b + i] = ingate;
        kept[OUTGATE * b + i] = outgate;
        kept[CHANGE * b + i] = change;
        kept[SQUASHED * b + i] = squashed;
        cell[i] = next;
        x[i] = hidden[i] = outgate * squashed;
    }
}

/* The way back of a layer: `dx` is the derivative by what it puts out, and then the one by what it has read; `dhidden` and
   `dcell` are those by its state behind and then before the step. */
static void lstm_layer_back(const double *restrict w, double *restrict dw, const double *restrict kept, double *restrict dhidden,
                            double *restrict dcell, double *restrict dx, size_t b)
{
    for (size_t i = 0; i < b; i++) {
        double forget = kept[FORGET * b + i], ingate = kept[INGATE * b + i], outgate = kept[OUTGATE * b + i];
        double change = kept[CHANGE * b + i], squashed = kept[SQUASHED * b + i], by_hidden = dx[i] + dhidden[i];
        double by_cell = dcell[i] + by_hidden * outgate * (1 - squashed * squashed);
        double zf = by_cell * kept[CELL * b + i] * forget * (1 - forget), zi = by_cell * change * ingate * (1 - ingate);
        double zo = by_hidden * squashed * outgate * (1 - outgate), zc = by_cell * ingate * (1 - change * change);
        double x = kept[INPUT * b + i], hidden = kept[HIDDEN * b + i];
        dw[i] += zf * x;
        dw[b + i] += zi * hidden;
        dw[2 * b + i] += zo * x;
        dw[3 * b + i] += zc * hidden;
        dw[4 * b + i] += zf;
        dw[5 * b + i] += zi;
        dw[6 * b + i] += zo;
        dw[7 * b + i] += zc;
        dcell[i] = by_cell * forget;
        dhidden[i] = zi * w[b + i] + zc * w[3 * b + i];
        dx[i] = zf * w[i] + zo * w[2 * b + i];
    }
}

/* The derivatives by what a step expects, of the next character: a share of the mean, the other way round. */
static void expect_back(const double *restrict y, const double *restrict next, double share, double *restrict dy, size_t b)
{
    double all = 2, sum = 0;
    for (size_t i = 0; i < b; i++) {
        dy[i] = exp(y[i]);
        all += dy[i];
        sum += next[i];
    }
    for (size_t i = 0; i < b; i++)
        dy[i] = share * (sum * dy[i] / all - next[i]);
}

void lstm_gradient(const struct argument *args, double *work)
{
    const struct argument *w = args, *extra = args + 1, *state = args + 2, *sequence = args + 3;
    size_t b = sequence->rows, steps = sequence->columns - 1, layers = state->columns / 2;
    const double *restrict in = extra->data, *restrict out = in + b, *restrict bias = out + b, *restrict text = sequence->data;
    double *restrict din = extra->shadow, *restrict dout = din + b, *restrict dbias = dout + b;
    double *memory = work, *x = memory + 2 * b * layers, *kept = x + b, *hs = kept + KEPT * b * layers * steps, *ys = hs + b * steps;
    double share = 1 / ((double)steps * (double)b);
    memcpy(memory, state->data, 2 * b * layers * sizeof *memory);
    for (size_t t = 0; t < steps; t++) {
        for (size_t i = 0; i < b; i++)
            x[i] = text[t * b + i] * in[i];
        for (size_t l = 0; l < layers; l++)
            lstm_layer(w->data + 8 * b * l, memory + 2 * b * l, memory + (2 * l + 1) * b, x, kept + KEPT * b * (t * layers + l), b);
        for (size_t i = 0; i < b; i++) {
            hs[t * b + i] = x[i];
            ys[t * b + i] = x[i] * out[i] + bias[i];
        }
    }
    memset(memory, 0, 2 * b * layers * sizeof *memory);
    memset(w->shadow, 0, 8 * b * layers * sizeof *w->shadow);
    memset(extra->shadow, 0, 3 * b * sizeof *extra->shadow);
    for (size_t t = steps; t-- > 0;) {
        expect_back(ys + t * b, text + (t + 1) * b, share, x, b);
        for (size_t i = 0; i < b; i++) {
            dout[i] += x[i] * hs[t * b + i];
            dbias[i] += x[i];
            x[i] *= out[i];
        }
        for (size_t l = layers; l-- > 0;)
            lstm_layer_back(w->data + 8 * b * l, w->shadow + 8 * b * l, kept + KEPT * b * (t * layers + l), memory + 2 * b * l,
                            memory + (2 * l + 1) * b, x, b);
        for (size_t i = 0; i < b; i++)
            din[i] += x[i] * text[t * b + i];
    }
}
