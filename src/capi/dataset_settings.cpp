#include "capi/dataset_settings.h"

#include <algorithm>

#include "data/split.h"

namespace gnnmg::capi {
namespace {

struct OpenSettings {
  Format format = Format::kAuto;
  data::OpenOptions options;
};

void read_separator(const Word& word, OpenSettings& settings) {
  std::string& separator = settings.options.separator;
  if (word.value == "auto")
    separator.clear();
  else if (word.value == "tab")
    separator = "\t";
  else if (word.value == "space")
    separator = " ";
  else if (word.value.size() == 1 && word.value[0] > 0 && word.value[0] < 127)
    separator = word.value;
  else
    word.refuse("a separator");
}

void describe_separator(const OpenSettings&, SettingFacts& facts) { facts.type = "text"; }

constexpr SettingRow<OpenSettings> kOpenRows[] = {
    GNNMG_SETTING(OpenSettings, format, nullptr,
                  "Format of the folder or file.\n"
                  "auto: detected from the files.\n"
                  "gnnmg: folder that gnnmg_dataset_save() writes.\n"
                  "planetoid: folder of `ind.NAME.*` (Cora, CiteSeer, PubMed).\n"
                  "plain: folder of `edges.npy`, or `triples.npy` for a knowledge graph, and "
                  "`labels.npy`, `split_*.npy`, ...\n"
                  "shchur: one `.npz` with `adj_*` and `attr_*` (Amazon, Coauthor).\n"
                  "heterophilous: one `.npz` with `node_features`, `edges`, masks.\n"
                  "ogb: folder of an OGB node property data set.\n"
                  "edges: text with one edge per line, also gzipped.\n"
                  "gin: many graphs in one text, in the format of GIN and DGCNN.\n"
                  "tu: many graphs: `NAME_A.txt`, `NAME_graph_indicator.txt`, ...\n"
                  "packed: many graphs: one `.npz` with `node_ptr`, `edge_ptr`, `edges`.\n"
                  "matrix_market: text that begins with `%%MatrixMarket`, also gzipped.\n"
                  "metis: text of a METIS graph, also gzipped.\n"
                  "parts: folder of parts that gnnmg_dataset_save_parts() writes.\n"
                  "geom_gcn: folder of Geom-GCN's two texts `out1_*.txt`."),
    GNNMG_SETTING_AS(OpenSettings, "undirected", options.undirected, "-1 to 1",
                     "1: add the reverse of every edge and drop duplicates, for Planetoid and "
                     "Shchur also self-loops; for a knowledge graph add the reverse edges as "
                     "separate relations and drop nothing. 0: edges as listed. -1: as the format "
                     "defines."),
    GNNMG_SETTING_AS(OpenSettings, "sum_duplicates", options.sum_duplicates, nullptr,
                     "1: add up repeated entries of sparse features."),
    GNNMG_SETTING_AS(OpenSettings, "round_values", options.round_values, nullptr,
                     "1: round integer features to the nearest f32; 0: refuse integers that are "
                     "not exact. Sparse f64 features are always rounded."),
    GNNMG_SETTING_AS(OpenSettings, "map_files", options.map_files, nullptr,
                     "1: map the files of the library's own format; 0: read them."),
    GNNMG_SETTING_AS(OpenSettings, "check_finite", options.check_finite, nullptr,
                     "1: refuse node features, edge features and edge weights that are NaN, "
                     "infinite or beyond f32."),
    {"separator", "auto, tab, space, or one character",
     "Edge lists: character between columns. auto: detected.", false, "auto", read_separator,
     describe_separator},
    GNNMG_SETTING_AS(OpenSettings, "header_lines", options.header, "-1 or more",
                     "Edge lists: number of lines to skip. -1: use a first line that names the "
                     "columns, and read one that counts nodes and edges as counts."),
    GNNMG_SETTING_AS(OpenSettings, "source_column", options.source_column, "0 or more",
                     "Edge lists: column of the sources, from 0. With source_column=0 and "
                     "target_column=1, a header that names the ends overrides both."),
    GNNMG_SETTING_AS(OpenSettings, "target_column", options.target_column, "0 or more",
                     "Edge lists: column of the targets, from 0."),
    GNNMG_SETTING_AS(OpenSettings, "relabel", options.relabel, nullptr,
                     "Edge lists. 1: accept names and ids of any size, and number them in order "
                     "of appearance. The node tensor \"original_id\", i64 [N], has the ids; "
                     "\"original_name\", u8 [N, W], has the names, each followed by at least one "
                     "0."),
    GNNMG_SETTING_AS(OpenSettings, "num_nodes", options.num_nodes, "-1 or more",
                     "Edge lists: number of nodes. -1: the largest id + 1."),
    GNNMG_SETTING_AS(OpenSettings, "degree_features", options.degree_features, "-1 to 1",
                     "Texts of many graphs. 1: features are the one-hot degrees of nodes. -1: the "
                     "one-hot tags. 0: the attributes, in TU Dortmund's format together with the "
                     "tags, or without attributes the tags, unless all are equal."),
    GNNMG_SETTING_AS(OpenSettings, "task", options.task, nullptr,
                     "Meaning of the labels; see gnnmg_task. none: inferred from format and "
                     "values; one column of 0 and 1 becomes two classes (two logits), with binary "
                     "one target (one logit), as in OGB's examples. The library's own format "
                     "stores its task."),
};

bool by_share(const SplitSettings& settings) { return settings.train_per_class == 0; }

constexpr SettingRow<SplitSettings> kSplitRows[] = {
    GNNMG_SETTING(SplitSettings, train_fraction, "0 to 1",
                  "Training share of the labeled nodes, rounded down.")
        .only(by_share, "without train_per_class"),
    GNNMG_SETTING(SplitSettings, validation_fraction, "0 to 1",
                  "Validation share of the labeled nodes, rounded down; test gets the rest.")
        .only(by_share, "without train_per_class"),
    GNNMG_SETTING(SplitSettings, train_per_class, "0 or more",
                  "Above 0: training nodes of each class, in place of train_fraction."),
    GNNMG_SETTING(SplitSettings, validation_per_class, "0 or more",
                  "Validation nodes of each class, with train_per_class.")
        .only([](const SplitSettings& s) { return s.train_per_class > 0; }, "with train_per_class"),
    GNNMG_SETTING(SplitSettings, numpy_legacy, nullptr,
                  "1: use the order of NumPy's `RandomState(seed).permutation`, to reproduce "
                  "splits made with NumPy.")
        .only(by_share, "without train_per_class"),
    GNNMG_SETTING(SplitSettings, seed, nullptr,
                  "The split depends only on seed, labels and settings."),
};

struct FoldsSettings {
  int32_t num_folds = 10;
  data::SplitPart held_out = data::SplitPart::kValidation;
  bool numpy_legacy = false;
  uint64_t seed = 0;
};

void read_held_out(const Word& word, FoldsSettings& settings) {
  if (word.value != "validation" && word.value != "test") word.refuse("a part");
  read_value(word, settings.held_out);
}

static_assert(data::kMaxFolds == 100);
constexpr SettingRow<FoldsSettings> kFoldsRows[] = {
    GNNMG_SETTING(FoldsSettings, num_folds, "2 to 100", "Number of folds."),
    {"held_out", "validation, test",
     "Part that holds fold k in split k. The split trains on the other folds.", false, nullptr,
     read_held_out,
     [](const FoldsSettings& defaults, SettingFacts& facts) {
       describe_type(defaults.held_out, facts);
       facts.default_value = value_text(defaults.held_out);
     }},
    GNNMG_SETTING(FoldsSettings, numpy_legacy, nullptr,
                  "1: make the folds of scikit-learn's `StratifiedKFold(num_folds, shuffle=True, "
                  "random_state=seed)`."),
    GNNMG_SETTING(FoldsSettings, seed, nullptr,
                  "The folds depend only on seed, labels and settings."),
};

}  // namespace

data::OpenOptions read_open_options(const char* settings) {
  OpenSettings read;
  std::vector<Word> words = split_words("dataset", settings);
  apply_words<OpenSettings>(words, kOpenRows, read);
  if (read.format != Format::kAuto) read.options.format = value_text(read.format);
  return read.options;
}

std::span<const SettingRow<SplitSettings>> split_rows() { return kSplitRows; }

data::Split draw_split(const data::Dataset& dataset, const SplitSettings& settings,
                       std::string name) {
  data::Split split =
      settings.train_per_class > 0
          ? data::random_split_by_class(dataset, settings.train_per_class,
                                        settings.validation_per_class, settings.seed)
          : data::random_split(dataset, settings.train_fraction, settings.validation_fraction,
                               settings.seed, settings.numpy_legacy);
  split.name = std::move(name);
  return split;
}

std::vector<data::Split> make_folds(const data::Dataset& dataset, const char* settings) {
  FoldsSettings folds;
  std::vector<Word> words = split_words("folds", settings);
  apply_words<FoldsSettings>(words, kFoldsRows, folds);
  return data::fold_splits(dataset, folds.num_folds, folds.held_out, folds.seed,
                           folds.numpy_legacy);
}

std::vector<SettingFacts> dataset_settings() { return list_settings<OpenSettings>(kOpenRows, {}); }
std::vector<SettingFacts> split_settings() { return list_settings<SplitSettings>(kSplitRows, {}); }
std::vector<SettingFacts> folds_settings() { return list_settings<FoldsSettings>(kFoldsRows, {}); }

}  // namespace gnnmg::capi
