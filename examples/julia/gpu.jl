# GPUs: lists them, trains on all of them, and runs a pass on the first. Without a GPU it prints the
# reason and does the same on the CPU.
include("common.jl")

context = open_context()
# [devices]
for (i, gpu) in enumerate(devices(context))
    @printf("GPU %d: %s (%s), %.1f of %.1f GiB free, %d multiprocessors, capability %d.%d\n", i - 1,
            gpu.name, gpu.bus_id, gpu.free_memory / 2^30, gpu.total_memory / 2^30,
            gpu.multiprocessors, gpu.capability_major, gpu.capability_minor)
end
isempty(why_no_device(context)) || println("no GPU: ", why_no_device(context))
# [devices]

graph, data = planted_data(context, 5000)
sampler = Sampler(graph)
model = small_model(context, data)
trainer = Trainer(model, data, sampler;
                  num_ranks = 0, # one per GPU, or one on the CPU
                  num_epochs = 5, batch_size = 256,
                  batches_per_step = 8,         # the same steps on up to 8 GPUs
                  graph_placement = :device,    # a copy on each GPU
                  feature_placement = :cached,  # hot rows on it, the rest pinned
                  cache_bytes = 64 << 20)
train!(trainer) do epoch
    @printf("epoch %d  validation accuracy %.4f\n", epoch.epoch + 1, epoch.validation.accuracy)
end
@printf("test accuracy %.4f\n", evaluate(trainer, :test).accuracy)
close(trainer) # works on the model's device

# The model's result for the first mini-batch, made on the first GPU, printed here.
on = isempty(devices(context)) ? :cpu : :cuda
set_device!(model, on)
batch = next!(Loader(data, sampler; device = on, shuffle = false))
scores = host(context, infer(model, batch))
println("scores ", join([@sprintf("%.2f", score) for score in scores[1, :]], " "))
