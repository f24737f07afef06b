# Written by generate.py from gnnmg.h; changes here are lost.

const HEADER_VERSION = v"0.1.0"

const GNNMG_OK = Int32(0)
const GNNMG_END = Int32(1)
const GNNMG_PENDING = Int32(2)
const GNNMG_ERR_INVALID_ARGUMENT = Int32(-1)
const GNNMG_ERR_HANDLE = Int32(-2)
const GNNMG_ERR_BUSY = Int32(-3)
const GNNMG_ERR_VERSION = Int32(-4)
const GNNMG_ERR_NOT_FOUND = Int32(-5)
const GNNMG_ERR_IO = Int32(-6)
const GNNMG_ERR_FORMAT = Int32(-7)
const GNNMG_ERR_CHECKSUM = Int32(-8)
const GNNMG_ERR_RANGE = Int32(-9)
const GNNMG_ERR_NAN = Int32(-10)
const GNNMG_ERR_DIVERGED = Int32(-11)
const GNNMG_ERR_NO_MEMORY = Int32(-12)
const GNNMG_ERR_DEPENDENCY = Int32(-13)
const GNNMG_ERR_UNSUPPORTED = Int32(-14)
const GNNMG_ERR_DEVICE_LOST = Int32(-15)
const GNNMG_ERR_TIMEOUT = Int32(-16)
const GNNMG_ERR_PEER_LOST = Int32(-17)
const GNNMG_ERR_ABORTED = Int32(-18)
const GNNMG_ERR_MISMATCH = Int32(-19)
const GNNMG_ERR_UNAVAILABLE = Int32(-20)
const GNNMG_ERR_AUTH = Int32(-21)
const GNNMG_ERR_PROTOCOL = Int32(-22)
const GNNMG_ERR_CANCELLED = Int32(-23)
const GNNMG_ERR_CALLBACK = Int32(-24)
const GNNMG_ERR_FORKED = Int32(-25)
const GNNMG_ERR_INTERNAL = Int32(-26)

primitive type gnnmg_log_level <: Enumeration 32 end
choices(::Type{gnnmg_log_level}) = (:debug=>0, :info=>1, :warning=>2, :error=>3)

primitive type gnnmg_device_type <: Enumeration 32 end
choices(::Type{gnnmg_device_type}) = (:auto=>0, :cpu=>1, :cuda=>2)

primitive type gnnmg_graph_placement <: Enumeration 32 end
choices(::Type{gnnmg_graph_placement}) = (:auto=>0, :device=>1, :pinned=>2, :host=>3)

primitive type gnnmg_feature_placement <: Enumeration 32 end
choices(::Type{gnnmg_feature_placement}) = (:auto=>0, :device=>1, :pinned=>2, :cached=>3,
    :host=>4, :split=>5)

primitive type gnnmg_feature_form <: Enumeration 32 end
choices(::Type{gnnmg_feature_form}) = (:as_given=>0, :f16=>1, :bf16=>2, :int8=>3)

primitive type gnnmg_hotness <: Enumeration 32 end
choices(::Type{gnnmg_hotness}) = (:probability=>0, :degree=>1, :counting=>2)

primitive type gnnmg_dtype <: Enumeration 32 end
choices(::Type{gnnmg_dtype}) = (:f32=>0, :f64=>1, :f16=>2, :bf16=>3, :i64=>4, :i32=>5, :u8=>6,
    :bool=>7)

primitive type gnnmg_transform <: Enumeration 32 end
choices(::Type{gnnmg_transform}) = (:add_reverse_edges=>0, :to_undirected=>1, :coalesce=>2,
    :remove_self_loops=>3, :add_self_loops=>4, :add_remaining_self_loops=>5, :remove_edges=>6,
    :reverse_edges=>7)

primitive type gnnmg_task <: Enumeration 32 end
choices(::Type{gnnmg_task}) = (:none=>0, :multiclass=>1, :binary=>2, :regression=>3)

primitive type gnnmg_split <: Enumeration 32 end
choices(::Type{gnnmg_split}) = (:train=>1, :validation=>2, :test=>3)

primitive type gnnmg_format <: Enumeration 32 end
choices(::Type{gnnmg_format}) = (:auto=>0, :gnnmg=>1, :planetoid=>2, :plain=>3, :shchur=>4,
    :heterophilous=>5, :ogb=>6, :edges=>7, :gin=>8, :tu=>9, :packed=>10, :matrix_market=>11,
    :metis=>12, :parts=>13, :geom_gcn=>14)

primitive type gnnmg_parts_method <: Enumeration 32 end
choices(::Type{gnnmg_parts_method}) = (:cluster=>0, :metis=>1, :range=>2, :hash=>3)

primitive type gnnmg_expansion <: Enumeration 32 end
choices(::Type{gnnmg_expansion}) = (:once=>0, :every_layer=>1)

primitive type gnnmg_draw <: Enumeration 32 end
choices(::Type{gnnmg_draw}) = (:uniform=>0, :labor=>1, :labor_once=>2)

primitive type gnnmg_partition <: Enumeration 32 end
choices(::Type{gnnmg_partition}) = (:global=>0, :distributed_sampler=>1, :contiguous=>2,
    :parts=>3)

primitive type gnnmg_metric <: Enumeration 32 end
choices(::Type{gnnmg_metric}) = (:accuracy=>0, :loss=>1, :roc_auc=>2, :f1_macro=>3,
    :f1_micro=>4, :average_precision=>5, :rmse=>6, :mae=>7)

