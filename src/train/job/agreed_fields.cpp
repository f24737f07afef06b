// The settings that the processes of a training compare before its first step, and a checkpoint
// with the training that resumes it, in the words that users write.
#include <array>
#include <charconv>

#include "train/eval/metric.h"
#include "train/job/meeting.h"

namespace gnnmg::train {
namespace {

using comm::Field;

// The shortest digits that read back as the same number.
std::string exact(double value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

// The user's word for a value of an enumeration that ends with `last`.
template <auto last, int first = 0, size_t count>
std::string word(decltype(last) value, const char* const (&names)[count]) {
  static_assert(static_cast<int>(last) - first + 1 == static_cast<int>(count));
  return names[static_cast<int>(value) - first];
}

// Numbers as they are, values of enumerations by their numbers in the interface.
template <typename T>
std::string list_of(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values)
    text += base::text(text.empty() ? "" : ", ", static_cast<int64_t>(value));
  return text;
}

void add_sampler(const sample::Sampler& sampler, std::vector<Field>& fields) {
  fields.emplace_back("sampler", sampler.describe());
}

// `of`: "model", or which of its layers.
void add_config(const nn::ModelConfig& c, const std::string& of, std::vector<Field>& fields) {
  const auto add = [&](const char* name, std::string value) {
    fields.emplace_back(base::text(of, " ", name), std::move(value));
  };
  add("architecture", word<nn::Architecture::kEdge, 1>(
                          c.architecture, {"sage", "gcn", "gat", "gatv2", "gin", "gine", "rgcn",
                                           "transformer", "pna", "graphconv", "layers", "edge"}));
  add("degree_norm", word<nn::DegreeNorm::kNone>(c.degree_norm, {"both", "right", "left", "none"}));
  add("share_weights", yes_or_no(c.share_weights));
  add("framework", word<nn::Framework::kDgl>(c.framework, {"pyg", "dgl"}));
  add("mlp_layers", std::to_string(c.mlp_layers));
  add("input", word<nn::Input::kNodes>(c.input, {"features", "embedding", "nodes"}));
  add("input_dim", std::to_string(c.input_dim));
  add("hidden_dim", std::to_string(c.hidden_dim));
  add("output_dim", std::to_string(c.output_dim));
  add("num_layers", std::to_string(c.num_layers));
  add("aggregation",
      word<nn::Aggregation::kGcn>(c.reduction(), {"mean", "max", "sum", "pool", "lstm", "gcn"}));
  add("activation",
      word<nn::Activation::kSigmoid>(c.activation, {"relu", "none", "elu", "leaky_relu", "gelu",
                                                    "tanh", "prelu", "silu", "sigmoid"}));
  add("norm", word<nn::Norm::kPairRows>(c.norm, {"none", "batch", "layer", "layer_graph", "graph",
                                                 "instance", "pair", "pair_rows"}));
  add("norm_scale", exact(c.norm_options.scale));
  add("norm_epsilon", exact(c.norm_options.epsilon));
  add("norm_momentum", exact(c.norm_options.momentum));
  add("norm_affine", word<nn::NormAffine::kOff>(c.norm_options.affine, {"default", "on", "off"}));
  add("skip", word<nn::Skip::kResidual>(c.skip, {"none", "linear", "residual"}));
  add("weight_init", word<nn::Init::kDgl>(c.init, {"pyg", "glorot", "dgl"}));
  add("bias", yes_or_no(c.bias));
  add("root_weight", yes_or_no(c.root_weight));
  add("normalize", yes_or_no(c.normalize));
  add("project", yes_or_no(c.project));
  add("jumping",
      word<nn::Jumping::kScores>(c.jumping, {"none", "last", "cat", "max", "lstm", "scores"}));
  add("heads", std::to_string(c.heads));
  add("output_heads", std::to_string(c.output_heads));
  add("concat", yes_or_no(c.concat));
  add("self_loops", yes_or_no(c.self_loops));
  add("residual", yes_or_no(c.residual));
  add("loop_fill",
      word<nn::LoopFill::kConstant>(c.loop_fill, {"mean", "sum", "max", "min", "constant"}));
  add("loop_value", exact(c.loop_value));
  add("block_degrees", yes_or_no(c.block_degrees));
  add("train_eps", yes_or_no(c.train_eps));
  add("negative_slope", exact(c.slope));
  add("eps", exact(c.eps));
  add("act_first", yes_or_no(c.act_first));
  add("dropout", exact(c.dropout));
  add("input_dropout", exact(c.input_dropout));
  add("edge_dropout", exact(c.edge_dropout));
  add("node_dropout", exact(c.node_dropout));
  add("readout", word<nn::Readout::kSort>(
                     c.readout, {"none", "sum", "mean", "max", "attention", "set2set", "sort"}));
  add("output_dropout", exact(c.output_dropout));
  add("dtype", base::dtype_name(c.dtype));
  add("seed", std::to_string(c.seed));
  add("improved", yes_or_no(c.improved));
  add("beta", yes_or_no(c.beta));
  add("num_relations", std::to_string(c.relations));
  add("num_bases", std::to_string(c.bases));
  add("num_blocks", std::to_string(c.blocks));
  add("reductions",
      list_of(c.architecture == nn::Architecture::kPna ? c.pna_reductions() : c.reductions));
  add("pna_scalers", list_of(c.scalers));
  add("pre_layers", std::to_string(c.pre_layers));
  add("post_layers", std::to_string(c.post_layers));
  add("towers", std::to_string(c.towers));
  add("divide_input", yes_or_no(c.divide_input));
  add("average_degree", exact(c.average_degree));
  add("average_log_degree", exact(c.average_log_degree));
  add("train_norm", yes_or_no(c.train_norm));
  add("inner_norm", yes_or_no(c.inner_norm));
  add("edge_dim", std::to_string(c.edge_dim));
  add("plain_edges", yes_or_no(c.plain_edges));
  add("edge_weights", yes_or_no(c.edge_weights));
  add("node_vocabulary", list_of(c.node_vocabulary));
  add("edge_vocabulary", list_of(c.edge_vocabulary));
  add("readout_steps", std::to_string(c.readout_steps));
  add("sort_rows", std::to_string(c.sort_rows));
  add("layers", std::to_string(c.layers.size()));
  for (size_t i = 0; i < c.layers.size(); ++i) {
    const std::string layer = base::text(of, " layer ", i);
    fields.emplace_back(base::text(layer, " kind"),
                        word<nn::LayerConfig::Kind::kReadout>(
                            c.layers[i].kind,
                            {"convolution", "linear", "norm", "activation", "dropout", "readout"}));
    fields.emplace_back(base::text(layer, " name"), c.layers[i].name);
    add_config(c.layers[i].options, layer, fields);
  }
}

void add_model(const nn::Model& model, std::vector<Field>& fields) {
  add_config(model.config(), "model", fields);
  for (const nn::NamedTensor& parameter : model.parameters()) {
    std::string shape;
    for (int64_t size : parameter.tensor.sizes())
      shape += base::text(shape.empty() ? "" : " x ", size);
    fields.emplace_back(base::text("parameter ", parameter.key), shape);
  }
}

void add_trainer(const TrainerConfig& c, std::vector<Field>& fields) {
  const auto add = [&](const char* name, std::string value) {
    fields.emplace_back(name, std::move(value));
  };
  add("seed", std::to_string(c.seed));
  add("batch_size", std::to_string(c.batch_size));
  add("batch_nodes", std::to_string(c.batch_nodes));
  add("batches_per_step", std::to_string(c.batches_per_step));
  add("partition", word<loader::Partition::kParts>(
                       c.partition, {"global", "distributed_sampler", "contiguous", "parts"}));
  add("shuffle", yes_or_no(c.shuffle));
  add("drop_last", yes_or_no(c.drop_last));
  add("loss", word<nn::Loss::kMeanSquaredError>(
                  c.loss, {"auto", "cross_entropy", "binary_cross_entropy", "mean_squared_error"}));
  add("loss_average", word<LossAverage::kRanks>(c.loss_average, {"exact", "ranks"}));
  add("sync_batch_norm", yes_or_no(c.sync_batch_norm));
  add("deterministic", yes_or_no(c.deterministic));
  add("precision", word<Precision::kBf16>(c.precision, {"float32", "tf32", "bf16"}));
  add("feature_form",
      word<feature::Form::kInt8>(c.placement.form, {"as_given", "f16", "bf16", "int8"}));
  add("num_epochs", std::to_string(c.num_epochs));
  add("optimizer", word<OptimizerKind::kSgd>(c.optimizer.kind, {"adam", "adamw", "sgd"}));
  add("learning_rate", exact(c.optimizer.learning_rate));
  add("weight_decay", exact(c.optimizer.weight_decay));
  add("weight_decay_layers", std::to_string(c.optimizer.weight_decay_layers));
  add("beta1", exact(c.optimizer.beta1));
  add("beta2", exact(c.optimizer.beta2));
  add("epsilon", exact(c.optimizer.epsilon));
  add("amsgrad", yes_or_no(c.optimizer.amsgrad));
  add("momentum", exact(c.optimizer.momentum));
  add("dampening", exact(c.optimizer.dampening));
  add("nesterov", yes_or_no(c.optimizer.nesterov));
  add("clip_norm", exact(c.clip_norm));
  add("schedule",
      word<ScheduleKind::kPlateau>(c.schedule.kind, {"constant", "cosine", "step", "plateau"}));
  add("warmup_epochs", std::to_string(c.schedule.warmup_epochs));
  add("schedule_minimum", exact(c.schedule.minimum_factor));
  add("schedule_factor", exact(c.schedule.factor));
  add("schedule_step_epochs", std::to_string(c.schedule.step_epochs));
  add("schedule_patience", std::to_string(c.schedule.patience));
  add("evaluation", word<EvaluationMode::kSampled>(c.evaluation, {"full", "sampled"}));
  add("evaluate_every", std::to_string(c.evaluate_every));
  add("eval_batch_size", std::to_string(c.eval_batch_size));
  add("best_by", metric_name(c.best_by));
  add("keep_best", yes_or_no(c.keep_best));
  add("early_stop_patience", std::to_string(c.early_stop_patience));
}

}  // namespace

std::vector<Field> agreed_fields(const Job& job, const data::Fingerprint& data) {
  std::vector<Field> fields;
  for (const auto& [name, value] : data) fields.emplace_back(base::text("data set ", name), value);
  add_sampler(*job.sampler, fields);
  add_model(*job.model, fields);
  add_trainer(job.config, fields);
  fields.emplace_back("part of each node", job.book ? job.book_sum : "none");
  return fields;
}

std::vector<Field> settings_fields(const Job& job) {
  std::vector<Field> fields;
  add_sampler(*job.sampler, fields);
  add_config(job.model->config(), "model", fields);
  // These two make the initial weights, which a checkpoint replaces.
  std::erase_if(fields, [](const Field& field) {
    return field.first.ends_with(" seed") || field.first.ends_with(" weight_init");
  });
  fields.emplace_back("best_by", metric_name(job.config.best_by));
  return fields;
}

}  // namespace gnnmg::train
