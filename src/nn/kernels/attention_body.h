// The part of body.h that is attention: scores, softmax, weighted sum, and their gradients.
// Included by it, and internal to each file that includes it.
#pragma once

#include "nn/kernels/edge_body.h"

namespace gnnmg::nn::kernels {
namespace {

// exp(x) within three units of the last place; 0 far below, where the result would be subnormal.
// Reduction and polynomial are those of expf in Moshier's Cephes library.
inline Vector<float> exp_of(Vector<float> x) {
  const Vector<float> magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vector<float> shifted = x * 1.44269504088896341f + magic;
  const Vector<float> n = shifted - magic;
  const Vector<float> r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Vector<float> p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Vector<int32_t> power =
      (reinterpret_cast<Vector<int32_t>>(shifted) - reinterpret_cast<Vector<int32_t>>(magic) + 127)
      << 23;
  return (x < splat(-87.0f)) ? Vector<float>{} : p * reinterpret_cast<Vector<float>>(power);
}

inline void exp_all(float* x, int64_t n) {
  constexpr int kL = kLanes<float>;
  int64_t i = 0;
  for (; i + kL <= n; i += kL) store(x + i, exp_of(load(x + i)));
  if (i == n) return;
  float rest[kL] = {};
  for (int64_t k = i; k < n; ++k) rest[k - i] = x[k];
  store(rest, exp_of(load(rest)));
  for (int64_t k = i; k < n; ++k) x[k] = rest[k - i];
}
inline void exp_all(double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = __builtin_exp(x[i]);
}

template <typename T>
inline T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

// What dropout leaves of the weight at a flat place; keeps the bits of the group it was in last.
class Kept {
 public:
  explicit Kept(const Dropout& dropout) : dropout_(dropout) {}
  bool operator()(int64_t place) {
    if (place / kGroup != group_) {
      group_ = place / kGroup;
      keep_group(dropout_, group_, 0, keep_);
    }
    return keep_[place % kGroup] != 0;
  }

 private:
  const Dropout& dropout_;
  int64_t group_ = -1;
  uint32_t keep_[kGroup];
};

// The edges of one target, its loop included: place(i) is where edge i stands in arrays over edges,
// source(i) the row that it reads; `n` of them are to be looked at, some of them left out.
template <typename T>
struct EdgesOf {
  const Attention<T>& a;
  int64_t target, first, listed, n;

  EdgesOf(const Attention<T>& attention, int64_t t)
      : a(attention),
        target(t),
        first(a.lists.indptr[t]),
        listed(a.lists.indptr[t + 1] - first),
        n(listed + (a.loops && t < a.num_loops ? 1 : 0)) {}
  int64_t place(int64_t i) const { return i < listed ? first + i : a.num_edges + target; }
  int64_t source(int64_t i) const {
    return i < listed ? a.lists.indices[first + i] : a.first_own + target;
  }
  bool left_out(int64_t i) const {
    return a.loops && i < listed && a.lists.indices[first + i] == a.first_own + target;
  }
};

// What goes through the leaky function at edge i for head h of GAT.
template <typename T>
inline T gat_sum(const EdgesOf<T>& edges, int64_t i, int64_t h) {
  const Attention<T>& a = edges.a;
  T sum = a.source_scores.row(edges.source(i))[h] + a.target_scores.row(edges.target)[h];
  if (a.edge_scores) sum += a.edge_scores[edges.place(i) * a.heads + h];
  return sum;
}

template <typename T>
inline Vector<T> leaky_of(Vector<T> x, T slope) {
  return x > Vector<T>{} ? x : x * slope;
}

// What an edge adds to GATv2's sums: its features times a matrix, made column by column, so that no
// row of all channels is ever there for an edge.
template <typename T>
struct EdgeTerm {
  const T* features;
  const T* weight;
  int64_t columns, width;

  EdgeTerm(const Attention<T>& a, int64_t place)
      : features(a.edge_columns > 0 ? a.edge_features.row(place) : nullptr),
        weight(a.edge_weight),
        columns(a.edge_columns),
        width(a.heads * a.channels) {}

