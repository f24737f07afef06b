// The attention part of body.h: scores, softmax, weighted sum, and their gradients. Included by
// body.h; its functions are internal to each including file.
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

// The dropout factor of the weight at a flat position; caches the bits of the last group.
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

// The edges of one target, including its loop: place(i) is the position of edge i in arrays over
// edges, source(i) its source row. `n` edges are visited; some are left out.
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

// The input of LeakyReLU at edge i for head h of GAT.
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

// An edge's contribution to GATv2's sums: its features times a matrix, computed column by column,
// so that no row of all channels is stored for an edge.
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
  head_sums<T>(
      a.heads, a.channels,
      [&](int64_t c) {
        return load(a.vector + c) * leaky_of(gatv2_sums(source, target, edge, c), a.slope);
      },
      [&](int64_t c) { return a.vector[c] * leaky(gatv2_sum(source, target, edge, c), a.slope); },
      scores);
}

// Prefetches the rows that the edges after edge i of a target will read; `stop` ends the lists that
// may be read.
template <typename T>
inline void prefetch_ahead(const EdgesOf<T>& edges, int64_t i, int64_t stop) {
  const int64_t e = edges.first + i + kAhead;
  if (i < edges.listed && e < stop)
    prefetch_row(edges.a.source.row(edges.a.lists.indices[e]),
                 edges.a.heads * (edges.a.channels + (edges.a.vector ? 0 : 1)));
}

// Writes the scores of one target's edges to alpha. Excluded edges get the lowest number.
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

// Computes the softmax of alpha, head by head.
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

