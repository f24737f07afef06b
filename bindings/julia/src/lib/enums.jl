# Written by generate.py from gnnmg.h and settings.json; changes here are lost.

const HEADER_VERSION = v"0.2.0"

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

primitive type gnnmg_dtype <: Enumeration 32 end
choices(::Type{gnnmg_dtype}) = (:f32=>0, :f64=>1, :f16=>2, :bf16=>3, :i64=>4, :i32=>5, :u8=>6,
    :bool=>7)

primitive type gnnmg_transform <: Enumeration 32 end
choices(::Type{gnnmg_transform}) = (:add_reverse_edges=>0, :to_undirected=>1, :coalesce=>2,
    :remove_self_loops=>3, :add_self_loops=>4, :add_remaining_self_loops=>5, :remove_edges=>6,
    :reverse_edges=>7)

primitive type gnnmg_task <: Enumeration 32 end
choices(::Type{gnnmg_task}) = (:none=>0, :multiclass=>1, :binary=>2, :regression=>3)

primitive type gnnmg_part <: Enumeration 32 end
choices(::Type{gnnmg_part}) = (:train=>0, :validation=>1, :test=>2)

primitive type gnnmg_parts_method <: Enumeration 32 end
choices(::Type{gnnmg_parts_method}) = (:cluster=>0, :metis=>1, :range=>2, :hash=>3)

primitive type gnnmg_draw <: Enumeration 32 end
choices(::Type{gnnmg_draw}) = (:uniform=>0, :labor=>1, :labor_once=>2)

primitive type gnnmg_plan <: Enumeration 32 end
choices(::Type{gnnmg_plan}) = (:global=>0, :distributed_sampler=>1, :contiguous=>2, :parts=>3)

primitive type gnnmg_architecture <: Enumeration 32 end
choices(::Type{gnnmg_architecture}) = (:sage=>0, :gcn=>1, :gat=>2, :gatv2=>3, :gin=>4, :gine=>5,
    :rgcn=>6, :transformer=>7, :pna=>8, :graphconv=>9, :layers=>10, :edge=>11)

primitive type gnnmg_framework <: Enumeration 32 end
choices(::Type{gnnmg_framework}) = (:pyg=>0, :dgl=>1)

primitive type gnnmg_aggregation <: Enumeration 32 end
choices(::Type{gnnmg_aggregation}) = (:default=>0, :mean=>1, :max=>2, :sum=>3, :pool=>4,
    :lstm=>5, :gcn=>6)

primitive type gnnmg_activation <: Enumeration 32 end
choices(::Type{gnnmg_activation}) = (:relu=>0, :none=>1, :elu=>2, :leaky_relu=>3, :gelu=>4,
    :tanh=>5, :prelu=>6, :silu=>7, :sigmoid=>8)

primitive type gnnmg_norm <: Enumeration 32 end
choices(::Type{gnnmg_norm}) = (:none=>0, :batch=>1, :layer=>2, :layer_graph=>3, :graph=>4,
    :instance=>5, :pair=>6, :pair_rows=>7)

primitive type gnnmg_readout <: Enumeration 32 end
choices(::Type{gnnmg_readout}) = (:none=>0, :sum=>1, :mean=>2, :max=>3, :attention=>4,
    :set2set=>5, :sort=>6)

primitive type gnnmg_loss <: Enumeration 32 end
choices(::Type{gnnmg_loss}) = (:auto=>0, :cross_entropy=>1, :binary_cross_entropy=>2,
    :mean_squared_error=>3, :mean_absolute_error=>4, :huber=>5, :focal=>6)

primitive type gnnmg_optimizer_kind <: Enumeration 32 end
choices(::Type{gnnmg_optimizer_kind}) = (:adam=>0, :adamw=>1, :sgd=>2, :rmsprop=>3, :adagrad=>4)

primitive type gnnmg_reduce <: Enumeration 32 end
choices(::Type{gnnmg_reduce}) = (:sum=>0, :mean=>1, :min=>2, :max=>3)

primitive type gnnmg_parts_reading <: Enumeration 32 end
choices(::Type{gnnmg_parts_reading}) = (:auto=>0, :shared=>1, :asked=>2)

primitive type gnnmg_trainer_state <: Enumeration 32 end
choices(::Type{gnnmg_trainer_state}) = (:idle=>0, :running=>1, :stopping=>2, :finished=>3,
    :failed=>4)

primitive type gnnmg_record <: Enumeration 32 end
choices(::Type{gnnmg_record}) = (:json_lines=>1, :tensorboard=>2)

primitive type gnnmg_output <: Enumeration 32 end
choices(::Type{gnnmg_output}) = (:logits=>0, :probabilities=>1, :classes=>2, :embeddings=>3)