  Vector<T> sums(int64_t c) const {
    Vector<T> even{}, odd{};
    const T* at = weight + c;
    int64_t k = 0;
    for (; k + 1 < columns; k += 2, at += 2 * width) {
      even += splat(features[k]) * load(at);
      odd += splat(features[k + 1]) * load(at + width);
    }
    if (k < columns) even += splat(features[k]) * load(at);
    return even + odd;
  }
  T sum(int64_t c) const {
    T total = 0;
    for (int64_t k = 0; k < columns; ++k) total += features[k] * weight[k * width + c];
    return total;
  }
};

// The same for GATv2, from column c on.
template <typename T>
inline Vector<T> gatv2_sums(const T* source, const T* target, const EdgeTerm<T>& edge, int64_t c) {
  const Vector<T> sum = load(source + c) + load(target + c);
  return edge.columns > 0 ? sum + edge.sums(c) : sum;
}
template <typename T>
inline T gatv2_sum(const T* source, const T* target, const EdgeTerm<T>& edge, int64_t c) {
  const T sum = source[c] + target[c];
  return edge.columns > 0 ? sum + edge.sum(c) : sum;
}

template <typename T>
inline void gatv2_scores(const Attention<T>& a, const T* source, const T* target,
                         const EdgeTerm<T>& edge, T* scores) {
  for (int64_t h = 0; h < a.heads; ++h) {
    Vector<T> sums{};
    T rest = 0;
    for_columns<T>(
        h * a.channels, (h + 1) * a.channels,
        [&](int64_t c) {
          const Vector<T> sum = gatv2_sums(source, target, edge, c);
          sums += load(a.vector + c) * leaky_of(sum, a.slope);
        },
        [&](int64_t c) {
          const T sum = gatv2_sum(source, target, edge, c);
          rest += a.vector[c] * leaky(sum, a.slope);
        });
    scores[h] = sum_of<T>(sums) + rest;
  }
}

// What the edges ahead of edge i of a target will read; `stop` ends the lists that may be read.
template <typename T>
inline void prefetch_ahead(const EdgesOf<T>& edges, int64_t i, int64_t stop) {
  const int64_t e = edges.first + i + kAhead;
  if (i < edges.listed && e < stop)
    prefetch_row(edges.a.source.row(edges.a.lists.indices[e]),
                 edges.a.heads * (edges.a.channels + (edges.a.vector ? 0 : 1)));
}

// Scores of the edges of one target, in alpha. Left out edges get the lowest number.
template <typename T>
inline void write_scores(const EdgesOf<T>& edges, int64_t stop) {
  const Attention<T>& a = edges.a;
  for (int64_t i = 0; i < edges.n; ++i) {
    prefetch_ahead(edges, i, stop);
    const int64_t place = edges.place(i);
    T* scores = a.alpha + place * a.heads;
    if (edges.left_out(i)) {
      for (int64_t h = 0; h < a.heads; ++h) scores[h] = -__builtin_huge_val();
    } else if (a.vector) {
      gatv2_scores(a, a.source.row(edges.source(i)), a.target.row(edges.target),
                   EdgeTerm<T>(a, place), scores);
    } else {
      for (int64_t h = 0; h < a.heads; ++h) scores[h] = leaky(gat_sum(edges, i, h), a.slope);
    }
  }
}

// The softmax of what lies in alpha, head by head.
template <typename T>
inline void softmax_row(const EdgesOf<T>& edges) {
  const Attention<T>& a = edges.a;
  T* listed = a.alpha + edges.first * a.heads;
  T* loop = edges.n > edges.listed ? a.alpha + edges.place(edges.listed) * a.heads : nullptr;
  for (int64_t h = 0; h < a.heads; ++h) {
    T most = loop ? loop[h] : listed[h];
    for (int64_t i = 0; i < edges.listed; ++i) {
      const T score = listed[i * a.heads + h];
      most = score > most || score != score ? score : most;
    }
    for (int64_t i = 0; i < edges.listed; ++i) listed[i * a.heads + h] -= most;
    if (loop) loop[h] -= most;
  }
  exp_all(listed, edges.listed * a.heads);
  if (loop) exp_all(loop, a.heads);
  for (int64_t h = 0; h < a.heads; ++h) {
    T sum = 0;
    for (int64_t i = 0; i < edges.listed; ++i) sum += listed[i * a.heads + h];
    if (loop) sum += loop[h];
    const T scale = T{1} / sum;
    for (int64_t i = 0; i < edges.listed; ++i) listed[i * a.heads + h] *= scale;
    if (loop) loop[h] *= scale;
  }
}

template <typename T>
void attend(const Attention<T>& a, Matrix<T> out, int64_t begin, int64_t end) {
  Kept kept(a.dropout), kept_loop(a.dropout);
  const T scale = static_cast<T>(a.dropout.scale);
  const int64_t stop = a.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const EdgesOf<T> edges(a, t);
    bool any = false;
    for (int64_t i = 0; i < edges.n && !any; ++i) any = !edges.left_out(i);
    if (!any) {
      // Nothing to look at, or loops alone that are left out.
      for (int64_t i = 0; i < edges.n * a.heads; ++i) {
        a.alpha[edges.first * a.heads + i] = 0;
        a.weights[edges.first * a.heads + i] = 0;
      }
      for (int64_t c = 0; c < a.heads * a.channels; ++c) out.row(t)[c] = 0;
      continue;
    }
    write_scores(edges, stop);
    softmax_row(edges);
    if (a.weights != a.alpha) {
      for (int64_t i = 0; i < edges.n; ++i) {
        const int64_t place = edges.place(i);
        const T factor = a.factors ? a.factors[place] : T{1};
        Kept& bits = i < edges.listed ? kept : kept_loop;
        for (int64_t k = place * a.heads; k < (place + 1) * a.heads; ++k) {
          T weight = a.alpha[k] * factor;
          if (a.dropout.active()) weight = bits(k) ? weight * scale : T{0};
          a.weights[k] = weight;
        }
      }
    }
    const bool loop = edges.n > edges.listed;
    const int32_t* indices = a.lists.indices + edges.first;
    weighted_row<T>(
        edges.listed, edges.listed, a.heads, a.channels, false,
        [&](int64_t i) { return a.source.row(indices[i]); },
        [&](int64_t i) { return a.weights + (edges.first + i) * a.heads; },
        loop ? a.weights + edges.place(edges.listed) * a.heads : nullptr,
        loop ? a.source.row(a.first_own + t) : nullptr, out.row(t));
  }
}

// The gradient of one edge's score of GATv2 on its way to the vector, the target and what the edge
// carries.
template <typename T>
inline void gatv2_edge_backward(const Attention<T>& a, const T* source, const T* target,
                                int64_t place, const AttentionGradient<T>& to, T* vector_gradient,
                                T* to_target) {
  const EdgeTerm<T> edge(a, place);
  const T* scores = to.scores + place * a.heads;
  const int64_t columns = edge.columns, width = edge.width;
  for (int64_t h = 0; h < a.heads; ++h) {
    const T score = scores[h];
    const Vector<T> factor = splat(score);
    for_columns<T>(
        h * a.channels, (h + 1) * a.channels,
        [&](int64_t c) {
          const Vector<T> sum = gatv2_sums(source, target, edge, c);
          const Vector<T> slope = sum > Vector<T>{} ? splat(T{1}) : splat(a.slope);
          store(vector_gradient + c, load(vector_gradient + c) + factor * (sum * slope));
          const Vector<T> inner = factor * load(a.vector + c) * slope;
          store(to_target + c, load(to_target + c) + inner);
          T* weight = to.edge_weight + c;
          for (int64_t k = 0; k < columns; ++k, weight += width)
            store(weight, load(weight) + splat(edge.features[k]) * inner);
          if (to.edge_row) store(to.edge_row + c, inner);
        },
        [&](int64_t c) {
          const T sum = gatv2_sum(source, target, edge, c);
          const T slope = sum > 0 ? T{1} : a.slope;
          vector_gradient[c] += score * (sum * slope);
          const T inner = score * a.vector[c] * slope;
          to_target[c] += inner;
          for (int64_t k = 0; k < columns; ++k)
            to.edge_weight[k * width + c] += edge.features[k] * inner;
          if (to.edge_row) to.edge_row[c] = inner;
        });
  }
  if (!to.edge_row) return;
  T* to_features = to.edge_features.row(place);
  for (int64_t k = 0; k < columns; ++k) {
    const T* weight = a.edge_weight + k * width;
    Vector<T> sums{};
    T rest = 0;
    for_columns<T>(
        0, width, [&](int64_t c) { sums += load(to.edge_row + c) * load(weight + c); },
        [&](int64_t c) { rest += to.edge_row[c] * weight[c]; });
    to_features[k] = sum_of<T>(sums) + rest;
  }
}

template <typename T>
void attend_backward(const Attention<T>& a, Matrix<const T> dy,
                     const AttentionGradient<T>& gradient, T* vector_gradient, int64_t begin,
                     int64_t end) {
  Kept kept(a.dropout), kept_loop(a.dropout);
  const T scale = static_cast<T>(a.dropout.scale);
  const int64_t width = a.heads * a.channels;
  const int64_t stop = a.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const EdgesOf<T> edges(a, t);
    T* to_scores = gradient.target_scores.data ? gradient.target_scores.row(t) : nullptr;
    if (to_scores)
      for (int64_t h = 0; h < a.heads; ++h) to_scores[h] = 0;
    T* to_target = gradient.target.data ? gradient.target.row(t) : nullptr;
    if (to_target)
      for (int64_t c = 0; c < width; ++c) to_target[c] = 0;
    // By the weights, then by alpha.
    for (int64_t i = 0; i < edges.n; ++i) {
      prefetch_ahead(edges, i, stop);
      const int64_t place = edges.place(i);
      T* d = gradient.scores + place * a.heads;
      if (edges.left_out(i)) {
        for (int64_t h = 0; h < a.heads; ++h) d[h] = 0;
        if (gradient.factors) gradient.factors[place] = 0;
        continue;
      }
      head_dots(a.source.row(edges.source(i)), dy.row(t), a.heads, a.channels, d);
      if (a.weights == a.alpha) continue;
      T by_factor = 0;
      Kept& bits = i < edges.listed ? kept : kept_loop;
      for (int64_t h = 0; h < a.heads; ++h) {
        if (a.dropout.active()) d[h] = bits(place * a.heads + h) ? d[h] * scale : T{0};
        if (!a.factors) continue;
        by_factor += d[h] * a.alpha[place * a.heads + h];
        d[h] *= a.factors[place];
      }
      if (gradient.factors) gradient.factors[place] = by_factor;
    }
    // By the scores, and through the leaky function.
    for (int64_t h = 0; h < a.heads; ++h) {
      T mean = 0;
      for (int64_t i = 0; i < edges.n; ++i) {
        const int64_t k = edges.place(i) * a.heads + h;
        mean += a.alpha[k] * gradient.scores[k];
      }
      for (int64_t i = 0; i < edges.n; ++i) {
        const int64_t k = edges.place(i) * a.heads + h;
        T d = a.alpha[k] * (gradient.scores[k] - mean);
        if (!a.vector) {
          if (!(gat_sum(edges, i, h) > 0)) d *= a.slope;
          to_scores[h] += d;
        }
        gradient.scores[k] = d;
      }
    }
    if (!a.vector) continue;
    for (int64_t i = 0; i < edges.n; ++i) {
      const int64_t place = edges.place(i);
      gatv2_edge_backward(a, a.source.row(edges.source(i)), a.target.row(t), place, gradient,
                          vector_gradient, to_target);
    }
  }
}