// The values of an edge, one per head, in one register, for a number of heads that is a small power
// of two.
template <typename T, int H>
struct HeadVector {
  typedef T type __attribute__((vector_size(H * sizeof(T))));
};
template <typename T>
struct HeadVector<T, 1> {
  using type = T;
};
template <typename T, int H>
using HeadsOf = typename HeadVector<T, H>::type;
template <typename T, int H>
inline HeadsOf<T, H> get(const T* p) {
  HeadsOf<T, H> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <typename T, typename V>
inline void put(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}
// Calls f.template operator()<heads>() if there is such a register; otherwise returns false.
template <typename T, typename F>
inline bool with_heads(int64_t heads, const F& f) {
  const auto with = [&]<int H>() {
    if constexpr (H <= kLanes<T>) f.template operator()<H>();
    return H <= kLanes<T>;
  };
  switch (heads) {
    case 1:
      return with.template operator()<1>();
    case 2:
      return with.template operator()<2>();
    case 4:
      return with.template operator()<4>();
    case 8:
      return with.template operator()<8>();
    default:
      return false;
  }
}

// gat_sum() for all heads.
template <typename T, int H>
inline HeadsOf<T, H> gat_sums(const EdgesOf<T>& edges, int64_t i, HeadsOf<T, H> target) {
  const Attention<T>& a = edges.a;
  const HeadsOf<T, H> sum = get<T, H>(a.source_scores.row(edges.source(i))) + target;
  return a.edge_scores ? sum + get<T, H>(a.edge_scores + edges.place(i) * H) : sum;
}

// write_scores() and softmax_row() in one. Intermediate values are contiguous, in a buffer of their
// own if it has room.
template <typename T, int H>
inline void softmax_of_scores(const EdgesOf<T>& edges, int64_t stop) {
  using V = HeadsOf<T, H>;
  constexpr int64_t kRoom = 256, kL = kLanes<T>;
  const Attention<T>& a = edges.a;
  T room[kRoom + kL];
  const int64_t size = edges.n * H;
  const bool fits = size <= kRoom;
  T* const listed = fits ? room : a.alpha + edges.first * H;
  T* const loop = fits ? room + edges.listed * H : a.alpha + edges.place(edges.listed) * H;
  const auto at = [&](int64_t i) { return i < edges.listed ? listed + i * H : loop; };
  const V target = a.vector ? V{} : get<T, H>(a.target_scores.row(edges.target));
  V most = V{} - static_cast<T>(__builtin_huge_val());
  for (int64_t i = 0; i < edges.n; ++i) {
    prefetch_ahead(edges, i, stop);
    V score;
    if (edges.left_out(i)) {
      score = V{} - static_cast<T>(__builtin_huge_val());
    } else if (a.vector) {
      T scores[H];
      gatv2_scores(a, a.source.row(edges.source(i)), a.target.row(edges.target),
                   EdgeTerm<T>(a, edges.place(i)), scores);
      score = get<T, H>(scores);
    } else {
      const V sum = gat_sums<T, H>(edges, i, target);
      score = sum > V{} ? sum : sum * a.slope;
    }
    most = ((score > most) | (score != score)) ? score : most;
    put(at(i), score);
  }
  for (int64_t i = 0; i < edges.n; ++i) put(at(i), get<T, H>(at(i)) - most);
  if (fits) {
    store(room + size, Vector<T>{});
    exp_all(room, (size + kL - 1) / kL * kL);
  } else {
    exp_all(listed, edges.listed * H);
    if (edges.n > edges.listed) exp_all(loop, H);
  }
  V sum{};
  for (int64_t i = 0; i < edges.n; ++i) sum += get<T, H>(at(i));
  const V scale = T{1} / sum;
  for (int64_t i = 0; i < edges.n; ++i) put(a.alpha + edges.place(i) * H, get<T, H>(at(i)) * scale);
}

// Turns the gradient of the weights, in `scores`, into the gradient of the scores, and through
// GAT's LeakyReLU; to_scores: their sum, the target's.
template <typename T, int H>
inline void scores_backward(const EdgesOf<T>& edges, T* scores, T* to_scores) {
  using V = HeadsOf<T, H>;
  const Attention<T>& a = edges.a;
  V mean{}, total{};
  for (int64_t i = 0; i < edges.n; ++i) {
    const int64_t k = edges.place(i) * H;
    mean += get<T, H>(a.alpha + k) * get<T, H>(scores + k);
  }
  const V target = a.vector ? V{} : get<T, H>(a.target_scores.row(edges.target));
  for (int64_t i = 0; i < edges.n; ++i) {
    const int64_t k = edges.place(i) * H;
    V d = get<T, H>(a.alpha + k) * (get<T, H>(scores + k) - mean);
    if (!a.vector) {
      d = gat_sums<T, H>(edges, i, target) > V{} ? d : d * a.slope;
      total += d;
    }
    put(scores + k, d);
  }
  if (!a.vector) put(to_scores, total);
}
// The same for any number of heads.
template <typename T>
inline void scores_backward(const EdgesOf<T>& edges, T* scores, T* to_scores) {
  const Attention<T>& a = edges.a;
  for (int64_t h = 0; h < a.heads; ++h) {
    T mean = 0;
    for (int64_t i = 0; i < edges.n; ++i) {
      const int64_t k = edges.place(i) * a.heads + h;
      mean += a.alpha[k] * scores[k];
    }
    if (!a.vector) to_scores[h] = 0;
    for (int64_t i = 0; i < edges.n; ++i) {
      const int64_t k = edges.place(i) * a.heads + h;
      T d = a.alpha[k] * (scores[k] - mean);
      if (!a.vector) {
        if (!(gat_sum(edges, i, h) > 0)) d *= a.slope;
        to_scores[h] += d;
      }
      scores[k] = d;
    }
  }
}

template <typename T>
void attend(const Attention<T>& a, Matrix<T> out, int64_t begin, int64_t end) {
  Kept kept(a.dropout), kept_loop(a.dropout);
  const T scale = static_cast<T>(a.dropout.scale);
  const HeadTable<T> heads(a.heads, a.channels, false);
  const int64_t stop = a.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const EdgesOf<T> edges(a, t);
    bool any = false;
    for (int64_t i = 0; i < edges.n && !any; ++i) any = !edges.left_out(i);
    if (!any) {
      // No edges, or only excluded loops.
      for (int64_t i = 0; i < edges.n * a.heads; ++i) {
        a.alpha[edges.first * a.heads + i] = 0;
        a.weights[edges.first * a.heads + i] = 0;
      }
      for (int64_t c = 0; c < a.heads * a.channels; ++c) out.row(t)[c] = 0;
      continue;
    }
    if (!with_heads<T>(a.heads, [&]<int H>() { softmax_of_scores<T, H>(edges, stop); })) {
      write_scores(edges, stop);
      softmax_row(edges);
    }
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
        edges.listed, edges.listed, heads, [&](int64_t i) { return a.source.row(indices[i]); },
        [&](int64_t i) { return a.weights + (edges.first + i) * a.heads; }, [](int64_t) {},
        loop ? a.weights + edges.place(edges.listed) * a.heads : nullptr,
        loop ? a.source.row(a.first_own + t) : nullptr, out.row(t));
  }
}

