"""The functions of programs in C that compute arrays from open sizes; a program has those that it calls."""

#: The type of such an array.
VALUES = """
/* An array that is computed from the sizes: dense, of at most 8 dimensions. */
struct values {
    int rank, is_own; /* whether its memory is its own */
    int64_t shape[8];
    void * data;
};
"""

#: Where they are released.
RELEASE = """static void release_arrays(struct @name@ * m) {
    size_t i;
    for (i = 0; i < sizeof(m->arrays) / sizeof(*m->arrays); i++) values_drop(&m->arrays[i]);
}

"""

#: By name, after what they call. Those that make an array return 1, or 0 where that cannot be done.
HELPERS = {
    "values_drop": """static void values_drop(struct values * v) {
    if (v->is_own) SimdFree(v->data);
    v->is_own = 0;
    v->data = NULL;
}
""",
    "values_count": """static int64_t values_count(const struct values * v) {
    int64_t count = 1;
    int i;
    for (i = 0; i < v->rank; i++) count *= v->shape[i];
    return count;
}
""",
    "values_make": """/* Makes an array of a shape, of at most 2 GB, without its elements. */
static int values_make(struct values * v, size_t item, int64_t rank, const int64_t * shape) {
    double bytes = (double)item;
    int i;
    if (rank > 8) return 0;
    v->rank = (int)rank;
    for (i = 0; i < v->rank; i++) {
        if (shape[i] < 0) return 0;
        v->shape[i] = shape[i];
        bytes *= (double)shape[i];
    }
    v->data = bytes <= 2147483648.0 ? allocated((size_t)bytes, 64) : NULL;
    v->is_own = v->data != NULL;
    return v->is_own;
}
""",
    "values_known": """/* Makes an array of elements that are known. */
static int values_known(struct values * v, int rank, const int64_t * shape, const void * data) {
    v->rank = rank;
    if (rank) memcpy(v->shape, shape, (size_t)rank * sizeof(*shape));
    v->data = (void *)data;
    return 1;
}
""",
    "values_broadcast": """/* Makes an array of the shape to which three others are broadcast. */
static int values_broadcast(struct values * v, size_t item, const struct values * a, const struct values * b,
                            const struct values * c) {
    const struct values * const all[] = {a, b, c};
    int64_t shape[8];
    int rank = 0, i, k;
    for (k = 0; k < 3; k++)
        if (all[k]->rank > rank) rank = all[k]->rank;
    for (i = 0; i < rank; i++) {
        shape[i] = 1;
        for (k = 0; k < 3; k++) {
            int axis = i - rank + all[k]->rank;
            int64_t n = axis < 0 ? 1 : all[k]->shape[axis];
            if (shape[i] == 1) shape[i] = n;
            else if (n != 1 && n != shape[i]) return 0;
        }
    }
    return values_make(v, item, rank, shape);
}
""",
    "values_place": """/* The element that is broadcast to element i of another array. */
static int64_t values_place(const struct values * v, const struct values * to, int64_t i) {
    int64_t found = 0, step = 1;
    int k;
    for (k = 1; k <= v->rank; k++) {
        int64_t n = v->shape[v->rank - k];
        if (n != 1) found += i % to->shape[to->rank - k] * step;
        i /= to->shape[to->rank - k];
        step *= n;
    }
    return found;
}
""",
    "values_move": """/* Makes an array of a shape with elements at strides in another one, from a first one on. */
static int values_move(struct values * v, size_t item, const struct values * from, int64_t rank, const int64_t * shape,
                       const int64_t * strides, int64_t first) {
    const int64_t run = rank > 0 && strides[rank - 1] == 1 ? shape[rank - 1] : 1; /* elements side by side */
    int64_t i, count;
    if (!values_make(v, item, rank, shape)) return 0;
    count = values_count(v);
    for (i = 0; i < count; i += run) {
        int64_t place = first, left = i;
        int k;
        for (k = v->rank - 1; k >= 0; k--) {
            place += left % shape[k] * strides[k];
            left /= shape[k];
        }
        memcpy((char *)v->data + (size_t)i * item, (const char *)from->data + (size_t)place * item, (size_t)run * item);
    }
    return 1;
}
""",
    "values_transpose": """/* Makes an array of the same dimensions in another order. */
static int values_transpose(struct values * v, size_t item, const struct values * from, const int * axes) {
    int64_t shape[8], strides[8], dense[8], step = 1;
    int i;
    for (i = from->rank - 1; i >= 0; i--) {
        dense[i] = step;
        step *= from->shape[i];
    }
    for (i = 0; i < from->rank; i++) {
        shape[i] = from->shape[axes[i]];
        strides[i] = dense[axes[i]];
    }
    return values_move(v, item, from, from->rank, shape, strides, 0);
}
""",
    "values_slice": """/* Makes an array of a part of one dimension, as Slice of ONNX does. */
static int values_slice(struct values * v, size_t item, const struct values * from, int axis, int64_t start, int64_t end,
                        int64_t step) {
    int64_t shape[8], strides[8], n = from->shape[axis], last = step > 0 ? n : n - 1, low = step > 0 ? 0 : -1;
    int64_t dense = 1, distance, pace = step > 0 ? step : step < -INT64_MAX ? INT64_MAX : -step;
    int i;
    if (step == 0) return 0;
    if (start < 0) start = start < -n ? 0 : start + n;
    if (start > last) start = last;
    if (end < 0) end = end < low - n ? low : end + n < low ? low : end + n;
    if (end > last) end = last;
    distance = step > 0 ? end - start : start - end;
    for (i = from->rank - 1; i >= 0; i--) {
        shape[i] = from->shape[i];
        strides[i] = dense;
        dense *= shape[i];
    }
    start *= strides[axis];
    shape[axis] = distance <= 0 ? 0 : (distance - 1) / pace + 1;
    strides[axis] = shape[axis] > 1 ? step * strides[axis] : 0;
    return values_move(v, item, from, from->rank, shape, strides, start);
}
""",
    "values_reshape": """/* Makes an array of another shape; -1 in it is what is left, 0 the size of `from` if keeps is 1. */
static int values_reshape(struct values * v, size_t item, const struct values * from, int64_t rank, const int64_t * sizes,
                          int keeps) {
    int64_t shape[8], count = values_count(from), others = 1;
    int i, open = -1;
    if (rank > 8) return 0;
    for (i = 0; i < (int)rank; i++) {
        shape[i] = sizes[i];
        if (keeps && shape[i] == 0) {
            if (i >= from->rank) return 0;
            shape[i] = from->shape[i];
        }
        if (shape[i] >= 0) {
            if (shape[i] > 2147483648 || (others *= shape[i]) > 2147483648) return 0;
        } else if (shape[i] != -1 || open >= 0) {
            return 0;
        } else {
            open = i;
        }
    }
    if (open >= 0) shape[open] = others ? count / others : 0;
    if (others * (open < 0 ? 1 : shape[open]) != count || (open >= 0 && !others)) return 0;
    if (!values_make(v, item, rank, shape)) return 0;
    if (count) memcpy(v->data, from->data, (size_t)count * item);
    return 1;
}
""",
    "values_expand": """/* Makes an array of the shape to which another one and these sizes are broadcast. */
static int values_expand(struct values * v, size_t item, const struct values * from, int64_t rank, const int64_t * sizes) {
    struct values to;
    int64_t i, count;
    if (rank > 8) return 0;
    memset(&to, 0, sizeof(to));
    to.rank = (int)rank;
    for (i = 0; i < rank; i++) to.shape[i] = sizes[i];
    if (!values_broadcast(v, item, from, &to, &to)) return 0;
    count = values_count(v);
    for (i = 0; i < count; i++)
        memcpy((char *)v->data + (size_t)i * item, (const char *)from->data + (size_t)values_place(from, v, i) * item, item);
    return 1;
}
""",
    "values_join": """/* Makes an array of several, one after the other along one dimension. */
static int values_join(struct values * v, size_t item, int axis, int parts, const struct values * const * from) {
    int64_t shape[8], before = 1, after = (int64_t)item, i, done = 0;
    int k, part;
    for (k = 0; k < from[0]->rank; k++) {
        shape[k] = k == axis ? 0 : from[0]->shape[k];
        if (k < axis) before *= shape[k];
        if (k > axis) after *= shape[k];
        for (part = 0; part < parts; part++) {
            if (from[part]->rank != from[0]->rank || (k != axis && from[part]->shape[k] != shape[k])) return 0;
            if (k == axis) shape[k] += from[part]->shape[k];
        }
    }
    if (!values_make(v, item, from[0]->rank, shape)) return 0;
    for (part = 0; part < parts; part++) {
        const char * source = (const char *)from[part]->data;
        size_t bytes = (size_t)(from[part]->shape[axis] * after);
        for (i = 0; bytes && i < before; i++)
            memcpy((char *)v->data + i * shape[axis] * after + done, source + (size_t)i * bytes, bytes);
        done += (int64_t)bytes;
    }
    return 1;
}
""",
    "values_take": """/* Makes an array of what indices say of one dimension. */
static int values_take(struct values * v, size_t item, int axis, const struct values * from, const struct values * indices) {
    const int64_t * places = (const int64_t *)indices->data;
    int64_t shape[8], before = 1, n = from->shape[axis], count = values_count(indices), i, k;
    size_t bytes = item;
    int rank = 0, j;
    if (from->rank - 1 + indices->rank > 8) return 0;
    for (j = 0; j < axis; j++) before *= shape[rank++] = from->shape[j];
    for (j = 0; j < indices->rank; j++) shape[rank++] = indices->shape[j];
    for (j = axis + 1; j < from->rank; j++) bytes *= (size_t)(shape[rank++] = from->shape[j]);
    for (k = 0; k < count; k++)
        if (places[k] < -n || places[k] >= n) return 0;
    if (!values_make(v, item, rank, shape)) return 0;
    for (i = 0; bytes && i < before; i++)
        for (k = 0; k < count; k++)
            memcpy((char *)v->data + (size_t)(i * count + k) * bytes,
                   (const char *)from->data + (size_t)(i * n + (places[k] < 0 ? places[k] + n : places[k])) * bytes, bytes);
    return 1;
}
""",
    "values_nonzero": """/* Makes an array of the places of what is not 0 among bytes: a row for each dimension. */
static int values_nonzero(struct values * v, const struct values * from) {
    const unsigned char * x = (const unsigned char *)from->data;
    int64_t shape[2], count = values_count(from), column = 0, i;
    shape[0] = from->rank ? from->rank : 1;
    shape[1] = 0;
    for (i = 0; i < count; i++) shape[1] += x[i] != 0;
    if (!values_make(v, sizeof(int64_t), 2, shape)) return 0;
    for (i = 0; i < count; i++) {
        int64_t left = i, axis;
        if (!x[i]) continue;
        for (axis = shape[0] - 1; axis >= 0; axis--) {
            int64_t n = from->rank ? from->shape[axis] : 1;
            ((int64_t *)v->data)[axis * shape[1] + column] = left % n;
            left /= n;
        }
        column++;
    }
    return 1;
}
""",
    "values_shape": """/* Makes an array of 1 and the sizes of another one. */
static int values_shape(struct values * v, const struct values * from, int rank) {
    const int64_t size = rank + 1;
    if (from->rank != rank || !values_make(v, sizeof(int64_t), 1, &size)) return 0;
    *(int64_t *)v->data = 1;
    if (rank) memcpy((int64_t *)v->data + 1, from->shape, (size_t)rank * sizeof(int64_t));
    return 1;
}
""",
    "values_progress": """/* Makes an array of the first index and the distance of all, 0 for different ones and for none. */
static int values_progress(struct values * v, const struct values * from) {
    const int64_t *indices = (const int64_t *)from->data, count = values_count(from), size = 2;
    int64_t *found, step = count == 1 ? 1 : count ? indices[1] - indices[0] : 0, i;
    for (i = 2; i < count; i++)
        if (indices[i] - indices[i - 1] != step) step = 0;
    if (!values_make(v, sizeof(int64_t), 1, &size)) return 0;
    found = (int64_t *)v->data;
    found[0] = count ? indices[0] : 0;
    found[1] = step;
    return 1;
}
""",
    "values_flush": """/* Makes an array with 0 in place of tiny numbers. */
static int values_flush(struct values * v, const struct values * from) {
    const float * x = (const float *)from->data;
    float * y;
    double most = 0;
    int64_t count = values_count(from), i;
    float limit;
    int some = 0;
    if (!values_make(v, sizeof(float), from->rank, from->shape)) return 0;
    y = (float *)v->data;
    for (i = 0; i < count; i++)
        if (fabs((double)x[i]) > most) most = fabs((double)x[i]);
    limit = (float)(1e-30 * (most < 1 ? most : 1));
    for (i = 0; i < count; i++) some |= fabsf(x[i]) > 0 && fabsf(x[i]) < limit;
    for (i = 0; i < count; i++) y[i] = some && fabsf(x[i]) < limit ? 0 : x[i];
    return 1;
}
""",
    "values_seen": """/* Makes an array of 1 for each row with an element above -infinity, else 0. */
static int values_seen(struct values * v, const struct values * from) {
    int64_t columns = from->rank ? from->shape[from->rank - 1] : 0, count, i, k;
    if (!columns || !values_make(v, sizeof(float), from->rank, from->shape)) return 0;
    v->shape[v->rank - 1] = 1;
    count = values_count(v);
    for (i = 0; i < count; i++) {
        float most = -INFINITY;
        for (k = 0; k < columns; k++) {
            float x = ((const float *)from->data)[i * columns + k];
            if (x > most || x != x) most = x;
        }
        ((float *)v->data)[i] = most > -INFINITY ? 1.0f : 0.0f;
    }
    return 1;
}
""",
    "integer_quotient": """/* Rounded towards 0; the divisor is not 0. */
static int64_t integer_quotient(int64_t a, int64_t b) { return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
""",
    "integer_remainder": """/* With the sign of the divisor, which is not 0. */
static int64_t integer_remainder(int64_t a, int64_t b) {
    int64_t r = b == -1 ? 0 : a % b;
    return r && (r < 0) != (b < 0) ? r + b : r;
}
""",
}