// dx += the gradient of one edge's score of GATv2 by its source.
template <typename T>
inline void gatv2_to_source(const Attention<T>& a, const T* source, const T* target, int64_t place,
                            const T* all_scores, T* dx) {
  const EdgeTerm<T> edge(a, place);
  const T* scores = all_scores + place * a.heads;
  for (int64_t h = 0; h < a.heads; ++h) {
    const T score = scores[h];
    const Vector<T> factor = splat(score);
    for_columns<T>(
        h * a.channels, (h + 1) * a.channels,
        [&](int64_t c) {
          const Vector<T> sum = gatv2_sums(source, target, edge, c);
          const Vector<T> slope = sum > Vector<T>{} ? splat(T{1}) : splat(a.slope);
          store(dx + c, load(dx + c) + factor * load(a.vector + c) * slope);
        },
        [&](int64_t c) {
          const T sum = gatv2_sum(source, target, edge, c);
          dx[c] += score * a.vector[c] * (sum > 0 ? T{1} : a.slope);
        });
  }
}

template <typename T>
void attend_transposed(const Attention<T>& a, const EdgesBySource& by_source, Matrix<const T> dy,
                       const T* scores, Matrix<T> dx, Matrix<T> score_gradients, int64_t begin,
                       int64_t end) {
  const int64_t stop = by_source.lists.indptr[end];
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = by_source.lists.indptr[s];
    const int32_t* targets = by_source.lists.indices + first;
    const int32_t* places = by_source.positions + first;
    const int64_t n =
        count_below(targets, by_source.lists.indptr[s + 1] - first, by_source.num_targets);
    const bool loop = a.loops && s < a.num_loops;
    const int64_t loop_place = a.num_edges + s;
    weighted_row<T>(
        n, stop - first, a.heads, a.channels, false, [&](int64_t e) { return dy.row(targets[e]); },
        [&](int64_t e) { return a.weights + int64_t{places[e]} * a.heads; },
        loop ? a.weights + loop_place * a.heads : nullptr, loop ? dy.row(s) : nullptr, dx.row(s));
    if (!a.vector) {
      T* to = score_gradients.row(s);
      for (int64_t h = 0; h < a.heads; ++h) to[h] = loop ? scores[loop_place * a.heads + h] : T{0};
      for (int64_t e = 0; e < n; ++e)
        for (int64_t h = 0; h < a.heads; ++h) to[h] += scores[int64_t{places[e]} * a.heads + h];
      continue;
    }
    for (int64_t e = 0; e < n; ++e)
      gatv2_to_source(a, a.source.row(s), a.target.row(targets[e]), places[e], scores, dx.row(s));
    if (loop) gatv2_to_source(a, a.source.row(s), a.target.row(s), loop_place, scores, dx.row(s));
  }
}