// Propagates the gradient of one edge's score in GATv2 to the vector, the target and the edge's
// data.
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

// Columns from `column` on, N vectors of them held in registers.
template <typename T, int N>
inline void gatv2_panel_backward(const EdgesOf<T>& edges, const HeadTable<T>& heads, const T* all,
                                 int64_t column, T* vector_gradient, T* to_target) {
  const Attention<T>& a = edges.a;
  const T* target = a.target.row(edges.target) + column;
  const Vector<T> one = splat(T{1}), leak = splat(a.slope);
  Vector<T> by_vector[N], by_target[N];
  for (int k = 0; k < N; ++k) by_vector[k] = by_target[k] = Vector<T>{};
  for (int64_t i = 0; i < edges.n; ++i) {
    const T* source = a.source.row(edges.source(i)) + column;
    const T* scores = all + edges.place(i) * a.heads;
    for (int k = 0; k < N; ++k) {
      const Vector<T> sum = load(source + k * kLanes<T>) + load(target + k * kLanes<T>);
      const Vector<T> slope = sum > Vector<T>{} ? one : leak;
      const Vector<T> factor = heads.spread_of_head(column / kLanes<T> + k, scores) * slope;
      by_vector[k] += factor * sum;
      by_target[k] += factor;
    }
  }
  for (int k = 0; k < N; ++k) {
    const int64_t c = column + k * kLanes<T>;
    store(vector_gradient + c, load(vector_gradient + c) + by_vector[k]);
    store(to_target + c, by_target[k] * load(a.vector + c));
  }
}

// Like gatv2_edge_backward() for all edges of a target, without edge data.
template <typename T>
inline void gatv2_row_backward(const EdgesOf<T>& edges, const HeadTable<T>& heads, const T* scores,
                               T* vector_gradient, T* to_target) {
  const Attention<T>& a = edges.a;
  int64_t c = 0;
  for (; c + 4 * kLanes<T> <= heads.width; c += 4 * kLanes<T>)
    gatv2_panel_backward<T, 4>(edges, heads, scores, c, vector_gradient, to_target);
  for (; c + kLanes<T> <= heads.width; c += kLanes<T>)
    gatv2_panel_backward<T, 1>(edges, heads, scores, c, vector_gradient, to_target);
  for (; c < heads.width; ++c) {
    const int64_t h = c / a.channels;
    T by_target = 0;
    for (int64_t i = 0; i < edges.n; ++i) {
      const T sum = a.source.row(edges.source(i))[c] + a.target.row(edges.target)[c];
      const T factor = scores[edges.place(i) * a.heads + h] * (sum > 0 ? T{1} : a.slope);
      vector_gradient[c] += factor * sum;
      by_target += factor;
    }
    to_target[c] = by_target * a.vector[c];
  }
}

template <typename T>
void attend_backward(const Attention<T>& a, Matrix<const T> dy,
                     const AttentionGradient<T>& gradient, T* vector_gradient, int64_t begin,
                     int64_t end) {
  Kept kept(a.dropout), kept_loop(a.dropout);
  const T scale = static_cast<T>(a.dropout.scale);
  const HeadTable<T> heads(a.heads, a.channels, false);
  const int64_t stop = a.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const EdgesOf<T> edges(a, t);
    T* to_scores = gradient.target_scores.data ? gradient.target_scores.row(t) : nullptr;
    T* to_target = gradient.target.data ? gradient.target.row(t) : nullptr;
    // Gradient with respect to the weights, then to alpha.
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
    // Gradient with respect to the scores, and through LeakyReLU.
    if (!with_heads<T>(a.heads,
                       [&]<int H>() { scores_backward<T, H>(edges, gradient.scores, to_scores); }))
      scores_backward(edges, gradient.scores, to_scores);
    if (!a.vector) continue;
    if (a.edge_columns == 0) {
      gatv2_row_backward(edges, heads, gradient.scores, vector_gradient, to_target);
      continue;
    }
    for (int64_t c = 0; c < heads.width; ++c) to_target[c] = 0;
    for (int64_t i = 0; i < edges.n; ++i) {
      const int64_t place = edges.place(i);
      gatv2_edge_backward(a, a.source.row(edges.source(i)), a.target.row(t), place, gradient,
                          vector_gradient, to_target);
    }
  }
}