primitive type gnnmg_architecture <: Enumeration 32 end
choices(::Type{gnnmg_architecture}) = (:sage=>1, :gcn=>2, :gat=>3, :gatv2=>4, :gin=>5, :gine=>6,
    :rgcn=>7, :transformer=>8, :pna=>9, :graphconv=>10, :layers=>11, :edge=>12)

primitive type gnnmg_pna_reduction <: Enumeration 32 end
choices(::Type{gnnmg_pna_reduction}) = (:mean=>1, :min=>2, :max=>3, :sum=>4, :variance=>5,
    :deviation=>6)

primitive type gnnmg_pna_scaler <: Enumeration 32 end
choices(::Type{gnnmg_pna_scaler}) = (:identity=>1, :amplification=>2, :attenuation=>3,
    :linear=>4, :inverse_linear=>5)

primitive type gnnmg_framework <: Enumeration 32 end
choices(::Type{gnnmg_framework}) = (:pyg=>0, :dgl=>1)

primitive type gnnmg_input <: Enumeration 32 end
choices(::Type{gnnmg_input}) = (:features=>0, :embedding=>1, :nodes=>2)

primitive type gnnmg_degree_norm <: Enumeration 32 end
choices(::Type{gnnmg_degree_norm}) = (:both=>0, :right=>1, :left=>2, :none=>3)

primitive type gnnmg_aggregation <: Enumeration 32 end
choices(::Type{gnnmg_aggregation}) = (:default=>-1, :mean=>0, :max=>1, :sum=>2, :pool=>3,
    :lstm=>4, :gcn=>5)

primitive type gnnmg_activation <: Enumeration 32 end
choices(::Type{gnnmg_activation}) = (:relu=>0, :none=>1, :elu=>2, :leaky_relu=>3, :gelu=>4,
    :tanh=>5, :prelu=>6, :silu=>7, :sigmoid=>8)

primitive type gnnmg_norm <: Enumeration 32 end
choices(::Type{gnnmg_norm}) = (:none=>0, :batch=>1, :layer=>2, :layer_graph=>3, :graph=>4,
    :instance=>5, :pair=>6, :pair_rows=>7)

primitive type gnnmg_norm_affine <: Enumeration 32 end
choices(::Type{gnnmg_norm_affine}) = (:default=>0, :on=>1, :off=>2)

primitive type gnnmg_loop_fill <: Enumeration 32 end
choices(::Type{gnnmg_loop_fill}) = (:mean=>0, :sum=>1, :max=>2, :min=>3, :constant=>4)

primitive type gnnmg_skip <: Enumeration 32 end
choices(::Type{gnnmg_skip}) = (:none=>0, :linear=>1, :residual=>2)

primitive type gnnmg_jumping <: Enumeration 32 end
choices(::Type{gnnmg_jumping}) = (:none=>0, :last=>1, :cat=>2, :max=>3, :lstm=>4, :scores=>5)

primitive type gnnmg_readout <: Enumeration 32 end
choices(::Type{gnnmg_readout}) = (:none=>0, :sum=>1, :mean=>2, :max=>3, :attention=>4,
    :set2set=>5, :sort=>6)

primitive type gnnmg_weight_init <: Enumeration 32 end
choices(::Type{gnnmg_weight_init}) = (:pyg=>0, :glorot=>1, :dgl=>2)

primitive type gnnmg_loss <: Enumeration 32 end
choices(::Type{gnnmg_loss}) = (:auto=>0, :cross_entropy=>1, :binary_cross_entropy=>2,
    :mean_squared_error=>3, :mean_absolute_error=>4, :huber=>5, :focal=>6)

primitive type gnnmg_model_format <: Enumeration 32 end
choices(::Type{gnnmg_model_format}) = (:auto=>0, :safetensors=>1, :pth=>2)

primitive type gnnmg_optimizer_kind <: Enumeration 32 end
choices(::Type{gnnmg_optimizer_kind}) = (:adam=>0, :adamw=>1, :sgd=>2, :rmsprop=>3, :adagrad=>4)

primitive type gnnmg_reduce <: Enumeration 32 end
choices(::Type{gnnmg_reduce}) = (:sum=>0, :mean=>1, :min=>2, :max=>3)

primitive type gnnmg_parts_reading <: Enumeration 32 end
choices(::Type{gnnmg_parts_reading}) = (:auto=>0, :shared=>1, :asked=>2)

primitive type gnnmg_schedule <: Enumeration 32 end
choices(::Type{gnnmg_schedule}) = (:constant=>0, :cosine=>1, :step=>2, :plateau=>3)

primitive type gnnmg_evaluation <: Enumeration 32 end
choices(::Type{gnnmg_evaluation}) = (:full=>0, :sampled=>1)

primitive type gnnmg_loss_average <: Enumeration 32 end
choices(::Type{gnnmg_loss_average}) = (:exact=>0, :ranks=>1)

primitive type gnnmg_capture <: Enumeration 32 end
choices(::Type{gnnmg_capture}) = (:auto=>0, :off=>1, :on=>2, :unpadded=>3)

primitive type gnnmg_precision <: Enumeration 32 end
choices(::Type{gnnmg_precision}) = (:float32=>0, :tf32=>1, :bf16=>2)

primitive type gnnmg_trainer_state <: Enumeration 32 end
choices(::Type{gnnmg_trainer_state}) = (:idle=>0, :running=>1, :stopping=>2, :finished=>3,
    :failed=>4)

primitive type gnnmg_record <: Enumeration 32 end
choices(::Type{gnnmg_record}) = (:json_lines=>1, :tensorboard=>2)

primitive type gnnmg_output <: Enumeration 32 end
choices(::Type{gnnmg_output}) = (:logits=>0, :probabilities=>1, :classes=>2, :embeddings=>3)