template <typename T>
void softmax(Lists lists, const T* scores, int64_t heads, T* out, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t n = lists.indptr[t + 1] - lists.indptr[t];
    const T* from = scores + lists.indptr[t] * heads;
    T* to = out + lists.indptr[t] * heads;
    for (int64_t h = 0; h < heads && n > 0; ++h) {
      T most = from[h];
      for (int64_t i = 1; i < n; ++i) {
        const T score = from[i * heads + h];
        most = score > most || score != score ? score : most;
      }
      for (int64_t i = 0; i < n; ++i) to[i * heads + h] = from[i * heads + h] - most;
    }
    exp_all(to, n * heads);
    for (int64_t h = 0; h < heads; ++h) {
      T sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += to[i * heads + h];
      const T scale = T{1} / sum;
      for (int64_t i = 0; i < n; ++i) to[i * heads + h] *= scale;
    }
  }
}

template <typename T>
void softmax_backward(Lists lists, const T* out, const T* gradient, int64_t heads, T* scores,
                      int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = lists.indptr[t] * heads, last = lists.indptr[t + 1] * heads;
    for (int64_t h = 0; h < heads; ++h) {
      T mean = 0;
      for (int64_t i = first + h; i < last; i += heads) mean += out[i] * gradient[i];
      for (int64_t i = first + h; i < last; i += heads) scores[i] = out[i] * (gradient[i] - mean);
    }
  }
}

}  // namespace
}  // namespace gnnmg::nn::kernels