// dx += the gradient of one edge's score in GATv2 with respect to its source.
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

// The same for all edges of a source, without edge data: edge e goes into targets[e].
template <typename T, int N>
inline void gatv2_panel_to_source(const Attention<T>& a, const HeadTable<T>& heads, const T* source,
                                  const int32_t* targets, const int32_t* places, int64_t n,
                                  int64_t readable, const T* all, int64_t column, T* dx) {
  const Vector<T> one = splat(T{1}), leak = splat(a.slope);
  Vector<T> sums[N];
  for (int k = 0; k < N; ++k) sums[k] = Vector<T>{};
  for (int64_t e = 0; e < n; ++e) {
    const int64_t ahead = e + kAhead < readable ? e + kAhead : readable - 1;
    prefetch<T, N>(a.target.row(targets[ahead]) + column);
    const T* target = a.target.row(targets[e]) + column;
    const T* scores = all + int64_t{places[e]} * a.heads;
    for (int k = 0; k < N; ++k) {
      const int64_t c = k * kLanes<T>;
      const Vector<T> slope =
          load(source + column + c) + load(target + c) > Vector<T>{} ? one : leak;
      sums[k] += heads.spread_of_head(column / kLanes<T> + k, scores) * slope;
    }
  }
  for (int k = 0; k < N; ++k) {
    const int64_t c = column + k * kLanes<T>;
    store(dx + c, load(dx + c) + sums[k] * load(a.vector + c));
  }
}
template <typename T>
inline void gatv2_row_to_source(const Attention<T>& a, const HeadTable<T>& heads, const T* source,
                                const int32_t* targets, const int32_t* places, int64_t n,
                                int64_t readable, const T* scores, T* dx) {
  int64_t c = 0;
  for (; c + 4 * kLanes<T> <= heads.width; c += 4 * kLanes<T>)
    gatv2_panel_to_source<T, 4>(a, heads, source, targets, places, n, readable, scores, c, dx);
  for (; c + kLanes<T> <= heads.width; c += kLanes<T>)
    gatv2_panel_to_source<T, 1>(a, heads, source, targets, places, n, readable, scores, c, dx);
  for (; c < heads.width; ++c) {
    T sum = 0;
    for (int64_t e = 0; e < n; ++e)
      sum += scores[int64_t{places[e]} * a.heads + c / a.channels] *
             (source[c] + a.target.row(targets[e])[c] > 0 ? T{1} : a.slope);
    dx[c] += sum * a.vector[c];
  }
}

template <typename T>
void attend_transposed(const Attention<T>& a, const EdgesBySource& by_source, Matrix<const T> dy,
                       const T* scores, Matrix<T> dx, Matrix<T> score_gradients, int64_t begin,
                       int64_t end) {
  const HeadTable<T> heads(a.heads, a.channels, false);
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
        n, stop - first, heads, [&](int64_t e) { return dy.row(targets[e]); },
        [&](int64_t e) { return a.weights + int64_t{places[e]} * a.heads; },
        [&](int64_t e) {
          __builtin_prefetch(a.weights + int64_t{places[e]} * a.heads, 0, 3);
          __builtin_prefetch(scores + int64_t{places[e]} * a.heads, 0, 3);
        },
        loop ? a.weights + loop_place * a.heads : nullptr, loop ? dy.row(s) : nullptr, dx.row(s));
    if (!a.vector) {
      T* to = score_gradients.row(s);
      if (with_heads<T>(a.heads, [&]<int H>() {
            HeadsOf<T, H> sum{};
            if (loop) sum = get<T, H>(scores + loop_place * H);
            for (int64_t e = 0; e < n; ++e) sum += get<T, H>(scores + int64_t{places[e]} * H);
            put(to, sum);
          }))
        continue;
      for (int64_t h = 0; h < a.heads; ++h) to[h] = loop ? scores[loop_place * a.heads + h] : T{0};
      for (int64_t e = 0; e < n; ++e)
        for (int64_t h = 0; h < a.heads; ++h) to[h] += scores[int64_t{places[e]} * a.heads + h];
      continue;
    }
    if (a.edge_columns == 0)
      gatv2_row_to_source(a, heads, a.source.row(s), targets, places, n, stop - first, scores,
                          dx.row(s));
    for (int64_t e = 0; e < n && a.edge_columns > 0; ++e)
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
